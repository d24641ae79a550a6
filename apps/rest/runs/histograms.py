"""Latency histograms of a run, with their grid and provenance."""

from typing import Any

from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.rest.framework.digits import significant
from apps.rest.framework.formats import caching, unchanged
from apps.rest.framework.lists import NoParameters
from apps.rest.runs.runs import find_run
from apps.rest.series.read import etag_of
from apps.rest.series.series import IF_NONE_MATCH, NOT_MODIFIED
from apps.runs.api import queries
from apps.runs.pure import PERCENTILES, HistogramCounts, Quantile


class BucketsSerializer(serializers.Serializer[Any]):
    """Columns, one entry per non-empty bucket, in rising order."""

    index = serializers.ListField(child=serializers.IntegerField(), help_text="place on the grid")
    low = serializers.ListField(child=serializers.FloatField(), help_text="low <= value < high")
    high = serializers.ListField(child=serializers.FloatField(allow_null=True), help_text="null: no bound")
    value = serializers.ListField(child=serializers.FloatField(), help_text="as the tool reports it")
    count = serializers.ListField(child=serializers.IntegerField())


class QuantileSerializer(serializers.Serializer[Any]):
    percentile = serializers.FloatField(help_text="100: the highest bucket")
    value = serializers.FloatField(help_text="as the tool reports its bucket")
    low = serializers.FloatField(help_text="the value lies between low and high")
    high = serializers.FloatField(allow_null=True)
    beyond = serializers.IntegerField(help_text="how many are in higher buckets")


class DistributionSerializer(serializers.Serializer[Any]):
    """Counts on a grid, read from bytes [byte_start, byte_end) of the artifact."""

    metric = serializers.CharField()
    name = serializers.CharField()
    unit = serializers.CharField(help_text="of all values")
    starts_at = serializers.FloatField(help_text="what it covers, s on the run's clock")
    ends_at = serializers.FloatField()
    grid = serializers.CharField(help_text="only counts on the same grid may be added")
    count = serializers.IntegerField()
    buckets = BucketsSerializer()
    quantiles = QuantileSerializer(many=True)
    artifact = serializers.CharField()
    sha256 = serializers.CharField()
    byte_start = serializers.IntegerField()
    byte_end = serializers.IntegerField()
    parser = serializers.CharField()
    parser_version = serializers.CharField()


class RunDistributionsSerializer(serializers.Serializer[Any]):
    run = serializers.IntegerField()
    distributions = DistributionSerializer(many=True)


class Distributions(APIView):
    @extend_schema(
        operation_id="read_distributions",
        parameters=[IF_NONE_MATCH],
        responses={200: RunDistributionsSerializer, 304: NOT_MODIFIED},
    )
    def get(self, request: Request, run_id: int) -> HttpResponseBase:
        """Latency distributions of a run: the load tool's histograms. Empty when it printed none.

        Percentiles over several runs are computed from their summed bucket counts, never as a mean.
        """
        NoParameters.read(request)
        run = find_run(run_id)
        etag = etag_of([run], "distributions")
        if response := unchanged(request, etag):
            return response
        found = [_shown(one) for one in queries.distributions([run.pk])]
        return Response({"run": run.pk, "distributions": found}, headers=caching(etag))


def _shown(one: queries.DistributionDetail) -> dict[str, Any]:
    distribution = one.distribution
    return {
        "metric": one.metric,
        "name": one.name,
        "unit": one.unit,
        "starts_at": one.starts_at,
        "ends_at": one.ends_at,
        "grid": distribution.grid.id,
        "count": distribution.count,
        "buckets": _columns(distribution),
        "quantiles": quantiles_of(distribution),
        "artifact": one.artifact,
        "sha256": one.sha256,
        "byte_start": one.byte_start,
        "byte_end": one.byte_end,
        "parser": one.parser,
        "parser_version": one.parser_version,
    }


def quantiles_of(distribution: HistogramCounts) -> list[dict[str, Any]]:
    """As QuantileSerializer writes them."""
    quantiles = [(percent, distribution.percentile(percent)) for percent in PERCENTILES]
    return [_quantile(percent, quantile) for percent, quantile in (*quantiles, (100.0, distribution.maximum))]


def _columns(distribution: HistogramCounts) -> dict[str, Any]:
    bounds = [distribution.grid.bounds(bucket) for bucket in distribution.buckets]
    return {
        "index": distribution.buckets,
        "low": [significant(low) for low, _ in bounds],
        "high": [significant(high) for _, high in bounds],
        "value": [distribution.grid.value(bucket) for bucket in distribution.buckets],
        "count": distribution.counts,
    }


def _quantile(percent: float, quantile: Quantile) -> dict[str, Any]:
    return {
        "percentile": percent,
        "value": quantile.value,
        "low": significant(quantile.low),
        "high": significant(quantile.high),
        "beyond": quantile.beyond,
    }
