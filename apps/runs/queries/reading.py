"""Sampled nodes of live and sealed runs alike.

The batches are read before the sealed series: sealing takes the ones away in the transaction that brings the others,
so a reader sees the live tail or the sealed series, never half of one.
"""

import logging
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from apps.runs import archive, batches, binary, blocks, outputs, sampled
from apps.runs.sampled import SampledNode
from workers.wire import BadBatch

log = logging.getLogger(__name__)

# Of the agent that drives the run, stream 0, and of those that sample nodes of it.
_BATCHES = """
SELECT run_id, 0, sequence, payload FROM runs_batch WHERE run_id = ANY(%(runs)s)
UNION ALL
SELECT s.run_id, s.number, b.sequence, b.payload FROM runs_streambatch b JOIN runs_stream s ON s.id = b.stream_id
WHERE s.run_id = ANY(%(runs)s)
ORDER BY 1, 2, 3
"""


@dataclass(frozen=True)
class Sampled:
    """`nodes` by run, in their order; `problems`: why the samples of a run cannot be had."""

    nodes: dict[int, list[SampledNode]]
    problems: dict[int, str] = field(default_factory=dict)


def live(run_ids: Sequence[int]) -> dict[int, list[SampledNode]]:
    """What has arrived of the runs that are not sealed, up to the first batch that is missing. One query."""
    payloads: dict[int, dict[int, list[bytes]]] = defaultdict(lambda: defaultdict(list))
    for run_id, stream, sequence, payload in binary.fetch(_BATCHES, {"runs": list(run_ids)}, prepare=True):
        if sequence == len(payloads[run_id][stream]):
            payloads[run_id][stream].append(payload)
    return {
        run_id: sampled.joined(node for each in arrived.values() for node in _tail(run_id, each))
        for run_id, arrived in payloads.items()
    }


def sealed(run_ids: Sequence[int], keys: Collection[str], names: Collection[str] | None) -> Sampled:
    """The series `keys` of the sealed runs among `run_ids`; samples that were moved to the archive are fetched. Two
    queries when none was."""
    problems: dict[int, str] = {}
    tried: set[int] = set()
    while left := [run_id for run_id in run_ids if run_id not in problems]:
        try:
            return Sampled(blocks.read(left, keys, names), problems)
        except blocks.Moved as moved:
            # Each is fetched once; who still has none then has none.
            problems |= {
                pk: f"the samples of run {pk} are neither here nor in the archive" for pk in moved.run_ids & tried
            }
            problems |= {pk: text for pk in moved.run_ids - tried if (text := _fetch(pk))}
            tried |= moved.run_ids
    return Sampled({}, problems)


def _fetch(run_id: int) -> str:
    """Why it failed; empty: it did not."""
    try:
        archive.fetch([run_id])
    except archive.ArchiveTrouble as error:
        log.error("the samples of run %s could not be fetched: %s", run_id, error)
        return f"the samples of run {run_id} are in the archive and could not be fetched: {error}"
    return ""


def _tail(run_id: int, payloads: Sequence[bytes]) -> list[SampledNode]:
    try:
        decoded = batches.decode(payloads)
    except BadBatch as error:
        # The seal will say so of the run and keep the batches; until then there is nothing to show.
        log.warning("run %s has a batch that cannot be read: %s", run_id, error)
        return []
    printed = "\n".join(line for _, line in decoded.output) + "\n"
    client = sampled.client_of(outputs.live(printed).intervals, offset=sampled.offset_of(decoded.output) or 0.0)
    return sampled.joined([*([client] if client else []), *decoded.nodes])
