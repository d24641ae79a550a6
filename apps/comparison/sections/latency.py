"""Latencies of the sides of a comparison at one load level: merged histograms of their runs, never averages."""

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

from apps.comparison.sections.section import Section
from apps.comparison.values import Comparison, Level, Side
from apps.core.answers import Hidden, Name, Shown
from apps.runs.api import queries
from apps.runs.pure import DifferentGrids, HistogramCounts, Percentile, grid_of, merge


@dataclass(frozen=True)
class SideLatency:
    """Latency of a side: of its `runs` that count, the histogram of every transaction of those `with_histogram`, on
    the grid named `grid`.

    Empty: no run has a histogram, or (`problem`) they cannot be merged.
    """

    side: Hidden[Side]
    runs: Annotated[int, "that count"]
    with_histogram: Annotated[int, "of them; their counts are added up, never averaged"]
    problem: Annotated[str, "why the histograms cannot be added; else empty"] = ""
    grid: Annotated[str, "on which the counts lie"] = ""
    buckets: Hidden[tuple[int, ...]] = ()
    counts: Hidden[tuple[int, ...]] = ()

    @property
    def slug(self) -> Annotated[Shown[str], Name("side")]:
        return self.side.slug

    @property
    def count(self) -> Annotated[Shown[int | None], "transactions; null: no histogram, or see `problem`"]:
        return self.merged.count if self.merged else None

    @property
    def quantiles(self) -> Annotated[Shown[tuple[Percentile, ...]], "of all these transactions together, ms"]:
        return self.merged.quantiles if self.merged else ()

    @cached_property
    def merged(self) -> HistogramCounts | None:
        return HistogramCounts(grid_of(self.grid), self.buckets, self.counts) if self.grid else None


def latencies(comparison: Comparison, level: Level) -> list[SideLatency]:
    """The sides with runs at this level, in their order; one query."""
    runs = [run for run in comparison.counted if run.level == level.id]
    found: dict[int, list[HistogramCounts]] = defaultdict(list)
    for one in queries.distributions([run.id for run in runs]):
        found[one.run_id].append(one.distribution)
    sides = []
    for side in comparison.sides:
        own = [run.id for run in runs if run.side == side.slug]
        if own:
            sides.append(_merged(side, len(own), [found[run] for run in own if run in found]))
    return sides


def _merged(side: Side, runs: int, found: list[list[HistogramCounts]]) -> SideLatency:
    if not found:
        return SideLatency(side, runs, 0)
    try:
        merged = merge([one for each in found for one in each])
    except DifferentGrids as error:
        return SideLatency(side, runs, len(found), str(error))
    return SideLatency(side, runs, len(found), "", merged.grid.id, merged.buckets, merged.counts)


def _read(comparison: Comparison, level: Level | None) -> list[SideLatency]:
    return latencies(comparison, level) if level else []


SECTION = Section("latency", list[SideLatency], _read, by_level=True)
