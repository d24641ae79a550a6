"""Inputs and results of the rules. Pure: arrays and words.

Source of the method: Gregg, "Thinking Methodically about Performance", ACM Queue 10(12), 2012.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from apps.core.answers import Hidden, Rounded, Words

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
        """Higher is worse; "not observable" ranks lowest."""
        return SEVERITY[self]

    @property
    def word(self) -> str:
        return self.value.replace("_", " ")


SEVERITY = {UseLevel.NOT_OBSERVABLE: 0, UseLevel.OK: 1, UseLevel.WATCH: 2, UseLevel.SATURATED: 3, UseLevel.ERROR: 4}


@dataclass(frozen=True)
class MetricSamples:
    """One metric on one node in the measured phase: `values` at `at` (s on the run's clock, rising); NaN: not observed.
    Counters are rates, 1/s, each over the time since the previous observed sample. `resets`: times at which the counter
    fell. `alone`: s that the value stands for where it is the only one. `since`: starts of the intervals that values
    cover, which end at `at`; None: values of instants."""

    at: Floats
    values: Floats
    resets: tuple[float, ...] = ()
    alone: float = 1.0
    since: Floats | None = None

    def inside(self, phase: Span) -> NDArray[np.bool_]:
        """Which values belong to the phase: of an interval, those whose middle is inside, as in a run's statistics."""
        start, end = phase
        if self.since is None:
            return (self.at >= start) & (self.at <= end)
        middles = (self.since + self.at) / 2
        return (middles >= start) & (middles < end)

    def cut(self, kept: NDArray[np.bool_]) -> "MetricSamples":
        since = None if self.since is None else self.since[kept]
        return replace(self, at=self.at[kept], values=self.values[kept], since=since)


@dataclass(frozen=True)
class NotObservable:
    """Quantity that a sampler could not observe on a node, the reason, and the remedy."""

    what: str
    reason: str
    remedy: str = ""


@dataclass(frozen=True)
class NodeFacts:
    """A node of a run. `series` by metric key: those used by the rules and sampled, derived ones included. `variables`:
    as reported by the server. `hardware_*`: as stated by its class; None: not stated. `silent`: spans without an answer
    to the sampler."""

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
        """Series by the part of their key between `prefix` and `suffix`, such as the name of a disk."""
        end = len(suffix)
        return {
            key[len(prefix) : len(key) - end]: samples
            for key, samples in self.series.items()
            if key.startswith(prefix) and key.endswith(suffix) and len(key) > len(prefix) + end
        }


@dataclass(frozen=True)
class ServerError:
    """An error reported by the load tool, `count` times around `at` (s); `code`: the server's number."""

    code: int | None
    text: str
    count: int
    at: float | None = None


@dataclass(frozen=True)
class Moment:
    """An event of the run for rules: a fault, a statement, a change of a node's state."""

    kind: str
    label: str
    starts_at: float
    ends_at: float | None = None
    node: str = ""
    detail: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class RunFacts:
    """Facts of a run used by rules. `measured`: its phase, s on the run's clock; the series are cut to it. `nodes`:
    those of the system under test, including its proxy; `client`: the load generator with the series sampled on its
    machine; `platform`: slug in the catalog; `aws`: "cluster", "instance" or empty. `throughput`: the workload's
    primary metric, mean of the phase, as reported by the tool; `headlines`: all values of the tool, by key."""

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
    """Result of a rule on a node. `value`: shown in the cell, in the indicator's unit; `peak`: its maximum. `words`:
    the evidence, a clause without full stop; `spans`: when the limit was exceeded; `metric`: key of the series linked
    as evidence. Level NOT_OBSERVABLE: `words` is the reason, and there is no value."""

    level: UseLevel
    value: float | None
    words: str
    metric: str = ""
    peak: float | None = None
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Reading:
    """Stored result of one indicator on one node of a run."""

    indicator: Annotated[str, "key in GET use-method/"]
    node: str
    level: UseLevel
    value: Annotated[Rounded | None, "null: not observable, for the reason in `words`"]
    words: Annotated[Words, "the evidence, or why nothing was observed"]
    metric: Annotated[str, "key of the series with the evidence; empty: none"] = ""
    peak: Hidden[float | None] = None
    spans: Hidden[tuple[Span, ...]] = ()


@dataclass(frozen=True)
class Panel:
    """Results of all indicators of a run. `nodes`: (name, role) in order."""

    measured: Span | None
    nodes: tuple[tuple[str, str], ...]
    readings: tuple[Reading, ...]

    @cached_property
    def _by_indicator(self) -> dict[str, list[Reading]]:
        found = defaultdict[str, list[Reading]](list)
        for reading in self.readings:
            found[reading.indicator].append(reading)
        return dict(found)

    def of(self, indicator: str) -> Sequence[Reading]:
        return self._by_indicator.get(indicator, ())
