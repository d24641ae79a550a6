"""Shared by the parts of the bench: the warehouse, the installed peers, and the runs that all of them have."""

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
# A block of Prometheus begins at a multiple of two hours; all samples of a set lie within one.
FIRST = datetime(2026, 9, 1, tzinfo=UTC)


def span(number: int, *, seconds: int) -> Span:
    """Time span of a set of samples; later sets lie later, beyond the samples that settling the previous set added.

    All runs of a set have the same span, so that a peer can return all of them in one query.
    """
    start = int(FIRST.timestamp()) + number * 24 * HOUR + 60
    return Span(start, start + seconds)


@dataclass
class Bench:
    warehouse: Warehouse
    peers: dict[str, Peer]
    absent: dict[str, str]  # peer -> why it is missing
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
        """Adds a figure; `found` None: the peer is missing."""
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
    """One run in both forms: an agent's batches, and series for remote-write requests."""

    nodes: list[SampledNode]
    batches: list[bytes]
    parts: list[remote_write.Series]
    samples: int


def prepared(run: str, *, span: Span, nodes: Sequence[SampledNode], batch_seconds: int) -> Prepared:
    """`run`: its label in the peers; our own batches do not contain it."""
    return Prepared(
        nodes=list(nodes),
        batches=list(recording.batches(run, nodes, seconds=batch_seconds)),
        parts=list(recording.series(run, nodes, start=span.start)),
        samples=recording.samples_in(nodes),
    )


# Forms of a peer's requests: as compact as possible, or as Prometheus and vmagent make them.
BY_SERIES, BY_SAMPLE = "an entry a series", "an entry a sample"


def requests(
    parts: Sequence[remote_write.Series],
    *,
    seconds: int,
    form: str = BY_SERIES,
    between: tuple[int, int] | None = None,
) -> Iterator[bytes]:
    """Remote-write requests, each with `seconds` of all series; `between`: first sample, and end (exclusive)."""
    first, end = between or (0, max(len(part.at) for part in parts))
    for start in range(first, end, seconds):
        stop = min(start + seconds, end)
        each = [(start, stop)] if form == BY_SERIES else [(second, second + 1) for second in range(start, stop)]
        yield remote_write.write_request(part.between(*one) for one in each for part in parts)
