"""Series and their statistics as tables (Arrow): the columns that CSV, Arrow and Parquet share.

Samples stand in a long table, one row each: series of different clocks, nodes and runs fit beside each other, and a
reader pivots what it wants wide.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from apps.api.series_reading import Absent, Reading
from apps.runs import queries

WORD = pa.dictionary(pa.int32(), pa.string())
SAMPLES = pa.schema(
    [
        pa.field("run", pa.int64(), nullable=False),
        pa.field("metric", WORD, nullable=False),
        pa.field("node", WORD),
        pa.field("unit", WORD),
        pa.field("at", pa.float64()),
        pa.field("value", pa.float64()),
        pa.field("missing", WORD),
    ]
)
# Integers to the last digit, which a float64 rounds beyond 2^53: those of 63 bits, and the few that are larger.
WHOLE = pa.schema([pa.field("integer", pa.int64()), pa.field("unsigned", pa.uint64())])
METADATA = b"splashboard"


def samples_schema(*, raw: bool, metadata: Mapping[str, Any]) -> pa.Schema:
    fields = [*SAMPLES][:-1] + ([*WHOLE] if raw else []) + [SAMPLES.field("missing")]
    return pa.schema(fields, metadata={METADATA: json.dumps(metadata)})


def samples(schema: pa.Schema, found: Sequence[queries.SeriesValues], absent: Sequence[Absent] = ()) -> pa.RecordBatch:
    """The samples of `found`, then one row for each in `absent`, which has no time and no value."""
    both: list[queries.SeriesValues | Absent] = [*found, *absent]
    lengths = np.array([len(one.at) for one in found] + [1] * len(absent), dtype=np.intp)
    nothing = np.full(len(absent), np.nan)
    columns: dict[str, pa.Array] = {
        "run": pa.array(np.repeat(np.array([one.run_id for one in both], dtype=np.int64), lengths)),
        "metric": _words([one.metric for one in both], lengths),
        "node": _words([one.node for one in both], lengths),
        "unit": _words([one.unit for one in found] + [""] * len(absent), lengths),
        "at": _numbers([*(one.at for one in found), nothing]),
        "value": _numbers([*(one.values for one in found), nothing]),
        "missing": _words([""] * len(found) + [one.reason for one in absent], lengths),
    }
    return pa.record_batch([columns[name] for name in schema.names], schema=schema)


def batches(schema: pa.Schema, reading: Reading) -> Iterator[pa.RecordBatch]:
    for found in reading.stretches():
        if found:
            yield samples(schema, found)
    if absent := [*reading.missing(), *reading.damaged]:
        yield samples(schema, [], absent)


def _words(words: Sequence[str], lengths: NDArray[np.intp]) -> pa.DictionaryArray:
    """Each word as often as its series has samples; an empty one is null."""
    known = {word: place for place, word in enumerate(dict.fromkeys(word for word in words if word))}
    codes = np.repeat(np.array([known.get(word, -1) for word in words], dtype=np.int32), lengths)
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), pa.array(list(known), pa.string()))


def _numbers(parts: Sequence[NDArray[np.float64]]) -> pa.Array:
    """NaN, not observed, is null."""
    return pa.array(np.concatenate(parts), pa.float64(), from_pandas=True)


def statistics(run_id: int, index: Sequence[queries.SeriesInfo]) -> pa.RecordBatch:
    """One row for each series of the run."""
    columns: dict[str, pa.Array] = {"run": pa.array([run_id] * len(index), pa.int64())}
    for name in ("metric", "node", "name", "unit", "direction", "kind", "resource", "aspect"):
        columns[name] = _words([getattr(info, name) for info in index], np.ones(len(index), dtype=np.intp))
    columns["constant"] = pa.array([info.constant for info in index], pa.bool_())
    for name in ("mean", "minimum", "maximum"):
        columns[name] = pa.array([getattr(info, name) for info in index], pa.float64())
    columns["resets"] = pa.array([info.resets for info in index], pa.int64())
    return pa.record_batch(columns)
