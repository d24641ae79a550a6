"""Sampled nodes of live and sealed runs.

Batches are read before sealed series: the seal replaces the former by the latter in one transaction, so a reader gets
either the live tail or the complete sealed series.
"""

import logging
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from apps.core import binary_cursor
from apps.runs import archive, tool_output
from apps.runs.samples import batches, columns
from apps.runs.samples.columns import SampledNode
from apps.runs.storage import blocks
from workers.protocol.wire import BadBatch, EventMessage

log = logging.getLogger(__name__)

# Batches of the agent that drives the run, as stream 0, and of its samplers.
_BATCHES = """
SELECT run_id, 0, sequence, payload FROM runs_batch WHERE run_id = ANY(%(runs)s)
UNION ALL
SELECT s.run_id, s.number, b.sequence, b.payload FROM runs_streambatch b JOIN runs_stream s ON s.id = b.stream_id
WHERE s.run_id = ANY(%(runs)s)
ORDER BY 1, 2, 3
"""


@dataclass(frozen=True)
class SampledNodes:
    """`nodes` by run, in their order; `problems`: run -> why its samples are unavailable."""

    nodes: dict[int, list[SampledNode]]
    problems: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Tail:
    """Received data of a run that is not sealed: its nodes, including the load generator, and its events."""

    nodes: list[SampledNode] = field(default_factory=list)
    events: list[EventMessage] = field(default_factory=list)


def live(run_ids: Sequence[int]) -> dict[int, list[SampledNode]]:
    """The nodes of `tails`. One query."""
    return {run_id: tail.nodes for run_id, tail in tails(run_ids).items()}


def tails(run_ids: Sequence[int]) -> dict[int, Tail]:
    """Received data of the runs that are not sealed, up to the first missing batch. One query."""
    payloads: dict[int, dict[int, list[bytes]]] = defaultdict(lambda: defaultdict(list))
    for run_id, stream, sequence, payload in binary_cursor.fetch(_BATCHES, {"runs": list(run_ids)}, prepare=True):
        if sequence == len(payloads[run_id][stream]):
            payloads[run_id][stream].append(payload)
    found = {}
    for run_id, arrived in payloads.items():
        parts = [_tail(run_id, each) for each in arrived.values()]
        found[run_id] = Tail(
            nodes=columns.joined(node for part in parts for node in part.nodes),
            events=[event for part in parts for event in part.events],
        )
    return found


def sealed(run_ids: Sequence[int], keys: Collection[str], names: Collection[str] | None) -> SampledNodes:
    """The series `keys` of the sealed runs among `run_ids`; samples moved to the archive are fetched. Two queries if
    none were moved."""
    problems: dict[int, str] = {}
    tried: set[int] = set()
    while left := [run_id for run_id in run_ids if run_id not in problems]:
        try:
            return SampledNodes(blocks.read(left, keys, names), problems)
        except blocks.Moved as moved:
            # Each run is fetched once; a run still without samples has none.
            problems |= {
                pk: f"the samples of run {pk} are neither here nor in the archive" for pk in moved.run_ids & tried
            }
            problems |= {pk: text for pk in moved.run_ids - tried if (text := _fetch(pk))}
            tried |= moved.run_ids
    return SampledNodes({}, problems)


def _fetch(run_id: int) -> str:
    """Fetches a run's samples; returns why it failed, or empty."""
    try:
        archive.fetch([run_id])
    except archive.ArchiveTrouble as error:
        log.error("the samples of run %s could not be fetched: %s", run_id, error)
        return f"the samples of run {run_id} are in the archive and could not be fetched: {error}"
    return ""


def _tail(run_id: int, payloads: Sequence[bytes]) -> Tail:
    try:
        decoded = batches.decode(payloads)
    except BadBatch as error:
        # The seal will report it and keep the batches; until then, there is nothing to show.
        log.warning("run %s has a batch that cannot be read: %s", run_id, error)
        return Tail()
    parsed = tool_output.live("\n".join(line for _, line in decoded.output) + "\n")
    offset = columns.offset_of(decoded.output) or 0.0
    client = columns.client_of(parsed.intervals, offset=offset)
    printed = [tool_output.moved(event, offset) for event in parsed.events]
    return Tail(columns.joined([*([client] if client else []), *decoded.nodes]), [*printed, *decoded.events])
