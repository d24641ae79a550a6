"""API: latencies of each side, with its runs' histograms merged."""

from typing import Any

from rest_framework import serializers

from apps.comparison.api import LATENCY_SECTION
from apps.comparison.pure import SectionSource
from apps.rest.runs.histograms import QuantileSerializer, quantiles_of


def latencies(source: SectionSource) -> list[dict[str, Any]]:
    """One entry per load level; one query each."""
    return [
        {
            "level": level.id,
            "sides": [
                {
                    "side": one.side.slug,
                    "runs": one.runs,
                    "with_histogram": one.with_histogram,
                    "count": one.merged.count if one.merged else None,
                    "grid": one.merged.grid.id if one.merged else "",
                    "quantiles": quantiles_of(one.merged) if one.merged else [],
                    "problem": one.problem,
                }
                for one in source.read(LATENCY_SECTION, level)
            ],
        }
        for level in source.comparison.levels
    ]


class SideLatencySerializer(serializers.Serializer[Any]):
    side = serializers.CharField()
    runs = serializers.IntegerField(help_text="that count")
    with_histogram = serializers.IntegerField(help_text="of them; their counts are added up, never averaged")
    count = serializers.IntegerField(allow_null=True, help_text="transactions; null: no histogram, or see `problem`")
    grid = serializers.CharField(help_text="on which the counts lie")
    quantiles = QuantileSerializer(many=True, help_text="of all these transactions together, ms")
    problem = serializers.CharField(help_text="why the histograms cannot be added; else empty")


class LevelLatencySerializer(serializers.Serializer[Any]):
    level = serializers.IntegerField(help_text="id of a load level")
    sides = SideLatencySerializer(many=True)
