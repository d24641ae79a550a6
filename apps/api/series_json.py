"""Series as JSON: rounded, encoded series by series; and the shapes that the schema says of it."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from rest_framework import serializers

from apps.api.rounding import all_significant, significant, times
from apps.api.series_reading import Absent, Reading
from apps.runs import queries
from apps.runs.models import Run


class OneSeriesSerializer(serializers.Serializer[Any]):
    metric = serializers.CharField()
    name = serializers.CharField()
    unit = serializers.CharField(help_text="of the values: for a counter, that of its rate")
    direction = serializers.CharField(help_text="higher, lower or neutral: what is better")
    node = serializers.CharField()
    kind = serializers.CharField(help_text="rate or gauge")
    at = serializers.ListField(child=serializers.FloatField(), help_text="s on the clock asked for, to 1 ms")
    values = serializers.ListField(
        child=serializers.FloatField(allow_null=True), help_text="six significant digits; null: not observed"
    )
    resets = serializers.ListField(child=serializers.FloatField(), help_text="when a counter fell, s")


class MissingSerializer(serializers.Serializer[Any]):
    metric = serializers.CharField()
    reason = serializers.CharField()


class DamagedSerializer(MissingSerializer):
    node = serializers.CharField()


class RunSeriesSerializer(serializers.Serializer[Any]):
    run = serializers.IntegerField()
    measured = serializers.ListField(
        child=serializers.FloatField(), allow_null=True, help_text="[from, to), s; null: not known yet"
    )
    series = OneSeriesSerializer(many=True)
    missing = MissingSerializer(many=True, help_text="of the metrics asked for, those without a series")
    damaged = DamagedSerializer(many=True, help_text="series that are stored but cannot be read")


class OneSeriesOfRunsSerializer(OneSeriesSerializer):
    run = serializers.IntegerField()


class MissingInRunSerializer(MissingSerializer):
    run = serializers.IntegerField()


class DamagedInRunSerializer(DamagedSerializer):
    run = serializers.IntegerField()


class MeasuredRunSerializer(serializers.Serializer[Any]):
    run = serializers.IntegerField()
    uid = serializers.UUIDField()
    measured = serializers.ListField(child=serializers.FloatField(), allow_null=True, help_text="[from, to), s")


class SeriesOfRunsSerializer(serializers.Serializer[Any]):
    runs = MeasuredRunSerializer(many=True)
    series = OneSeriesOfRunsSerializer(many=True)
    missing = MissingInRunSerializer(many=True)
    damaged = DamagedInRunSerializer(many=True)


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


def document(head: dict[str, Any], reading: Reading, *, runs: bool) -> Iterator[bytes]:
    """`head`, `series`, `missing` and `damaged` as one object, a piece for each stretch and one that ends it.

    `runs`: each entry names its run.
    """
    before = msgspec.json.encode(head)[:-1] + b',"series":['
    for found in reading.stretches():
        if found:
            yield before + b",".join(msgspec.json.encode(_drawn(series, runs=runs)) for series in found)
            before = b","
    lists = {
        "missing": [_absent(one, ("metric", "reason"), runs=runs) for one in reading.missing()],
        "damaged": [_absent(one, ("metric", "node", "reason"), runs=runs) for one in reading.damaged],
    }
    yield before.removeprefix(b",") + b"]," + msgspec.json.encode(lists)[1:]


def _absent(one: Absent, names: Sequence[str], *, runs: bool) -> dict[str, Any]:
    entry = {name: getattr(one, name) for name in names}
    return {"run": one.run_id, **entry} if runs else entry


def _drawn(series: queries.SeriesValues, *, runs: bool) -> dict[str, Any]:
    drawn = {
        "metric": series.metric,
        "name": series.name,
        "unit": series.unit,
        "direction": series.direction,
        "node": series.node,
        "kind": series.kind,
        "at": times(series.at),
        "values": all_significant(series.values),
        "resets": [round(at, 3) for at in series.resets],
    }
    return {"run": series.run_id, **drawn} if runs else drawn


def index(run: Run, found: Sequence[queries.SeriesInfo]) -> Iterator[bytes]:
    yield msgspec.json.encode({"run": run.pk, "series": [_listed(info) for info in found]})


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
        "mean": significant(info.mean),
        "minimum": significant(info.minimum),
        "maximum": significant(info.maximum),
        "resets": info.resets,
    }
