"""Sealed series in the database: written once with their statistics, read many at a time.

A node's changing series are compressed into one block; rows of Series hold their offsets, so that PostgreSQL reads
only the requested bytes of a block.
"""

import json
import logging
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from django.db import connection

from apps.catalog.models import Metric
from apps.core import binary_cursor
from apps.runs.models import Block, Run, RunNode, Series
from apps.runs.samples import statistics as samples_statistics
from apps.runs.samples.columns import CLIENT, SampledNode
from apps.runs.samples.compress import EncodedColumns
from apps.runs.samples.matrices import SeriesRows
from apps.runs.samples.rates import WHOLE_RUN, Phase, SeriesStatistics
from apps.runs.storage import codec
from apps.runs.storage.codec import Number

log = logging.getLogger(__name__)

STATISTICS = SeriesStatistics._fields
# Base, offset and length of a derived metric, whose samples are not stored.
NOWHERE = (0, 0, 0)
_WHOLE = {"count", "resets"}
# Column -> type in COPY.
_COLUMNS = {
    **{"run_id": "int8", "metric_id": "int8", "node": "int2", "base": "int8", "offset": "int4", "length": "int4"},
    **{f"{phase}{name}": "int4" if name in _WHOLE else "float8" for phase in ("", "whole_") for name in STATISTICS},
}
_PLACES = 'SELECT metric_id, node, base, "offset", length FROM runs_series WHERE run_id = %s'
_WRITE_BLOCK = "INSERT INTO runs_block (run_id, node, size, data) VALUES (%s, %s, %s, %b)"
_SLICES = """
SELECT s.run_id, s.node, m.key, s.base, b.run_id IS NOT NULL AND b.data IS NULL,
  substring(b.data FROM s."offset" + 1 FOR s.length)
FROM runs_series s
JOIN catalog_metric m ON m.id = s.metric_id
LEFT JOIN runs_block b ON b.run_id = s.run_id AND b.node = s.node
WHERE s.run_id = ANY(%s) AND m.key = ANY(%s) AND s.length > 0
"""
_NODES = """
SELECT n.run_id, n.number, n.name, n.role, n.samples, n.clock
FROM runs_runnode n
JOIN runs_run r ON r.id = n.run_id
WHERE n.run_id = ANY(%s) AND r.state = 'sealed'
ORDER BY n.run_id, n.number
"""
# A node's constants are many and stored in one compressed value: decompressed once ("|| '{}'"), and only the requested
# ones are sent.
_CONSTANTS = """
SELECT n.run_id, n.number,
  (SELECT jsonb_object_agg(key, held.constants -> key) FROM unnest(%s::text[]) key WHERE held.constants ? key)
FROM runs_runnode n
CROSS JOIN LATERAL (SELECT n.constants || '{}'::jsonb AS constants OFFSET 0) held
WHERE n.run_id = ANY(%s)
"""


class StoredDifferently(Exception):
    """Stored data differ from the written data: the seal is rolled back and the batches stay."""


class DamagedSeries(Exception):
    """Stored samples cannot be read; the message names run, node and metric."""


class Moved(Exception):
    """The samples of `run_ids` are only in the archive."""

    def __init__(self, run_ids: Collection[int]) -> None:
        super().__init__(f"the samples of {', '.join(f'run {pk}' for pk in sorted(run_ids))} are in the archive")
        self.run_ids = frozenset(run_ids)


# ---------------------------------------------------------------- writing


@dataclass
class BlockWriter:
    """Concatenates compressed series; equal ones share an offset."""

    data: bytearray = field(default_factory=bytearray)
    places: dict[bytes, int] = field(default_factory=dict)

    def place(self, block: bytes) -> int:
        if block not in self.places:
            self.places[block] = len(self.data)
            self.data += block
        return self.places[block]


