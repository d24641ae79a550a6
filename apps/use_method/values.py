"""What the rules look at and what they say. Pure: arrays and words.

Source of the method: Gregg, "Thinking Methodically about Performance", ACM Queue 10(12), 2012.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Span = tuple[float, float]  # from, to: s on the run's clock


class Aspect(StrEnum):
    UTILIZATION = "utilization"
    SATURATION = "saturation"
    ERRORS = "errors"


class UseLevel(StrEnum):
    OK = "ok"
    WATCH = "watch"
    SATURATED = "saturated"
    ERROR = "error"
    NOT_OBSERVABLE = "not_observable"

    @property
    def severity(self) -> int:
        """The greater the worse; what nobody could see is no trouble that somebody saw."""
        return SEVERITY[self]

    @property
    def word(self) -> str:
        return self.value.replace("_", " ")


SEVERITY = {UseLevel.NOT_OBSERVABLE: 0, UseLevel.OK: 1, UseLevel.WATCH: 2, UseLevel.SATURATED: 3, UseLevel.ERROR: 4}


@dataclass(frozen=True)
class MetricSamples:
    """One metric on one node in the measured phase: `values` at `at` (s on the run's clock, rising); NaN: not observed.
    A counter's are its rates per second, each over the time since the sample before. `resets`: when it fell."""

    at: Floats
    values: Floats
    resets: tuple[float, ...] = ()


@dataclass(frozen=True)
class NotObservable:
    """What a sampler could not see on a node, why, and what would help."""

    what: str
    reason: str
    remedy: str = ""


@dataclass(frozen=True)
class NodeFacts:
    """A node of a run. `series` by metric key: those that the rules ask for and that were sampled, derived ones too.
    `variables`: the server's, as it told them. `hardware_*` as its class states; None: not stated. `answers`: spans in
    which its server did not answer the sampler."""

    name: str
    role: str
    series: Mapping[str, MetricSamples] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    hidden: tuple[NotObservable, ...] = ()
    silent: tuple[Span, ...] = ()
    hardware_class: str = ""
    hardware_vcpu: int | None = None
    hardware_memory: int | None = None  # bytes
    hardware_network: float | None = None  # bits/s
    hardware_iops: int | None = None
    apart: bool = False

    def matching(self, prefix: str, suffix: str = "") -> dict[str, MetricSamples]:
        """Series by the part of their key that a family puts between the two, as the name of a disk."""
        end = len(suffix)
        return {
            key[len(prefix) : len(key) - end]: samples
            for key, samples in self.series.items()
            if key.startswith(prefix) and key.endswith(suffix) and len(key) > len(prefix) + end
        }


@dataclass(frozen=True)
class ServerError:
    """An error that the load tool told of, `count` times around `at` (s); `code` as the server numbers it."""

    code: int | None
    text: str
    count: int
    at: float | None = None


@dataclass(frozen=True)
class Moment:
    """An event of the run that a rule may look at: a fault, a statement, a change of a node's state."""

    kind: str
    label: str
    starts_at: float
    ends_at: float | None = None
    node: str = ""
    detail: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class RunFacts:
    """All that is known of a run, as far as a rule asks. `measured`: its phase, s on the run's clock; the series are
    cut to it. `nodes`: those of the system under test, its proxy among them; `client`: the load generator with what was
    sampled beside it; `platform`: slug, as the catalog has it; `aws`: "cluster", "instance" or empty. `throughput`:
    the workload's primary metric, mean of the phase, as the tool told it; `headlines`: all that it told, by key."""

    tool: str
    platform: str
    measured: Span | None
    nodes: tuple[NodeFacts, ...]
    client: NodeFacts | None = None
    threads: int = 1
    rate: float | None = None
    aws: str = ""
    complaints: tuple[ServerError, ...] = ()
    events: tuple[Moment, ...] = ()
    throughput: float | None = None
    headlines: Mapping[str, float] = field(default_factory=dict)

    @property
    def seconds(self) -> float | None:
        """Length of the measured phase."""
        return None if self.measured is None else self.measured[1] - self.measured[0]


@dataclass(frozen=True)
class RuleResult:
    """What a rule found on a node. `value`: what the cell shows, in the indicator's unit; `peak`: the highest of it.
    `words`: the evidence, a clause without full stop; `spans`: when it was beyond its limit; `metric`: key of the
    series that a reader opens to see it. Level NOT_OBSERVABLE: `words` says why, and there is no value."""

    level: UseLevel
    value: float | None
    words: str
    metric: str = ""
    peak: float | None = None
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Reading:
    """What one indicator says of one node of a run, as it is kept."""

    indicator: str
    node: str
    level: UseLevel
    value: float | None
    words: str
    metric: str = ""
    peak: float | None = None
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Panel:
    """What all indicators say of a run. `nodes`: (name, role) in their order."""

    measured: Span | None
    nodes: tuple[tuple[str, str], ...]
    readings: tuple[Reading, ...]

    def of(self, indicator: str) -> Sequence[Reading]:
        return [reading for reading in self.readings if reading.indicator == indicator]
