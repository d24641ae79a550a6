"""Common form of all load tools' output. Times are s on the tool's own clock: 0 is the start of its load."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from apps.catalog.pure import MetricSpec
from apps.runs.samples.histograms import HistogramCounts
from apps.runs.storage.codec import Number
from workers.protocol.wire import EventMessage

LATENCY = "client.latency"


@dataclass(frozen=True)
class Headline:
    """A value and the bytes of the output it was read from."""

    metric: str
    value: float
    byte_start: int
    byte_end: int


@dataclass(frozen=True)
class ReadDistribution:
    """A histogram over [`starts_at`, `ends_at`) s, and the bytes it was read from."""

    metric: str
    starts_at: float
    ends_at: float
    distribution: HistogramCounts
    byte_start: int
    byte_end: int

    def moved(self, offset: float) -> "ReadDistribution":
        return replace(self, starts_at=self.starts_at + offset, ends_at=self.ends_at + offset)


@dataclass(frozen=True)
class Output:
    """An output parsed by `version` of `parser`. `intervals`: end of interval -> metric -> rate or gauge value. `tail`:
    rates of the last interval, if it is whole.
    `measured`: time covered by the totals, or by the intervals of a truncated output; None: neither. `complete`: has
    totals. `fatal`: the tool's message about its early end, or empty. `failures`: labels of the tool's own checks that
    failed. `described`: metrics whose unit and direction the sender stated.
    """

    parser: str
    version: str
    tool_version: str = ""
    complete: bool = False
    fatal: str = ""
    failures: tuple[str, ...] = ()
    headlines: tuple[Headline, ...] = ()
    intervals: Mapping[float, Mapping[str, Number]] = field(default_factory=dict)
    tail: Mapping[str, Number] = field(default_factory=dict)
    measured: tuple[float, float] | None = None
    distributions: tuple[ReadDistribution, ...] = ()
    events: tuple[EventMessage, ...] = ()
    unparsed: tuple[str, ...] = ()
    described: tuple[MetricSpec, ...] = ()

    def metrics(self) -> list[str]:
        """Metrics of headline values and distributions."""
        return [*(line.metric for line in self.headlines), *(read.metric for read in self.distributions)]


def moved(event: EventMessage, offset: float) -> EventMessage:
    """`event` on a clock that started `offset` s before the tool's."""
    ends_at = None if event.ends_at is None else event.ends_at + offset
    return EventMessage(
        kind=event.kind,
        label=event.label,
        starts_at=event.starts_at + offset,
        ends_at=ends_at,
        node=event.node,
        detail=event.detail,
    )
