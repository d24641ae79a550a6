"""API: load levels of the sides of a comparison, with the scalability fit."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from apps.comparison.api import Growing, load_level_data, table_growth
from apps.comparison.pure import ComparedMetric, LoadLevelAnalysis, LoadLevelData, SectionSource, load_level_analysis
from apps.core.answers import Inline

USUAL_PERCENTILE = 95.0


@dataclass(frozen=True)
class LoadLevels:
    analysis: Annotated[LoadLevelAnalysis, Inline()]
    metric: Annotated[ComparedMetric, "of the throughput"]
    levels: Annotated[tuple[LoadLevelData, ...], "load levels without a fixed rate"]


def load_levels(source: SectionSource, parameters: Mapping[str, Any]) -> list[LoadLevels] | None:
    found = source.read(load_level_data.SECTION)
    if found is None:
        return None
    percent = float(parameters.get("percentile", USUAL_PERCENTILE))
    limit = parameters.get("objective")
    return [
        LoadLevels(load_level_analysis(ramp, percent=percent, limit=limit), found.metric, ramp.levels)
        for ramp in found.climbs
    ]


def growth(source: SectionSource) -> list[Growing]:
    """Table growth at every load level at which tables grew."""
    found = [source.read(table_growth.SECTION, level) for level in source.comparison.levels]
    return [each for each in found if each is not None]
