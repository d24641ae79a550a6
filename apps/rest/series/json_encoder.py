"""Series as JSON, rounded and encoded series by series; and their serializers for the schema."""

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import orjson
from rest_framework import serializers

from apps.rest.framework.digits import MILLISECONDS, Floats, all_significant, significant, to_milliseconds
from apps.rest.framework.fields import TupleField
from apps.rest.series.read import Absent, SeriesPass, as_float
from apps.runs.api import queries
from apps.runs.models import Run
from apps.runs.pure import COUNTER

# Number of thinned series that are rounded together.
TOGETHER = 16


class OneSeriesSerializer(serializers.Serializer[Any]):
    metric = serializers.CharField()
    name = serializers.CharField()
    unit = serializers.CharField(help_text="of the values: for a counter, that of its rate")
    direction = serializers.CharField(help_text="higher, lower or neutral: what is better")
    node = serializers.CharField()
    kind = serializers.CharField(help_text="rate, gauge, or counter: its totals")
    at = serializers.ListField(child=serializers.FloatField(), help_text="s on the clock asked for, to 1 ms")
    values = serializers.ListField(
        child=serializers.FloatField(allow_null=True),
        help_text="six significant digits, of totals all; null: not observed",
    )
    resets = serializers.ListField(child=serializers.FloatField(), help_text="when a counter fell, s")
    zero = serializers.FloatField(help_text="where that clock begins, s on the run's")
    nodes = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="over nodes: those that have the metric"
    )
    parts = serializers.ListField(
        child=serializers.IntegerField(), required=False, help_text="over nodes: of how many each value is"
    )


class MissingSerializer(serializers.Serializer[Any]):
    metric = serializers.CharField()
    node = serializers.CharField(help_text="empty: on none")
    reason = serializers.CharField()


class RunSeriesSerializer(serializers.Serializer[Any]):
    run = serializers.IntegerField()
    measured = TupleField(
        [serializers.FloatField(), serializers.FloatField()],
        allow_null=True,
        help_text="[from, to), s; null: not known yet",
    )
    series = OneSeriesSerializer(many=True)
    missing = MissingSerializer(many=True, help_text="what was asked for and is not there, or cannot be read")


class OneSeriesOfRunsSerializer(OneSeriesSerializer):
    run = serializers.IntegerField()


class MissingInRunSerializer(MissingSerializer):
    run = serializers.IntegerField()


class MeasuredRunSerializer(serializers.Serializer[Any]):
    run = serializers.IntegerField()
    uid = serializers.UUIDField()
    measured = TupleField(
        [serializers.FloatField(), serializers.FloatField()], allow_null=True, help_text="[from, to), s"
    )


class SeriesOfRunsSerializer(serializers.Serializer[Any]):
    runs = MeasuredRunSerializer(many=True)
    series = OneSeriesOfRunsSerializer(many=True)
    missing = MissingInRunSerializer(many=True)


class SeriesEntrySerializer(serializers.Serializer[Any]):
    metric = serializers.CharField()
    name = serializers.CharField()
    unit = serializers.CharField()
    direction = serializers.CharField()
    kind = serializers.CharField()
    node = serializers.CharField()
    resource = serializers.CharField()
    aspect = serializers.CharField(help_text="utilization, saturation, errors, or empty")
    constant = serializers.BooleanField(help_text="it never changed")
    mean = serializers.FloatField(allow_null=True, help_text="over the measured phase; null: not observed in it")
    minimum = serializers.FloatField(allow_null=True)
    maximum = serializers.FloatField(allow_null=True)
    resets = serializers.IntegerField(help_text="how often a counter fell")


class SeriesIndexSerializer(serializers.Serializer[Any]):
    run = serializers.IntegerField()
    series = SeriesEntrySerializer(many=True)


def measured(run: Run) -> list[float] | None:
    """[from, to), s on the run's clock; None: not known yet."""
    return None if run.measured_from is None or run.measured_to is None else [run.measured_from, run.measured_to]


def described(run: Run) -> dict[str, Any]:
    return {"run": run.pk, "uid": str(run.uid), "measured": measured(run)}


def document(head: dict[str, Any], reading: SeriesPass, *, runs: bool) -> Iterator[bytes]:
    """`head`, `series` and `missing` as one object: a piece per chunk of series and a final one.

    `runs`: each entry includes its run.
    """
    before = orjson.dumps(head)[:-1] + b',"series":['
    for found in reading.stretches():
        if found:
            pieces = [piece for some in _few(found) for piece in _encoded(some, runs=runs)]
            pieces[0] = before + pieces[0]
            yield b",".join(pieces)
            before = b","
    absent = [_absent(one, runs=runs) for one in reading.absent()]
    yield before.removeprefix(b",") + b'],"missing":' + orjson.dumps(absent) + b"}"


def _absent(one: Absent, *, runs: bool) -> dict[str, Any]:
    entry = {"metric": one.metric, "node": one.node, "reason": one.reason}
    return {"run": one.run_id, **entry} if runs else entry


def _few(found: Sequence[queries.SeriesValues]) -> Iterator[Sequence[queries.SeriesValues]]:
    """Groups small enough that their intermediate results stay in the processor's cache."""
    return (found[start : start + TOGETHER] for start in range(0, len(found), TOGETHER))


def _encoded(found: Sequence[queries.SeriesValues], *, runs: bool) -> Iterator[bytes]:
    at = to_milliseconds(np.concatenate([series.at for series in found]))
    exact = np.concatenate([as_float(series) for series in found])
    rounded = all_significant(exact)
    edges = pairwise(accumulate((len(series.at) for series in found), initial=0))
    for series, (start, end) in zip(found, edges, strict=True):
        # The increase of a rounded total would be lost.
        values = exact if series.kind == COUNTER else rounded
        drawn = _drawn(series, at[start:end], values[start:end], runs=runs)
        # Non-finite numbers become null.
        yield orjson.dumps(drawn, option=orjson.OPT_SERIALIZE_NUMPY)


def _drawn(series: queries.SeriesValues, at: Floats, values: Floats, *, runs: bool) -> dict[str, Any]:
    drawn = {
        "metric": series.metric,
        "name": series.name,
        "unit": series.unit,
        "direction": series.direction,
        "node": series.node,
        "kind": series.kind,
        "zero": round(series.zero, MILLISECONDS),
        "at": at,
        "values": values,
        "resets": [round(reset, MILLISECONDS) for reset in series.resets],
    }
    if series.parts is not None:
        drawn |= {"nodes": series.nodes, "parts": np.ascontiguousarray(series.parts)}
    return {"run": series.run_id, **drawn} if runs else drawn


def index(run: Run, found: Sequence[queries.SeriesInfo]) -> Iterator[bytes]:
    yield orjson.dumps({"run": run.pk, "series": [_listed(info) for info in found]})


def _listed(info: queries.SeriesInfo) -> dict[str, Any]:
    return {
        "metric": info.metric,
        "name": info.name,
        "unit": info.unit,
        "direction": info.direction,
        "kind": info.kind,
        "node": info.node,
        "resource": info.resource,
        "aspect": info.aspect,
        "constant": info.constant,
        "mean": significant(info.statistics.mean),
        "minimum": significant(info.statistics.minimum),
        "maximum": significant(info.statistics.maximum),
        "resets": info.statistics.resets,
    }
