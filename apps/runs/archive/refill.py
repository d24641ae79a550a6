"""Samples from the archive's Parquet back into blocks: compressed again in the same order, they give the same bytes."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from django.core.files.storage import Storage

from apps.runs.archive import samples, store
from apps.runs.archive.manifest import Manifest
from apps.runs.archive.troubles import Damaged
from apps.runs.models import Block, Run, Series
from apps.runs.storage import codec
from apps.runs.storage.blocks import BlockWriter

ROWS_AT_ONCE = 1000


@dataclass(frozen=True)
class BlockPlace:
    """Byte range of a series in its node's block; `base`: that of the codec."""

    base: int
    offset: int
    length: int


@dataclass
class Filled:
    """A run's blocks by node, and the places of series in them by node and metric."""

    writers: dict[int, BlockWriter] = field(default_factory=lambda: defaultdict(BlockWriter))
    places: dict[tuple[int, str], BlockPlace] = field(default_factory=dict)

    def blocks(self, run: Run) -> list[Block]:
        made = {node: bytes(writer.data) for node, writer in self.writers.items()}
        return [Block(run=run, node=node, size=len(data), data=data) for node, data in made.items()]


def filled(local: BinaryIO) -> Filled:
    """Blocks from a Parquet file of series."""
    found = Filled()
    for node, key, column in samples.series_of(local):
        if column is None:
            found.places[node, key] = BlockPlace(0, 0, 0)
            continue
        encoded = codec.encode(column)
        offset = found.writers[node].place(encoded.data)
        found.places[node, key] = BlockPlace(encoded.base, offset, len(encoded.data))
    return found


def refill(storage: Storage, manifest: Manifest, run: Run) -> None:
    """Restores the samples of a moved run. Raises Damaged, StoreUnreachable; call it in a transaction."""
    table = manifest.table("series")
    if table is None:
        return
    with store.verified(storage, table.stored()) as local:
        found = filled(local)
    rows = {(row.node, row.metric.key): row for row in Series.objects.filter(run=run).select_related("metric")}
    if rows.keys() != found.places.keys():
        raise Damaged(f"{table.path} of the archive has other series than run {run.pk}: restore the run from a backup")
    Series.objects.bulk_update(_relocated(rows, found.places), ["base", "offset", "length"], batch_size=ROWS_AT_ONCE)
    for block in found.blocks(run):
        Block.objects.filter(run=run, node=block.node).update(data=block.data, size=block.size)


def _relocated(rows: Mapping[tuple[int, str], Series], places: Mapping[tuple[int, str], BlockPlace]) -> list[Series]:
    """Series whose place changed, updated; empty while the codec is the one that wrote the run."""
    moved = []
    for where, place in places.items():
        row = rows[where]
        if BlockPlace(row.base, row.offset, row.length) != place:
            row.base, row.offset, row.length = place.base, place.offset, place.length
            moved.append(row)
    return moved
