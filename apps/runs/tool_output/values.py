"""What the output of any load tool comes down to. Times are s on the tool's own clock: 0 is when its load began."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from apps.runs.samples.histograms import HistogramCounts
from apps.runs.storage.codec import Number
from workers.protocol.wire import EventMessage

LATENCY = "client.latency"


@dataclass(frozen=True)
class Headline:
    """A value and the bytes of the output from which it was read."""

    metric: str
    value: float
    byte_start: int
    byte_end: int


@dataclass(frozen=True)
class ReadDistribution:
    """A histogram over [`starts_at`, `ends_at`) s, and the bytes from which it was read."""

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
    """`parser` and `version` read it. `intervals`: end of an interval -> metric -> its value, of which it is the rate
    or the state. `measured`: what the totals cover, or what the intervals do when it broke off; None: nothing.
    `complete`: the totals are there. `fatal`: the tool's own words of why it ended, or empty. `failures`: claims that
    its own checks did not find to hold.
    """

    parser: str
    version: str
    tool_version: str = ""
    complete: bool = False
    fatal: str = ""
    failures: tuple[str, ...] = ()
    headlines: tuple[Headline, ...] = ()
    intervals: Mapping[float, Mapping[str, Number]] = field(default_factory=dict)
    measured: tuple[float, float] | None = None
    distributions: tuple[ReadDistribution, ...] = ()
    events: tuple[EventMessage, ...] = ()
    unparsed: tuple[str, ...] = ()

    def metrics(self) -> list[str]:
        """Of headline values and distributions."""
        return [*(line.metric for line in self.headlines), *(read.metric for read in self.distributions)]


def moved(event: EventMessage, offset: float) -> EventMessage:
    """`event` on a clock whose zero lies `offset` s before the tool's."""
    ends_at = None if event.ends_at is None else event.ends_at + offset
    return EventMessage(
        kind=event.kind,
        label=event.label,
        starts_at=event.starts_at + offset,
        ends_at=ends_at,
        node=event.node,
        detail=event.detail,
    )
