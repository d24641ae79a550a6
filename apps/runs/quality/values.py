"""Input and output of the quality rules. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.core.units import NBSP, format_number

Floats = NDArray[np.float64]
PASSED, FAILED, CANNOT_TELL = "passed", "failed", "cannot_tell"
AGENT = "agent"  # role of agents' own nodes, and name of the one on the load generator's host
QUESTIONS = "mysql.status.Questions"
COMMITTED = "postgresql.database.xact_commit"


@dataclass(frozen=True)
class RuleFinding:
    """A rule's result for a run. `evidence`: a sentence with the numbers that decide; `detail`: these numbers."""

    status: str
    evidence: str
    detail: Mapping[str, Any] = field(default_factory=dict)


def passed(evidence: str, **detail: Any) -> RuleFinding:
    return RuleFinding(PASSED, evidence, detail)


def failed(evidence: str, **detail: Any) -> RuleFinding:
    return RuleFinding(FAILED, evidence, detail)


def cannot_tell(evidence: str, **detail: Any) -> RuleFinding:
    return RuleFinding(CANNOT_TELL, evidence, detail)


@dataclass(frozen=True)
class Stat:
    """A series over the measured phase; for a counter, its rate per second. None: not observed."""

    mean: float | None
    p95: float | None = None


@dataclass(frozen=True)
class QualityNode:
    """A node of the run. `clock`: sample times, s on the run's clock. `apart`: its host runs no load generator; `host`:
    the same for nodes of one machine. `bandwidth`: network bandwidth of its class, bits/s; None: not stated."""

    name: str
    role: str
    clock: Floats
    stats: Mapping[str, Stat] = field(default_factory=dict)
    apart: bool = False
    host: str = ""
    bandwidth: float | None = None

    def mean(self, key: str) -> float | None:
        found = self.stats.get(key)
        return found.mean if found else None

    def interfaces(self) -> list[str]:
        """Names of the sampled network interfaces, without the loopback."""
        names = {key.split(".")[2] for key in self.stats if key.startswith("host.net.")}
        return sorted(names - {"lo"})


@dataclass(frozen=True)
class ThroughputSeconds:
    """Throughput printed by the tool: values of intervals that ended at `at`, s on the run's clock."""

    name: str
    unit: str
    at: Floats
    values: Floats


@dataclass(frozen=True)
class ToolError:
    """An error that the tool reported `count` times."""

    text: str
    count: int


@dataclass(frozen=True)
class ToolCheck:
    """A check made by the tool itself."""

    label: str
    held: bool


@dataclass(frozen=True)
class Siblings:
    """The workload's primary metric in other runs of the same system, workload, load level and conditions, and in this
    run (`own`)."""

    name: str
    unit: str
    own: float
    others: Floats


@dataclass(frozen=True)
class QualityFacts:
    """Facts of a run that the rules need. `measured`: the measured phase, s on the run's clock; None: not known.
    `unsteady`, `faults`, `has_database`: from the workload's declaration; `rate`: asked for, transactions/s.
    `contradictions`: what the tool cannot have printed. `neighbours`: CPUs that other programs kept busy on the load
    generator's host, by name; None: not reported."""

    tool: str
    measured: tuple[float, float] | None
    headlines: Mapping[str, float] = field(default_factory=dict)
    nodes: tuple[QualityNode, ...] = ()
    seconds: ThroughputSeconds | None = None
    complaints: tuple[ToolError, ...] = ()
    claims: tuple[ToolCheck, ...] = ()
    contradictions: tuple[str, ...] = ()
    siblings: Siblings | None = None
    unsteady: str = ""
    faults: bool = False
    rate: float | None = None
    threads: int | None = None
    neighbours: Mapping[str, float] | None = None
    has_database: bool = True

    @property
    def length(self) -> float | None:
        """Length of the measured phase, s."""
        if self.measured is None:
            return self.headlines.get("client.elapsed")
        return self.measured[1] - self.measured[0]

    @property
    def servers(self) -> list[QualityNode]:
        """Nodes of MySQL's family whose counters were sampled."""
        return [node for node in self.nodes if node.mean(QUESTIONS) is not None]


def percent(share: float) -> str:
    return f"{format_number(100 * share, 2)}{NBSP}%"


def limit(share: float) -> str:
    """A limit in percent, unrounded."""
    return f"{100 * share:g} %"


def plain(value: float, unit: str = "") -> str:
    text = format_number(value, unit=unit)
    return f"{text}{NBSP}{unit}" if unit else text


def listed(parts: list[str]) -> str:
    """ "a, b and c"."""
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)
