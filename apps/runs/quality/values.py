"""What the rules of quality look at, and what they find. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.core.units import NBSP, format_number

Floats = NDArray[np.float64]
PASSED, FAILED, CANNOT_TELL = "passed", "failed", "cannot_tell"
AGENT = "agent"  # role of each agent's own node, and the name of that beside the load generator
QUESTIONS = "mysql.status.Questions"


@dataclass(frozen=True)
class RuleFinding:
    """What a rule says of a run. `evidence`: a sentence with the numbers it rests on; `detail` holds them."""

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
    """Of one series over the measured phase; of a counter, of its rate per second. None: not observed."""

    mean: float | None
    p95: float | None = None


@dataclass(frozen=True)
class QualityNode:
    """A node of the run. `clock`: its samples, s on the run's clock. `apart`: no load generator is on its host.
    `bandwidth`: of its network by the hardware class, bits/s; None: not stated."""

    name: str
    role: str
    clock: Floats
    stats: Mapping[str, Stat] = field(default_factory=dict)
    apart: bool = False
    bandwidth: float | None = None

    def mean(self, key: str) -> float | None:
        found = self.stats.get(key)
        return found.mean if found else None

    def interfaces(self) -> list[str]:
        """Names of the network interfaces that were sampled, the loopback apart."""
        names = {key.split(".")[2] for key in self.stats if key.startswith("host.net.")}
        return sorted(names - {"lo"})


@dataclass(frozen=True)
class ThroughputSeconds:
    """Throughput as the tool printed it: the value of each interval, which ended at `at`, s on the run's clock."""

    name: str
    unit: str
    at: Floats
    values: Floats


@dataclass(frozen=True)
class ToolError:
    """An error that the tool told of, `count` times."""

    text: str
    count: int


@dataclass(frozen=True)
class ToolCheck:
    """Something that the tool itself checked."""

    label: str
    held: bool


@dataclass(frozen=True)
class Siblings:
    """What runs of the same system, workload, load level and conditions measured of the workload's primary metric,
    and what this one did."""

    name: str
    unit: str
    own: float
    others: Floats


@dataclass(frozen=True)
class QualityFacts:
    """All that is known of a run, as far as a rule asks for it. `measured`: its phase, s on the run's clock; None: not
    known. `unsteady`, `faults`, `has_database`: as its workload is declared."""

    tool: str
    measured: tuple[float, float] | None
    headlines: Mapping[str, float] = field(default_factory=dict)
    nodes: tuple[QualityNode, ...] = ()
    seconds: ThroughputSeconds | None = None
    complaints: tuple[ToolError, ...] = ()
    claims: tuple[ToolCheck, ...] = ()
    siblings: Siblings | None = None
    unsteady: str = ""
    faults: bool = False
    has_database: bool = True

    @property
    def length(self) -> float | None:
        """Of the measured phase, s."""
        if self.measured is None:
            return self.headlines.get("client.elapsed")
        return self.measured[1] - self.measured[0]

    @property
    def servers(self) -> list[QualityNode]:
        """Database nodes whose counters were sampled."""
        return [node for node in self.nodes if node.mean(QUESTIONS) is not None]


def percent(share: float) -> str:
    return f"{format_number(100 * share, 2)}{NBSP}%"


def limit(share: float) -> str:
    """A limit as it is set: with all its digits and no more."""
    return f"{100 * share:g} %"


def plain(value: float, unit: str = "") -> str:
    text = format_number(value, unit=unit)
    return f"{text}{NBSP}{unit}" if unit else text


def listed(parts: list[str]) -> str:
    """ "a, b and c"."""
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)
