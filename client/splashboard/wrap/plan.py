"""What a call of `splashboard run` asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from splashboard.wrap.target import LoadedServer


@dataclass(frozen=True)
class SystemOptions:
    """Options about the system; None: not given. `cpus` and `memory` (GiB) are of the machine that `hardware` names."""

    system: str | None
    platform: str | None
    server_version: str | None
    hardware: str | None
    cpus: int | None
    memory: float | None
    variant: str | None


@dataclass(frozen=True)
class BenchmarkPlan:
    """What was asked for. `levels`: threads, [None] where the command decides. `samples`: whether servers that may be
    asked without `target` are sampled. `timeout`: s, for each answer of Splashboard; None: not stated."""

    argv: Sequence[str]
    levels: Sequence[int | None]
    repeat: int
    warmup: float
    system: SystemOptions
    target: LoadedServer | None
    format: str | None
    workload: str | None
    parameters: Mapping[str, Any]
    result: str
    session: str | None
    tags: Sequence[str]
    baseline: str | None
    tolerance: float
    samples: bool
    timeout: float | None

    @property
    def passwords(self) -> list[str]:
        """Those that neither leave this machine nor are stored."""
        return [self.target.password] if self.target is not None and self.target.password else []