def write(
    *, run: Run, nodes: Sequence[SampledNode], metrics: Mapping[str, Metric], phase: Phase, compare: bool = True
) -> None:
    """Writes series, blocks, clocks and constants of a run that has none yet. Of derived metrics, only statistics are
    stored. `metrics`: of all changing keys, derived ones included. `compare`: reads all back, since samples that are
    nowhere else are deleted next.

    Raises StoredDifferently; call it in a transaction.
    """
    numbers = _write_nodes(run, nodes)
    written: dict[int, bytes] = {}
    rows: list[tuple[object, ...]] = []
    for node in nodes:
        number, writer = numbers[node.name], BlockWriter()
        # Sorted, so that equal samples give equal blocks.
        places = {key: _place(node, key, writer) for key in sorted(node.changing)}
        for key, statistics in samples_statistics.of_node(node, metrics, (phase, WHOLE_RUN)):
            rows.append((run.pk, metrics[key].pk, number, *places.get(key, NOWHERE), *chain.from_iterable(statistics)))
        if writer.data:
            written[number] = bytes(writer.data)
    with binary_cursor.cursor() as cursor:
        for number, data in written.items():
            cursor.execute(_WRITE_BLOCK, (run.pk, number, len(data), data))
    _copy(rows)
    if compare:
        _compare(run, nodes, written, rows)


def _place(node: SampledNode, key: str, writer: BlockWriter) -> tuple[int, int, int]:
    """Base, offset and length of a changing series."""
    changing = node.changing
    encoded = changing.encoded[key] if isinstance(changing, EncodedColumns) else codec.encode(changing[key])
    return encoded.base, writer.place(encoded.data), len(encoded.data)


def _write_nodes(run: Run, nodes: Sequence[SampledNode]) -> dict[str, int]:
    """Updates the rows of announced nodes and adds the others; returns name -> number."""
    known = {row.name: row for row in RunNode.objects.filter(run=run)}
    free = max((row.number for row in known.values()), default=0) + 1
    for node in nodes:
        row = known.get(node.name)
        if row is None:
            number = 0 if node.name == CLIENT else free
            free += number > 0
            row = known[node.name] = RunNode(run=run, number=number, name=node.name)
        row.role = row.role or node.role
        row.samples = len(node.clock)
        row.clock = codec.encode_floats(node.clock)
        row.constants = dict(node.constants)
    sampled = [known[node.name] for node in nodes]
    RunNode.objects.bulk_create(
        sampled,
        update_conflicts=True,
        unique_fields=["run", "number"],
        update_fields=["role", "samples", "clock", "constants"],
    )
    return {name: row.number for name, row in known.items()}


def _copy(rows: Sequence[tuple[object, ...]]) -> None:
    """Inserts rows by COPY: a run has a thousand series, and single inserts would dominate the seal."""
    columns = ", ".join(f'"{name}"' for name in _COLUMNS)
    copying = f"COPY runs_series ({columns}) FROM STDIN (FORMAT BINARY)"
    with connection.cursor() as cursor, cursor.copy(copying) as copy:
        copy.set_types(list(_COLUMNS.values()))
        for row in rows:
            copy.write_row(row)


def _compare(
    run: Run, nodes: Sequence[SampledNode], written: Mapping[int, bytes], rows: Sequence[tuple[object, ...]]
) -> None:
    """Reads back the rows and compares them; the codec has already verified the compressed samples."""
    stored = {row.name: row for row in RunNode.objects.filter(run=run)}
    for node in nodes:
        row = stored[node.name]
        if not np.array_equal(codec.decode_floats(row.clock), node.clock) or row.constants != node.constants:
            raise StoredDifferently(f"clock or constants of node {node.name} of run {run.pk}")
    blocks = dict(binary_cursor.fetch("SELECT node, data FROM runs_block WHERE run_id = %s", [run.pk]))
    if blocks != written:
        raise StoredDifferently(f"blocks of run {run.pk}")
    places = binary_cursor.fetch(_PLACES, [run.pk])
    if set(places) != {row[1:6] for row in rows}:
        raise StoredDifferently(f"places of the series of run {run.pk}")


# ---------------------------------------------------------------- reading


