"""What the parts of the bench share: the warehouse, the peers that are here, and the runs that all of them hold."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Literal

from apps.runs.pure import SampledNode
from bench import recording, remote_write, results
from bench.peers import Peer, Span
from bench.results import Figure
from bench.rounds import Compared
from bench.warehouse import Warehouse

HOUR = 3600
# A block of Prometheus begins at a multiple of two hours; a set of samples lies within one.
FIRST = datetime(2026, 9, 1, tzinfo=UTC)


def span(number: int, *, seconds: int) -> Span:
    """The stretch of time of a set of samples; later sets lie later, beyond what settling the set before put there.

    All runs of a set lie in the same stretch, so that a peer can answer for all of them in one query.
    """
    start = int(FIRST.timestamp()) + number * 24 * HOUR + 60
    return Span(start, start + seconds)


@dataclass
class Bench:
    warehouse: Warehouse
    peers: dict[str, Peer]
    absent: dict[str, str]  # peer -> why it is not here
    say: Callable[[str], None]
    figures: list[Figure] = field(default_factory=list)
    data: dict[str, str | int | float] = field(default_factory=dict)

    @cached_property
    def today(self) -> str:
        return datetime.now(UTC).date().isoformat()

    def report(
        self,
        *,
        key: str,
        part: str,
        title: str,
        peer: str,
        unit: str,
        better: Literal["lower", "higher"],
        found: Compared | None,
        limit: float | None = None,
        limit_ours: float | None = None,
    ) -> None:
        """Notes a figure; `found` None: the peer is absent."""
        if found is None:
            figure = Figure(
                key=key, part=part, title=title, peer=peer, unit=unit, better=better, measured_on=self.today,
                limit=limit, limit_ours=limit_ours, skipped=self.absent[peer],
            )  # fmt: skip
        else:
            figure = results.figure(
                key=key, part=part, title=title, peer=peer, unit=unit, better=better, measured_on=self.today,
                found=found, limit=limit, limit_ours=limit_ours,
            )  # fmt: skip
        self.figures.append(figure)
        self.say(results.sentence(figure))


@dataclass(frozen=True)
class Prepared:
    """One run as both sides get it: an agent's batches, and its series for remote-write requests."""

    nodes: list[SampledNode]
    batches: list[bytes]
    parts: list[remote_write.Series]
    samples: int


def prepared(run: str, *, span: Span, nodes: Sequence[SampledNode], batch_seconds: int) -> Prepared:
    """`run`: its label with the peers; what is sent to us names it by the way only."""
    return Prepared(
        nodes=list(nodes),
        batches=list(recording.batches(run, nodes, seconds=batch_seconds)),
        parts=list(recording.series(run, nodes, start=span.start)),
        samples=recording.samples_in(nodes),
    )


# How a peer's requests are made: as small as they can be, or as Prometheus and vmagent themselves make them.
BY_SERIES, BY_SAMPLE = "an entry a series", "an entry a sample"


def requests(
    parts: Sequence[remote_write.Series],
    *,
    seconds: int,
    form: str = BY_SERIES,
    between: tuple[int, int] | None = None,
) -> Iterator[bytes]:
    """Remote-write requests, each with so many seconds of all series; `between`: from which sample to before which."""
    first, end = between or (0, max(len(part.at) for part in parts))
    for start in range(first, end, seconds):
        stop = min(start + seconds, end)
        each = [(start, stop)] if form == BY_SERIES else [(second, second + 1) for second in range(start, stop)]
        yield remote_write.write_request(part.between(*one) for one in each for part in parts)
