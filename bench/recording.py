"""The data of the bench: a recording of two database servers under load, and runs made from it by shuffling its time.

Such a run has the recording's series and increments in another order, in stretches and the same for all series of a
node: equal series stay equal, correlated ones stay correlated, and no sample is invented.
"""

import gzip
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from apps.catalog.pure import counter_rules
from apps.runs.pure import Column, SampledNode, decode
from bench import remote_write
from workers.protocol import wire

# 1,800 s of two MariaDB servers: SHOW GLOBAL STATUS and /proc of their machine each second, as one batch of the wire
# format. One server had reads and writes, the other writes only, both at a fixed rate.
FILE = Path(__file__).parent / "data" / "recording.gz"
STRETCH = (20, 90)  # s, shortest and longest


@cache
def recorded() -> list[SampledNode]:
    return sorted(decode([FILE.read_bytes()]).nodes, key=lambda node: node.name)


def a_run(number: int, *, nodes: int = 2, keys: Sequence[str] | None = None) -> list[SampledNode]:
    """Run `number`, deterministic; `keys`: only these series."""
    random = np.random.default_rng(number)
    return [shuffled(only(node, keys), random) for node in recorded()[:nodes]]


def only(node: SampledNode, keys: Sequence[str] | None) -> SampledNode:
    if keys is None:
        return node
    return SampledNode(
        name=node.name,
        role=node.role,
        clock=node.clock,
        changing={key: column for key, column in node.changing.items() if key in keys},
        constants={key: value for key, value in node.constants.items() if key in keys},
    )


def shuffled(node: SampledNode, random: np.random.Generator) -> SampledNode:
    order = _order(len(node.clock), random)
    clock = np.concatenate([node.clock[:1], node.clock[0] + np.cumsum(np.diff(node.clock)[order[1:] - 1])])
    changing = {key: _column(key, column, order) for key, column in node.changing.items()}
    return SampledNode(name=node.name, role=node.role, clock=clock, changing=changing, constants=node.constants)


def _order(length: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Index of each sample in the recording: the first, then whole stretches of the others, some repeated."""
    parts, total = [np.zeros(1, np.int64)], 1
    while total < length:
        start = int(random.integers(1, length - STRETCH[1]))
        parts.append(np.arange(start, start + int(random.integers(*STRETCH))))
        total += len(parts[-1])
    return np.concatenate(parts)[:length]


def _column(key: str, column: Column, order: NDArray[np.int64]) -> Column:
    """Increments in the new order for a counter, values for a gauge."""
    values = column.values
    if counter_rules.describe(key).kind == "counter" and column.observed.all():
        steps = np.diff(values, prepend=values[:1])
        steps[0] = values[0]
        return Column(values=np.cumsum(steps[order], dtype=values.dtype), observed=column.observed[order])
    return Column(values=values[order], observed=column.observed[order])


def batches(uid: str, nodes: Sequence[SampledNode], *, seconds: int) -> Iterator[bytes]:
    """An agent's batches of the run, of `seconds` each."""
    encoder = wire.BatchEncoder(run=uid)
    length = max(len(node.clock) for node in nodes)
    rows = [_rows(node) for node in nodes]
    for start in range(0, length, seconds):
        for node, (keys, values) in zip(nodes, rows, strict=True):
            for at in range(start, min(start + seconds, len(node.clock))):
                sample = dict(zip(keys, values[at], strict=True))
                encoder.add_sample(node=node.name, role=node.role, t=float(node.clock[at]), values=sample)
        yield encoder.flush()[1]


def _rows(node: SampledNode) -> tuple[list[str], list[tuple[wire.Number, ...]]]:
    keys, columns = [], []
    for key, column in columns_of(node):
        keys.append(key)
        seen = column.observed.tolist()
        columns.append([v if o else None for v, o in zip(column.values.tolist(), seen, strict=True)])
    return keys, list(zip(*columns, strict=True))


def columns_of(node: SampledNode) -> Iterator[tuple[str, Column]]:
    """Every series of the node, changing or constant."""
    for key in (*node.changing, *node.constants):
        column = node.column(key)
        if column is not None:
            yield key, column


def series(run: str, nodes: Sequence[SampledNode], *, start: int) -> list[remote_write.Series]:
    """The same samples for the peers; `start`: start of the run, s since 1970."""
    found = []
    for node in nodes:
        columns = dict(columns_of(node))
        labels = [{"__name__": remote_write.name_of(key), "node": node.name, "run": run} for key in columns]
        found.append(
            remote_write.Series(
                labels=[remote_write.labels_of(one) for one in labels],
                at=start * 1000 + np.round(node.clock * 1000).astype(np.int64),
                values=np.array([column.values for column in columns.values()], dtype=np.float64),
                observed=np.array([column.observed for column in columns.values()]),
            )
        )
    return found


def samples_in(nodes: Sequence[SampledNode]) -> int:
    """Number of observed values."""
    return sum(int(column.observed.sum()) for node in nodes for _, column in columns_of(node))


def pack(folder: Path, target: Path = FILE) -> None:
    """Create the recording from an agent's batches, in the order of their names."""
    nodes = decode(path.read_bytes() for path in sorted(folder.glob("*.gz"))).nodes
    uid = "00000000-0000-0000-0000-000000000001"
    (payload,) = batches(uid, nodes, seconds=max(len(node.clock) for node in nodes))
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(gzip.compress(gzip.decompress(payload), compresslevel=9, mtime=0))