def read(
    run_ids: Sequence[int], keys: Collection[str] | None = None, names: Collection[str] | None = None
) -> dict[int, list[SampledNode]]:
    """Nodes of the sealed runs among `run_ids`, by number, with their series. `keys`: metrics, None: all; `names`:
    of nodes, None: all. At most three queries.

    Unreadable series are logged and listed in their node's `damaged`. Raises Moved.
    """
    rows: list[_NodeRow] = binary_cursor.fetch(_NODES, [list(run_ids)], prepare=True)
    if names is not None:
        rows = [row for row in rows if row[2] in names]
    places = {row[:2] for row in rows}
    found = list({run_id for run_id, *_ in rows})
    slices = _all_slices(found) if keys is None else _slices(found, keys)
    moved = {run_id for run_id, number, _, _, gone, _ in slices if gone and (run_id, number) in places}
    if moved:
        raise Moved(moved)
    stored: dict[tuple[int, int], dict[str, tuple[bytes, int]]] = {place: {} for place in places}
    for run_id, number, key, base, _, data in slices:
        if (run_id, number) in stored:
            stored[run_id, number][key] = data or b"", base
    held = sum(map(len, stored.values()))
    constants = _constants(found, keys, complete=held == len(rows) * len(keys or ()) > 0)
    nodes: dict[int, list[SampledNode]] = defaultdict(list)
    for row in rows:
        place = row[:2]
        nodes[row[0]].append(_node(row, stored[place], constants.get(place, {})))
    return nodes


def require_whole(nodes: Sequence[SampledNode]) -> None:
    """Raises DamagedSeries."""
    problems = [text for node in nodes for text in node.damaged.values()]
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise DamagedSeries(problems[0] + more)


_NodeRow = tuple[int, int, str, str, int, bytes]
_Slice = tuple[int, int, str, int, bool, bytes | None]
_Constants = dict[tuple[int, int], dict[str, Number]]


def _node(row: _NodeRow, stored: dict[str, tuple[bytes, int]], constants: dict[str, Number]) -> SampledNode:
    run_id, _, name, role, samples, clock = row
    try:
        times = codec.decode_floats(clock) if samples else np.zeros(0)
    except codec.BadBlock as error:
        # Without the clock, no sample of the node has a time.
        text = _damage(run_id, name, "clock", error)
        damaged = dict.fromkeys({**stored, **constants}, text)
        return SampledNode(name=name, role=role, clock=np.zeros(0), damaged=damaged)
    changing = SeriesRows(stored, len(times))
    damaged = {key: _damage(run_id, name, key, error) for key, error in changing.damaged.items()}
    return SampledNode(name=name, role=role, clock=times, changing=changing, constants=constants, damaged=damaged)


def _damage(run_id: int, node: str, key: str, error: object) -> str:
    text = (
        f"the stored samples of {key} on {node} in run {run_id} are damaged ({error}): replace them from the archive "
        f"with manage.py fetch_runs {run_id}"
    )
    log.error("%s", text)
    return text


def _constants(run_ids: Sequence[int], keys: Collection[str] | None, *, complete: bool) -> _Constants:
    """(run, node) -> constants among `keys`; `complete`: all requested series changed, so there are none."""
    if complete or not run_ids:
        return {}
    if keys is None:
        rows = RunNode.objects.filter(run_id__in=run_ids).values_list("run_id", "number", "constants")
        return {(run_id, number): constants for run_id, number, constants in rows}
    with connection.cursor() as cursor:
        cursor.execute(_CONSTANTS, [list(keys), list(run_ids)])
        return {row[:2]: json.loads(row[2]) for row in cursor.fetchall() if row[2]}


def _slices(run_ids: Sequence[int], keys: Collection[str]) -> list[_Slice]:
    return binary_cursor.fetch(_SLICES, [list(run_ids), list(keys)], prepare=True)


def _all_slices(run_ids: Sequence[int]) -> list[_Slice]:
    """Slices of all series, cut here from whole blocks."""
    blocks = {
        (run_id, node): data
        for run_id, node, data in Block.objects.filter(run_id__in=run_ids).values_list("run_id", "node", "data")
    }
    places = Series.objects.filter(run_id__in=run_ids, length__gt=0).order_by("run_id", "node", "metric_id")
    found: list[_Slice] = []
    for run_id, node, key, base, offset, length in places.values_list(
        "run_id", "node", "metric__key", "base", "offset", "length"
    ):
        data = blocks.get((run_id, node), b"")
        block = None if data is None else bytes(data[offset : offset + length])
        found.append((run_id, node, key, base, data is None, block))
    return found
