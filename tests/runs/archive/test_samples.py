"""Samples as Parquet's lists come back to the bit: of every type, with gaps, and none at all."""

import io
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from apps.runs.archive import samples, write
from apps.runs.archive.tables import SCHEMAS
from apps.runs.storage.codec import Column

TYPES: list[Any] = [np.int64, np.uint64, np.float64]


@st.composite
def a_column(draw: st.DrawFn) -> Column:
    length, dtype = draw(st.integers(0, 60)), draw(st.sampled_from(TYPES))
    elements = arrays.from_dtype(np.dtype(dtype), allow_nan=False, allow_infinity=False)
    values = draw(arrays.arrays(dtype, length, elements=elements))
    observed = draw(arrays.arrays(np.bool_, length))
    return Column(values=np.where(observed, values, dtype(0)), observed=observed)


@given(st.lists(st.none() | a_column(), min_size=1, max_size=5))
def test_every_series_comes_back_from_its_file_as_it_was(columns: list[Column | None]) -> None:
    schema = SCHEMAS["series"]
    lists = samples.list_columns(columns)
    rows = [{"run": "r", "node": 1, "metric": str(number)} for number in range(len(columns))]
    rest = pa.schema([field for field in schema if field.name not in lists])
    plain = pa.RecordBatch.from_pylist(rows, schema=rest)
    batch = pa.RecordBatch.from_arrays([*plain.columns, *lists.values()], schema=schema)
    local = io.BytesIO()
    assert write.write_table(local, "series", [batch]) == len(columns)
    assert pq.ParquetFile(local).metadata.row_group(0).column(len(schema.names) - 1).compression == "ZSTD"
    for (_, _, back), column in zip(samples.series_of(local), columns, strict=True):
        assert (back is None) == (column is None)
        assert column is None or (back is not None and back.same_as(column))
