"""Lossless conversion of series' samples to Arrow list columns and back. Pure."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from apps.runs.archive.tables import DECIMALS, INTEGERS, LARGE, SCHEMAS
from apps.runs.storage.codec import Column

COLUMN_OF = {np.dtype(np.int64): INTEGERS, np.dtype(np.uint64): LARGE, np.dtype(np.float64): DECIMALS}
TYPES = {name: dtype for dtype, name in COLUMN_OF.items()}


def list_columns(columns: list[Column | None]) -> dict[str, pa.Array]:
    """One list column per type of number. A series' samples are in the column of its type; the others are null, and
    all are null for None. A missing sample is null within its list."""
    return {name: _lists(name, columns) for name in COLUMN_OF.values()}


def _lists(name: str, columns: list[Column | None]) -> pa.Array:
    kind = SCHEMAS["series"].field(name).type
    ours = [column if column is not None and COLUMN_OF[column.values.dtype] == name else None for column in columns]
    present = [column for column in ours if column is not None]
    offsets = np.cumsum([0, *(0 if column is None else len(column) for column in ours)], dtype=np.int32)
    values = np.concatenate([column.values for column in present]) if present else np.zeros(0, TYPES[name])
    unseen = ~np.concatenate([column.observed for column in present]) if present else np.zeros(0, np.bool_)
    flat: pa.Array = (
        pa.array(
            [None if gone else Decimal(value) for value, gone in zip(values.tolist(), unseen.tolist(), strict=True)],
            type=kind.value_type,
        )
        if name == LARGE
        else pa.array(values, type=kind.value_type, mask=unseen)
    )
    absent = pa.array([column is None for column in ours], type=pa.bool_())
    return pa.ListArray.from_arrays(pa.array(offsets), flat, type=kind, mask=absent)


def column_of(batch: pa.RecordBatch, row: int) -> Column | None:
    """The samples of a row of the table of series; None: a derived metric."""
    for name, dtype in TYPES.items():
        cell = batch.column(name)[row]
        if cell.is_valid:
            return _column(cell.values, dtype)
    return None


def _column(samples: pa.Array, dtype: "np.dtype[Any]") -> Column:
    """Reads the buffers directly: Arrow's own functions for this import modules that take seconds to load."""
    start, length = samples.offset, len(samples)
    bits, data = samples.buffers()
    observed = np.ones(length, np.bool_)
    if bits is not None:
        packed = np.frombuffer(bits, np.uint8)
        observed = np.unpackbits(packed, count=start + length, bitorder="little")[start:].astype(np.bool_)
    if pa.types.is_decimal(samples.type):
        values = np.array([0 if value is None else int(value) for value in samples.to_pylist()], dtype=dtype)
    else:
        values = np.frombuffer(data, dtype)[start : start + length].copy() if length else np.zeros(0, dtype)
        values[~observed] = 0
    return Column(values=values, observed=observed)


def series_of(local: BinaryIO) -> Iterator[tuple[int, str, Column | None]]:
    """Node, metric and samples of the rows of a file of series, one row group at a time."""
    local.seek(0)
    with pq.ParquetFile(local) as file:
        for group in range(file.num_row_groups):
            for batch in file.read_row_group(group, columns=["node", "metric", *TYPES]).to_batches():
                places = zip(batch.column("node").to_pylist(), batch.column("metric").to_pylist(), strict=True)
                for row, (node, key) in enumerate(places):
                    yield node, key, column_of(batch, row)
