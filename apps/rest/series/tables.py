"""Series and their statistics as Arrow tables: the columns that CSV, Arrow and Parquet share.

Samples are in a long table, one row each, so that series of different clocks, nodes and runs fit together; readers
pivot to wide tables themselves.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray
from rest_framework.renderers import BaseRenderer

from apps.rest.framework.formats import encoded
from apps.rest.series.json_encoder import described
from apps.rest.series.read import Absent, SeriesPass, SeriesRequest, as_float
from apps.runs.api import STATISTICS, SeriesValues, metric_descriptions, queries

WORD = pa.dictionary(pa.int32(), pa.string())
METADATA = b"splashboard"
INT64_MAX = 2**63 - 1


def samples_schema(asked: SeriesRequest) -> pa.Schema:
    """`seconds`: on the requested clock; `value`: null if not observed; `missing`: why there are no samples.

    A row with `missing` has no time and value; in all other rows it is null. Raw integer samples, which `value` rounds
    beyond 2^53, are also given exactly: in `integer`, or in `unsigned` from 2^63 on. Over nodes, `parts` is the number
    of nodes in each value.
    """
    fields = [
        pa.field("run", pa.int64(), nullable=False),
        pa.field("metric", WORD, nullable=False),
        pa.field("node", WORD),
        pa.field("unit", WORD),
        pa.field("seconds", pa.float64()),
        pa.field("value", pa.float64()),
    ]
    if asked.options.get("raw"):
        fields += [pa.field("integer", pa.int64()), pa.field("unsigned", pa.uint64())]
    if asked.options.get("over_nodes"):
        fields += [pa.field("parts", pa.int32())]
    return pa.schema([*fields, pa.field("missing", WORD)], metadata={METADATA: orjson.dumps(_about(asked))})


def _about(asked: SeriesRequest) -> dict[str, Any]:
    """Metadata of whole runs and metrics."""
    known = metric_descriptions.described({key for keys in asked.keys.values() for key in keys})
    metrics = {key: {"name": spec.name, "direction": spec.direction, "kind": spec.kind} for key, spec in known.items()}
    return {"runs": [described(run) for run in asked.runs], "metrics": metrics}


def samples(renderer: BaseRenderer, reading: SeriesPass) -> Iterator[bytes]:
    """The table in the format of `renderer`."""
    schema = samples_schema(reading.asked)
    yield from encoded(renderer, schema, _batches(schema, reading))


def _batches(schema: pa.Schema, reading: SeriesPass) -> Iterator[pa.RecordBatch]:
    for found in reading.stretches():
        if found:
            yield _samples(schema, found, [])
    if absent := reading.absent():
        yield _samples(schema, [], absent)


def _samples(schema: pa.Schema, found: Sequence[SeriesValues], absent: Sequence[Absent]) -> pa.RecordBatch:
    both: list[SeriesValues | Absent] = [*found, *absent]
    lengths = np.array([len(one.at) for one in found] + [1] * len(absent), dtype=np.intp)
    nothing = np.full(len(absent), np.nan)
    columns: dict[str, pa.Array] = {
        "run": pa.array(np.repeat(np.array([one.run_id for one in both], dtype=np.int64), lengths)),
        "metric": _words([one.metric for one in both], lengths),
        "node": _words([one.node for one in both], lengths),
        "unit": _words([one.unit for one in found] + [""] * len(absent), lengths),
        "seconds": _numbers([*(one.at for one in found), nothing]),
        "value": _numbers([*(as_float(one) for one in found), nothing]),
        "missing": _words([""] * len(found) + [one.reason for one in absent], lengths),
    }
    if "integer" in schema.names:
        columns["integer"] = _integers(found, len(absent), np.dtype(np.int64))
        columns["unsigned"] = _integers(found, len(absent), np.dtype(np.uint64))
    if "parts" in schema.names:
        # A series over nodes has one part if only one node has the metric.
        parts = [one.parts if one.parts is not None else np.ones(len(one.at), np.intp) for one in found]
        columns["parts"] = pa.array([*np.concatenate(parts).tolist(), *[None] * len(absent)], pa.int32())
    return pa.record_batch([columns[name] for name in schema.names], schema=schema)


def _integers(found: Sequence[SeriesValues], absent: int, dtype: "np.dtype[Any]") -> pa.Array:
    """The raw samples that are integers and belong in `dtype`, int64 or uint64: those from 2^63 on in uint64."""
    values, given = [], []
    for one in found:
        whole = one.observed is not None and one.values.dtype.kind in "iu"
        fitting = (one.values <= INT64_MAX) == (dtype.kind == "i")
        values.append(one.values.astype(dtype) if whole else np.zeros(len(one.at), dtype))
        given.append(fitting & one.observed if whole else np.zeros(len(one.at), np.bool_))
    values.append(np.zeros(absent, dtype))
    given.append(np.zeros(absent, np.bool_))
    return pa.array(np.concatenate(values), mask=~np.concatenate(given))


def _words(words: Sequence[str], lengths: NDArray[np.intp]) -> pa.DictionaryArray:
    """Each word repeated once per sample of its series; an empty one is null."""
    known = {word: place for place, word in enumerate(dict.fromkeys(word for word in words if word))}
    codes = np.repeat(np.array([known.get(word, -1) for word in words], dtype=np.int32), lengths)
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), pa.array(list(known), pa.string()))


def _numbers(parts: Sequence[NDArray[np.float64]]) -> pa.Array:
    """NaN (not observed) becomes null."""
    return pa.array(np.concatenate(parts), pa.float64(), from_pandas=True)


def statistics(run_id: int, index: Sequence[queries.SeriesInfo]) -> pa.RecordBatch:
    """One row per series of the run."""
    columns: dict[str, pa.Array] = {"run": pa.array([run_id] * len(index), pa.int64())}
    for name in ("metric", "node", "name", "unit", "direction", "kind", "resource", "aspect"):
        columns[name] = _words([getattr(info, name) for info in index], np.ones(len(index), dtype=np.intp))
    columns["constant"] = pa.array([info.constant for info in index], pa.bool_())
    for prefix, of in (("", "statistics"), ("whole_", "whole")):
        for name in STATISTICS:
            kind = pa.int64() if name in ("count", "resets") else pa.float64()
            columns[prefix + name] = pa.array([getattr(getattr(info, of), name) for info in index], kind)
    return pa.record_batch(columns)
