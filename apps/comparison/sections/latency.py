"""Latencies of the sides of a comparison at one load level: merged histograms of their runs, never averages."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from apps.comparison.sections.section import Section
from apps.comparison.values import Comparison, Level, Side
from apps.runs.api import queries
from apps.runs.pure import DifferentGrids, HistogramCounts, grid_of, merge


@dataclass(frozen=True)
class SideLatency:
    """Latency of a side: of its `runs` that count, `merged` holds every transaction of those `with_histogram`.

    None: no run has a histogram, or (`problem`) they cannot be merged.
    """

    side: Side
    runs: int
    with_histogram: int
    merged: HistogramCounts | None
    problem: str = ""


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
    try:
        merged = merge([one for each in found for one in each]) if found else None
    except DifferentGrids as error:
        return SideLatency(side, runs, len(found), None, str(error))
    return SideLatency(side, runs, len(found), merged)


@dataclass(frozen=True)
class KeptLatency:
    """A SideLatency as stored in snapshots: its grid by name; no `grid`: nothing was merged."""

    side: Side
    runs: int
    with_histogram: int
    problem: str
    grid: str
    buckets: tuple[int, ...]
    counts: tuple[int, ...]


def _pack(sides: list[SideLatency]) -> list[KeptLatency]:
    return [
        KeptLatency(
            side=one.side,
            runs=one.runs,
            with_histogram=one.with_histogram,
            problem=one.problem,
            grid=one.merged.grid.id if one.merged else "",
            buckets=one.merged.buckets if one.merged else (),
            counts=one.merged.counts if one.merged else (),
        )
        for one in sides
    ]


def _unpack(kept: Sequence[KeptLatency]) -> list[SideLatency]:
    return [
        SideLatency(
            side=one.side,
            runs=one.runs,
            with_histogram=one.with_histogram,
            merged=HistogramCounts(grid_of(one.grid), one.buckets, one.counts) if one.grid else None,
            problem=one.problem,
        )
        for one in kept
    ]


def _read(comparison: Comparison, level: Level | None) -> list[SideLatency]:
    return latencies(comparison, level) if level else []


READING = Section("latency", list[KeptLatency], _read, by_level=True, pack=_pack, unpack=_unpack)
