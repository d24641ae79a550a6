"""Loading a dump, by the program of the same name."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from workers.agent.programs.data_load import PROFILE
from workers.agent.programs.dump import CREATE
from workers.agent.programs.report import secrets_of
from workers.agent.runtime.config import SystemConfig
from workers.agent.samplers.process import server_pid
from workers.agent.tools import DataSet, Invocation, Target
from workers.agent.tools.program import ProgramTool
from workers.protocol.wire import LoadLevelMessage
from workers.protocol.workloads import data_load

LONGEST = 24 * 3600.0  # s


class DataLoad(ProgramTool):
    spec = data_load.SPEC
    module = "workers.agent.programs.data_load"

    def data_set(self, parameters: Mapping[str, Any]) -> DataSet:
        self.chosen(parameters)
        return DataSet(tuple(reversed(CREATE)), None)  # in drop order

    def secrets(self, system: SystemConfig, schema: str) -> str:
        is_here = any(node.local for node in system.nodes)
        return secrets_of(system, schema, pid=server_pid(system, system.address) if is_here else None)

    def run(
        self,
        target: Target,
        parameters: Mapping[str, Any],
        *,
        load_level: LoadLevelMessage,
        warmup: float,
        duration: float,
    ) -> Invocation:
        """A dump is loaded from its first byte: no warm-up."""
        del warmup
        found = super().run(target, parameters, load_level=load_level, warmup=0, duration=duration)
        return replace(found, timeout=LONGEST, open_ended=True)

    def extras(self, output: Path) -> list[Path]:
        profile = output.with_name(PROFILE)
        return [profile] if profile.exists() else []
