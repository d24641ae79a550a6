"""Sampled nodes of live and sealed runs.

Batches are read before sealed series: the seal replaces the former by the latter in one transaction, so a reader gets
either the live tail or the complete sealed series.
"""

import logging
import threading
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from apps.core import binary_cursor
from apps.runs import archive, tool_output
from apps.runs.samples import batches, columns
from apps.runs.samples.columns import SampledNode
from apps.runs.storage import blocks
from workers.protocol.wire import BadBatch, EventMessage

log = logging.getLogger(__name__)

# Batches of the agent that drives the run, as stream 0, and of its samplers. Of those decoded before, the last one
# without its payload: it tells that they are still there.
_BATCHES = """
SELECT b.run_id, b.stream, b.sequence, b.checksum, CASE WHEN known.count IS NULL OR b.sequence >= known.count
  THEN b.payload END
FROM (
  SELECT run_id, 0 AS stream, sequence, checksum, payload FROM runs_batch WHERE run_id = ANY(%(runs)s)
  UNION ALL
  SELECT s.run_id, s.number, b.sequence, b.checksum, b.payload FROM runs_streambatch b
  JOIN runs_stream s ON s.id = b.stream_id WHERE s.run_id = ANY(%(runs)s)
) b
LEFT JOIN unnest(%(of_runs)s::bigint[], %(streams)s::int[], %(counts)s::int[]) AS known (run_id, stream, count)
  ON known.run_id = b.run_id AND known.stream = b.stream
WHERE known.count IS NULL OR b.sequence >= known.count - 1
ORDER BY 1, 2, 3
"""
KEPT_VALUES = 4_000_000  # decoded ones of live runs, at about 18 bytes
KEPT_RUNS = 200  # what never changed has no such values


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


@dataclass
class _DecodedStream:
    """What was decoded of the first `count` batches of a stream. `checksum`: of the last one."""

    decoder: batches.Decoder = field(default_factory=batches.Decoder)
    count: int = 0
    checksum: str = ""
    tail: Tail = field(default_factory=Tail)

    def add(self, arrived: Sequence[tuple[int, str, bytes]]) -> None:
        """Raises BadBatch."""
        for sequence, checksum, payload in arrived:
            if sequence == self.count:
                self.decoder.feed(payload)
                self.count, self.checksum = sequence + 1, checksum
        self.tail = _tail(self.decoder.so_far())


class _Decoded:
    """Streams of the live runs that were looked at last, by run and number: a batch is decoded once, not for every
    chart of every reader. Whoever adds to them has them alone."""

    def __init__(self) -> None:
        self._runs: dict[int, dict[int, _DecodedStream]] = {}
        self._lock = threading.Lock()

    def take(self, run_ids: Sequence[int]) -> dict[int, dict[int, _DecodedStream]]:
        with self._lock:
            return {run_id: streams for run_id in run_ids if (streams := self._runs.pop(run_id, None))}

    def keep(self, found: Mapping[int, dict[int, _DecodedStream]]) -> None:
        with self._lock:
            self._runs |= found
            weights = {run_id: _weight(streams) for run_id, streams in self._runs.items()}
            total = sum(weights.values())
            for run_id, weight in weights.items():
                if total <= KEPT_VALUES and len(self._runs) <= KEPT_RUNS:
                    break
                del self._runs[run_id]
                total -= weight


_decoded = _Decoded()


def tails(run_ids: Sequence[int]) -> dict[int, Tail]:
    """Received data of the runs that are not sealed, up to the first missing batch. One query, and one more after
    batches were replaced."""
    known = _decoded.take(run_ids)
    streams = _renewed(run_ids, known)
    if streams is None:
        streams = _renewed(run_ids, {}) or {}
    found = {}
    for run_id, own in streams.items():
        parts = [stream.tail for stream in own.values()]
        found[run_id] = Tail(
            nodes=columns.joined(node for part in parts for node in part.nodes),
            events=[event for part in parts for event in part.events],
        )
    _decoded.keep({run_id: own for run_id, own in streams.items() if all(stream.count for stream in own.values())})
    return found


def _renewed(
    run_ids: Sequence[int], known: Mapping[int, Mapping[int, _DecodedStream]]
) -> dict[int, dict[int, _DecodedStream]] | None:
    """`known` streams and new ones, with all batches that are there. None: they do not begin with the known ones."""
    of_stream = [(run_id, number, stream.count) for run_id, own in known.items() for number, stream in own.items()]
    of_runs, numbers, counts = zip(*of_stream, strict=True) if of_stream else ((), (), ())
    asked = {"runs": list(run_ids), "of_runs": list(of_runs), "streams": list(numbers), "counts": list(counts)}
    arrived: dict[int, dict[int, list[tuple[int, str, bytes | None]]]] = defaultdict(lambda: defaultdict(list))
    for run_id, number, *batch in binary_cursor.fetch(_BATCHES, asked, prepare=True):
        arrived[run_id][number].append(tuple(batch))
    found: dict[int, dict[int, _DecodedStream]] = {}
    for run_id, own in arrived.items():
        for number, rows in own.items():
            stream = known.get(run_id, {}).get(number)
            if stream and rows[0][:2] != (stream.count - 1, stream.checksum):
                return None
            found.setdefault(run_id, {})[number] = _added(run_id, stream or _DecodedStream(), rows)
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


def _added(run_id: int, stream: _DecodedStream, rows: Sequence[tuple[int, str, bytes | None]]) -> _DecodedStream:
    arrived = [(sequence, checksum, payload) for sequence, checksum, payload in rows if payload is not None]
    if not arrived:
        return stream
    try:
        stream.add(arrived)
    except BadBatch as error:
        # The seal will report it and keep the batches; until then, there is nothing to show.
        log.warning("run %s has a batch that cannot be read: %s", run_id, error)
        return _DecodedStream()
    return stream


def _weight(streams: Mapping[int, _DecodedStream]) -> int:
    return sum(stream.decoder.weight for stream in streams.values())


def _tail(decoded: batches.Decoded) -> Tail:
    parsed = tool_output.live("\n".join(line for _, line in decoded.output) + "\n")
    offset = columns.offset_of(decoded.output) or 0.0
    client = columns.client_of(parsed.intervals, offset=offset)
    printed = [tool_output.moved(event, offset) for event in parsed.events]
    return Tail(columns.joined([*([client] if client else []), *decoded.nodes]), [*printed, *decoded.events])
