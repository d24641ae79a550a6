"""Percentiles of all transactions of the sides at one load level, compared: histograms merged, sessions repeated."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from apps.comparison.failovers import survivors
from apps.comparison.sections import verdicts
from apps.comparison.sections.section import Section
from apps.comparison.stats import jackknife
from apps.comparison.stats.welch import Direction
from apps.comparison.values import Cell, ComparedMetric, ComparedRun, Comparison, Level
from apps.runs.api import queries
from apps.runs.pure import PERCENTILES, DifferentGrids, HistogramCounts, merge

Values = tuple[float, ...]


@dataclass(frozen=True)
class ComparedPercentiles:
    """`metrics`: the percentiles that both the baseline and another side have enough transactions above."""

    metrics: tuple[ComparedMetric, ...]
    cells: Annotated[tuple[Cell, ...], "in the form of the comparison's; the spread is that of the merged percentile"]


def percentiles_of(comparison: Comparison, level: Level) -> ComparedPercentiles:
    """Of the runs with histograms. One query. A side whose histograms cannot be added has no cell with a value."""
    runs = [run for run in comparison.counted if run.level == level.id]
    found: dict[int, list[HistogramCounts]] = defaultdict(list)
    for one in queries.distributions([run.id for run in runs]):
        found[one.run_id].append(one.distribution)
    values: dict[int, dict[str, float]] = defaultdict(dict)
    sides: dict[str, set[str]] = defaultdict(set)
    for side in comparison.sides:
        own = [run for run in runs if run.side == side.slug and run.id in found]
        for key, each in _of_side(own, found).items():
            sides[key].add(side.slug)
            for run, value in zip(own, each, strict=True):
                values[run.id][key] = value
    step = max((each.grid.resolution for own in found.values() for each in own), default=0.0)
    tools = [side.workload.tool for side in comparison.sides]
    metrics = [
        replace(metric, resolution=step, unjudged=survivors.why_unjudged(survivors.LATENCY, tools))
        for metric in map(_metric, PERCENTILES)
        if comparison.sides[0].slug in sides[metric.key] and len(sides[metric.key]) > 1
    ]
    at_level = replace(comparison, levels=(level,))
    return ComparedPercentiles(tuple(metrics), verdicts.cells(at_level, metrics, values))


def _metric(percent: float) -> ComparedMetric:
    name = f"p{percent:g}"
    return ComparedMetric(f"latency.all.{name}", name, "ms", Direction.LOWER, "latency", primary=False)


def _of_side(runs: Sequence[ComparedRun], found: Mapping[int, Sequence[HistogramCounts]]) -> dict[str, Values]:
    """Metric -> value of each run. Empty where the histograms cannot be added, as the latencies' section says."""
    if not runs:
        return {}
    sessions = [run.session for run in runs if run.session is not None]
    try:
        values = jackknife.pseudo_values(
            [merge(found[run.id]) for run in runs], sessions if len(sessions) == len(runs) else [], PERCENTILES
        )
    except DifferentGrids:
        return {}
    return {_metric(percent).key: own for percent, own in values.items()}


def _read(comparison: Comparison, level: Level | None) -> ComparedPercentiles | None:
    return percentiles_of(comparison, level) if level else None


SECTION = Section("percentiles", ComparedPercentiles | None, _read, by_level=True)
