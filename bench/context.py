"""What the parts of the bench share: the warehouse, the peers that are here, and the runs that all of them hold."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Literal

from apps.runs.sampled import SampledNode
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

    def tell(
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
    """One run as both sides get it: an agent's batches, and remote-write requests."""

    nodes: list[SampledNode]
    batches: list[bytes]
    requests: list[bytes]
    samples: int


def prepared(
    run: str, *, span: Span, nodes: Sequence[SampledNode], batch_seconds: int, request_seconds: int
) -> Prepared:
    """`run`: its label with the peers; what is sent to us names it by the way only."""
    return Prepared(
        nodes=list(nodes),
        batches=list(recording.batches(run, nodes, seconds=batch_seconds)),
        requests=list(requests(recording.series(run, nodes, start=span.start), seconds=request_seconds)),
        samples=recording.samples_in(nodes),
    )


def requests(parts: Sequence[remote_write.Series], *, seconds: int) -> Iterator[bytes]:
    """Remote-write requests, each with so many seconds of all series."""
    for start in range(0, max(len(part.at) for part in parts), seconds):
        yield remote_write.write_request(part.between(start, start + seconds) for part in parts)
