"""Decodes the batches of a run in bounded memory."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from apps.runs.samples import batches
from apps.runs.samples.columns import SampledNode, events_of, offset_of
from apps.runs.samples.compress import NodeGatherer
from workers.protocol import wire

# Values decoded before they are compressed: 32 MB.
VALUES_AT_ONCE = 4 * 1024 * 1024
# Each costs decoding the others once more.
MOST_UNREAD = 4


@dataclass(frozen=True)
class UnreadBatch:
    """`after`: s on the run's clock, of the last sample before it."""

    sequence: int
    reason: str
    after: float


@dataclass(frozen=True)
class DecodedSamples:
    """Decoded samples of agents; `offset`: the load tool's second 0 on the run's clock, None: not known.

    `unread`: batches that are left out; `left_out`: events beyond the limit, of which an event is a remark.
    """

    nodes: list[SampledNode] = field(default_factory=list)
    events: list[wire.EventMessage] = field(default_factory=list)
    offset: float | None = None
    unread: list[UnreadBatch] = field(default_factory=list)
    left_out: int = 0


class _Unreadable(wire.BadBatch):
    def __init__(self, batch: UnreadBatch) -> None:
        super().__init__(batch.reason)
        self.batch = batch


def decoded(numbered: Callable[[], Iterable[tuple[int, bytes]]]) -> DecodedSamples:
    """Decodes the batches of one stream, each with its sequence, in order, without the unreadable ones.

    Raises BadBatch when all or over MOST_UNREAD are unreadable, or their values fit no series.
    """
    unread: list[UnreadBatch] = []
    while True:
        try:
            found = _decoded(numbered(), {batch.sequence for batch in unread})
        except _Unreadable as error:
            unread.append(error.batch)
            if len(unread) > MOST_UNREAD:
                raise
            continue
        if unread and not found.nodes:
            raise wire.BadBatch(unread[0].reason)
        return replace(found, unread=unread)


def _decoded(numbered: Iterable[tuple[int, bytes]], without: set[int]) -> DecodedSamples:
    decoder = batches.Decoder()
    gatherers: dict[str, NodeGatherer] = {}
    for sequence, payload in numbered:
        if sequence in without:
            continue
        after = decoder.last_time
        try:
            decoder.feed(payload)
        except wire.BadBatch as error:
            raise _Unreadable(UnreadBatch(sequence, str(error), after)) from error
        if decoder.weight >= VALUES_AT_ONCE:
            _gather_nodes(gatherers, decoder.take())
    nodes = decoder.take()
    # A run below the limit stays uncompressed.
    if gatherers:
        _gather_nodes(gatherers, nodes)
        nodes = [gatherer.finish() for gatherer in gatherers.values()]
    events = events_of(decoder.events)
    return DecodedSamples(
        nodes=nodes,
        events=events,
        offset=_stated(events, offset_of(decoder.output)),
        left_out=decoder.left_out,
    )


def _stated(events: Iterable[wire.EventMessage], otherwise: float | None) -> float | None:
    """The tool's second 0 as the agent states it once the load has ended."""
    stated = [event.starts_at for event in events if event.kind == "load" and event.detail.get("is_zero")]
    return stated[0] if stated else otherwise


def _gather_nodes(gatherers: dict[str, NodeGatherer], nodes: Iterable[SampledNode]) -> None:
    for node in nodes:
        gatherers.setdefault(node.name, NodeGatherer(node.name)).add(node)
