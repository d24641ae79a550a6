"""API: load levels of the sides of a comparison, with the scalability fit."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from apps.comparison.api import Growing, load_level_data, table_growth
from apps.comparison.pure import (
    Collapse,
    ComparedMetric,
    Fit,
    LoadLevelData,
    Reach,
    Saturation,
    SectionSource,
    load_level_analysis,
)
from apps.rest.framework.derive import serializer_of

USUAL_PERCENTILE = 95.0


def load_levels(source: SectionSource, parameters: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Each side's load levels (`rungs`), with fit, collapse, saturation and reach."""
    found = source.read(load_level_data.SECTION)
    if found is None:
        return None
    percent = float(parameters.get("percentile", USUAL_PERCENTILE))
    answer = []
    for ramp in found.climbs:
        one = load_level_analysis(ramp, percent=percent, limit=parameters.get("objective"))
        fit = one.fit if isinstance(one.fit, Fit) else None
        refused = "" if isinstance(one.fit, Fit) else one.fit.reason
        answer.append({"metric": found.metric, "rungs": ramp.rungs, "analysis": one, "fit": fit, "refused": refused})
    return answer


class LoadLevelsSerializer(serializers.Serializer[Any]):
    side = serializers.CharField(source="analysis.side")
    metric = serializer_of(ComparedMetric)(help_text="of the throughput")
    rungs = serializer_of(LoadLevelData)(many=True, help_text="load levels without a fixed rate")
    best_threads = serializers.IntegerField(source="analysis.best_threads", allow_null=True)
    fit = serializer_of(Fit)(allow_null=True, help_text="Universal Scalability Law; null: see `refused`")
    refused = serializers.CharField(help_text="why there is no fit")
    collapse = serializer_of(Collapse)(source="analysis.collapse", allow_null=True, help_text="null: none is certain")
    saturation = serializer_of(Saturation)(source="analysis.saturation", many=True)
    by_littles_law = serializers.BooleanField(
        source="analysis.by_littles_law", help_text="mean response times are threads over throughput"
    )
    reach = serializer_of(Reach)(source="analysis.reach", allow_null=True, help_text="null: no objective was given")


def growth(source: SectionSource) -> list[Growing]:
    """Table growth at every load level at which tables grew."""
    found = [source.read(table_growth.SECTION, level) for level in source.comparison.levels]
    return [each for each in found if each is not None]
