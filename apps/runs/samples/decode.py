"""Decodes the batches of a run in bounded memory."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from apps.runs.samples import batches
from apps.runs.samples.columns import SampledNode, events_of, offset_of
from apps.runs.samples.compress import NodeGatherer
from workers.protocol import wire

# Values decoded before they are compressed: 32 MB.
VALUES_AT_ONCE = 4 * 1024 * 1024


@dataclass(frozen=True)
class DecodedSamples:
    """Decoded samples of agents; `offset`: the load tool's second 0 on the run's clock, None: not known."""

    nodes: list[SampledNode] = field(default_factory=list)
    events: list[wire.EventMessage] = field(default_factory=list)
    offset: float | None = None


def decoded(payloads: Iterable[bytes]) -> DecodedSamples:
    """Decodes the batches of one stream in order. Raises BadBatch."""
    decoder = batches.Decoder()
    gatherers: dict[str, NodeGatherer] = {}
    for payload in payloads:
        decoder.feed(payload)
        if decoder.weight >= VALUES_AT_ONCE:
            _gather_nodes(gatherers, decoder.take())
    nodes = decoder.take()
    # A run below the limit stays uncompressed.
    if gatherers:
        _gather_nodes(gatherers, nodes)
        nodes = [gatherer.finish() for gatherer in gatherers.values()]
    return DecodedSamples(
        nodes=nodes,
        events=events_of(decoder.events),
        offset=offset_of(decoder.output),
    )


def _gather_nodes(gatherers: dict[str, NodeGatherer], nodes: Iterable[SampledNode]) -> None:
    for node in nodes:
        gatherers.setdefault(node.name, NodeGatherer(node.name)).add(node)
