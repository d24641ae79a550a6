"""Lossless conversion of series' samples to Arrow list columns and back. Pure."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from apps.runs.archive import parquet
from apps.runs.archive.tables import DECIMALS, INTEGERS, LARGE, SCHEMAS
from apps.runs.storage import codec
from apps.runs.storage.codec import Column

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
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


def _columns(lists: pa.ListArray, dtype: "np.dtype[Any]") -> Iterator[Column | None]:
    """The samples of each list; None where there is no list. Reads the buffers directly: Arrow's own functions for this
    import modules that take seconds to load."""
    samples = lists.values
    observed = _is_valid(samples)
    if pa.types.is_decimal(samples.type):
        values = np.array([0 if value is None else int(value) for value in samples.to_pylist()], dtype=dtype)
    else:
        data = samples.buffers()[1]
        values = np.zeros(0, dtype) if data is None else np.frombuffer(data, dtype)[samples.offset :][: len(samples)]
        if not observed.all():
            values = np.where(observed, values, dtype.type(0))
    offsets = np.frombuffer(lists.buffers()[1], np.int32)[lists.offset :][: len(lists) + 1].tolist()
    gaps = [0, *np.cumsum(~observed).tolist()]
    for is_there, start, stop in zip(_is_valid(lists).tolist(), offsets[:-1], offsets[1:], strict=True):
        seen = codec.every(stop - start) if gaps[start] == gaps[stop] else observed[start:stop]
        yield Column(values=values[start:stop], observed=seen) if is_there else None


def plain(column: pa.ChunkedArray) -> list[Any]:
    """The column's values as Python has them. For moments, Arrow would load pandas where it is installed."""
    if not pa.types.is_timestamp(column.type):
        found: list[Any] = column.to_pylist()
        return found
    numbers = (number for chunk in column.chunks for number in chunk.view(pa.int64()).to_pylist())
    return [None if number is None else _EPOCH + timedelta(microseconds=number) for number in numbers]


def _is_valid(values: pa.Array) -> NDArray[np.bool_]:
    bits = values.buffers()[0]
    if bits is None:
        return np.ones(len(values), np.bool_)
    end = values.offset + len(values)
    return np.unpackbits(np.frombuffer(bits, np.uint8), count=end, bitorder="little")[values.offset :].astype(np.bool_)


def series_of(local: BinaryIO) -> Iterator[tuple[int, str, Column | None]]:
    """Node, metric and samples (None: a derived metric) of the rows of a file of series, one row group at a time.

    Raises Damaged."""
    wanted = ["node", "metric", *TYPES]
    with parquet.opened(local, "series", wanted) as file:
        for group in range(file.num_row_groups):
            for batch in file.read_row_group(group, wanted, use_threads=False).to_batches():
                of_types = zip(*(_columns(batch.column(name), dtype) for name, dtype in TYPES.items()), strict=True)
                columns = (next((each for each in of_type if each is not None), None) for of_type in of_types)
                yield from zip(
                    batch.column("node").to_pylist(), batch.column("metric").to_pylist(), columns, strict=True
                )
