"""Series of a run: which there are, and their samples, thinned and rounded for drawing."""

import hashlib
import math
from collections.abc import Collection, Sequence
from typing import Any

from django.http import HttpResponse
from django.utils.cache import get_conditional_response
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.api.lists import NoParameters, Parameters
from apps.api.runs import find_run
from apps.catalog.models import Metric
from apps.runs import queries
from apps.runs.models import Run

MOST_METRICS = 50
DIGITS = 6
MILLISECONDS = 3
IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match", str, OpenApiParameter.HEADER, description="an ETag held; only complete runs have one"
)
NOT_MODIFIED = OpenApiResponse(description="The caller has it: a complete run never changes")


class SeriesParameters(Parameters):
    metric = serializers.ListField(
        child=serializers.CharField(max_length=160),
        min_length=1,
        max_length=MOST_METRICS,
        help_text="key of a metric; once for each",
    )
    node = serializers.ListField(
        child=serializers.CharField(max_length=80), required=False, max_length=MOST_METRICS, help_text="left out: all"
    )
    points = serializers.IntegerField(
        required=False,
        min_value=50,
        max_value=5000,
        help_text="thinned to about so many, with every minimum and maximum; left out: all samples",
    )


class OneSeriesSerializer(serializers.Serializer[Any]):
    metric = serializers.CharField()
    name = serializers.CharField()
    unit = serializers.CharField(help_text="of the values: for a counter, that of its rate")
    direction = serializers.CharField(help_text="higher, lower or neutral: what is better")
    node = serializers.CharField()
    kind = serializers.ChoiceField(choices=["rate", "gauge"])
    at = serializers.ListField(child=serializers.FloatField(), help_text="s on the run's clock, to 1 ms")
    values = serializers.ListField(
        child=serializers.FloatField(allow_null=True), help_text="six significant digits; null: not observed"
    )
    resets = serializers.ListField(child=serializers.FloatField(), help_text="when a counter fell, s")


class MissingSerializer(serializers.Serializer[Any]):
    metric = serializers.CharField()
    reason = serializers.CharField()


class RunSeriesSerializer(serializers.Serializer[Any]):
    run = serializers.IntegerField()
    measured = serializers.ListField(
        child=serializers.FloatField(), allow_null=True, help_text="[from, to), s; null: not known yet"
    )
    series = OneSeriesSerializer(many=True)
    missing = MissingSerializer(many=True)


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


class RunSeries(APIView):
    @extend_schema(
        operation_id="read_series",
        parameters=[SeriesParameters, IF_NONE_MATCH],
        responses={200: RunSeriesSerializer, 304: NOT_MODIFIED},
    )
    def get(self, request: Request, run_id: int) -> HttpResponse:
        """Samples of the metrics asked for, of a live run too; counters as rates over the time since the sample before.

        What the run does not have is listed in `missing` with the reason.
        """
        asked = SeriesParameters.read(request)
        run = find_run(run_id)
        metrics, nodes = list(dict.fromkeys(asked["metric"])), asked.get("node")
        etag = _etag(run, metrics, nodes, asked.get("points"))
        if response := _unchanged(request, etag):
            return response
        found = queries.load_series(run_ids=[run.pk], metrics=metrics, nodes=nodes, points=asked.get("points"))
        measured = (
            None if run.measured_from is None or run.measured_to is None else [run.measured_from, run.measured_to]
        )
        answer = {
            "run": run.pk,
            "measured": measured,
            "series": [_drawn(series) for series in found],
            "missing": _missing(metrics, {series.metric for series in found}, nodes),
        }
        return Response(answer, headers=_caching(etag))


class SeriesIndex(APIView):
    @extend_schema(
        operation_id="list_series",
        parameters=[IF_NONE_MATCH],
        responses={200: SeriesIndexSerializer, 304: NOT_MODIFIED},
    )
    def get(self, request: Request, run_id: int) -> HttpResponse:
        """Every series that the run has, by metric and node, with its statistics over the measured phase."""
        NoParameters.read(request)
        run = find_run(run_id)
        etag = _etag(run, "index")
        if response := _unchanged(request, etag):
            return response
        return Response(
            {"run": run.pk, "series": [_listed(info) for info in queries.series_index(run.pk)]}, headers=_caching(etag)
        )


def _drawn(series: queries.SeriesValues) -> dict[str, Any]:
    return {
        "metric": series.metric,
        "name": series.name,
        "unit": series.unit,
        "direction": series.direction,
        "node": series.node,
        "kind": series.kind,
        "at": [round(at, MILLISECONDS) for at in series.at.tolist()],
        "values": [significant(value) for value in series.values.tolist()],
        "resets": [round(at, MILLISECONDS) for at in series.resets],
    }


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


def _missing(wanted: Sequence[str], found: Collection[str], nodes: Sequence[str] | None) -> list[dict[str, str]]:
    missing = [key for key in wanted if key not in found]
    known = set(Metric.objects.filter(key__in=missing).values_list("key", flat=True)) if missing else set()
    where = f"on {', '.join(nodes)}" if nodes else "in this run"
    return [
        {
            "metric": key,
            "reason": f"not observed {where}" if key in known else "no metric has this key; see /api/v1/metrics/",
        }
        for key in missing
    ]


def significant(value: float | None) -> float | None:
    """Six significant digits; None for what is not observed."""
    return float(f"{value:.{DIGITS}g}") if value is not None and math.isfinite(value) else None


def _etag(run: Run, *parts: object) -> str | None:
    """None: the run may still change."""
    if run.state != Run.State.SEALED:
        return None
    text = repr((str(run.uid), run.sealed_at, *parts))
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'


def _unchanged(request: Request, etag: str | None) -> HttpResponse | None:
    """304 when the caller holds this answer already."""
    if etag is None:
        return None
    response = get_conditional_response(request._request, etag=etag)
    return response if isinstance(response, HttpResponse) else None


def _caching(etag: str | None) -> dict[str, str]:
    return {"ETag": etag, "Cache-Control": "no-cache"} if etag else {"Cache-Control": "no-store"}
