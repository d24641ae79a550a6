"""Data of the load-level charts, computed in the server so that the browser only draws."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.comparison.api import Growing, Ramps, RunGrowth
from apps.comparison.pure import (
    PERCENTILES,
    Comparison,
    Fit,
    Level,
    LoadLevelAnalysis,
    NoFit,
    Side,
    SideLevels,
    ThroughputCap,
    label,
)
from apps.core.answers import Unbounded
from apps.core.text import counted
from apps.web.compare.charts import ChartSide, Scale, Span, ThreadsAxis, chart_sides, threads_axis
from apps.web.compare.wording import run_words
from apps.web.components.ticks import linear_ticks, log_ticks

# Latencies that differ by more than this factor get a logarithmic axis.
WIDE = 10
ROOM = 1.06
# Number of runs per side, the newest, that are drawn over inserted rows.
GROWTH_RUNS = 20


@dataclass(frozen=True)
class LevelDot:
    """One run. `doubted`: it failed a quality check."""

    side: int
    threads: int
    text: str
    run: int
    value: float
    doubted: bool


@dataclass(frozen=True)
class ThroughputLine:
    """The values of the table: one line per side and fixed rate."""

    side: int
    threads: Sequence[int]
    values: Sequence[float]
    texts: Sequence[str]


@dataclass(frozen=True)
class FitCurve:
    """The fitted law of a side, or its cap, with the 95 % band; `knee`, `peak` infinite: the curve has none."""

    side: int
    threads: Sequence[float]
    values: Sequence[float]
    low: Sequence[float]
    high: Sequence[Unbounded]
    knee: Unbounded
    peak: Unbounded


@dataclass(frozen=True)
class ThroughputPanel:
    key: str
    label: str
    unit: str
    lines: Sequence[ThroughputLine]
    dots: Sequence[LevelDot]
    fits: Sequence[FitCurve]


@dataclass(frozen=True)
class PercentileLine:
    """A percentile over all requests of a side."""

    side: int
    percentile: str
    threads: Sequence[int]
    values: Sequence[float]


@dataclass(frozen=True)
class LatencyAxis:
    scale: Scale
    range: Span
    ticks: Sequence[float]
    texts: Sequence[str]


@dataclass(frozen=True)
class LatencyPanel:
    """`objective`: ms; None: not set."""

    key: str
    lines: Sequence[PercentileLine]
    dots: Sequence[LevelDot]
    axis: LatencyAxis
    objective: float | None


@dataclass(frozen=True)
class LoadLevelCharts:
    sides: Sequence[ChartSide]
    threads: ThreadsAxis
    throughput: ThroughputPanel
    latency: LatencyPanel


@dataclass(frozen=True)
class GrowthBand:
    """Range of interval rates over a side's runs, at the middle of each stretch of rows."""

    side: int
    rows: Sequence[float]
    slowest: Sequence[float]
    fastest: Sequence[float]


@dataclass(frozen=True)
class GrowthChart:
    """`runs`: the newest of each side. `shared`: rows that every run inserted."""

    sides: Sequence[ChartSide]
    runs: Sequence[RunGrowth]
    bands: Sequence[GrowthBand]
    shared: float


def load_level_charts(
    comparison: Comparison, found: Ramps, analyses: Sequence[LoadLevelAnalysis], *, limit: float | None
) -> LoadLevelCharts:
    """`limit`: the objective, ms."""
    sides = {side.slug: side for side in comparison.sides}
    latency = next((each for each in comparison.metrics if each.kind == "latency"), None)
    lines = _latency_lines(found.climbs, sides)
    dots = _dots(comparison, latency.key) if latency else []
    quantity = label(found.metric)
    values = [value for line in lines for value in line.values] + [dot.value for dot in dots]
    return LoadLevelCharts(
        sides=chart_sides(comparison),
        threads=threads_axis([level.threads for level in comparison.levels]),
        throughput=ThroughputPanel(
            key=found.metric.key,
            label=quantity[:1].upper() + quantity[1:],
            unit=found.metric.unit,
            lines=_typical_lines(comparison, found.metric.key),
            dots=_dots(comparison, found.metric.key),
            fits=[curve for one in analyses if (curve := _fit(sides[one.side], one.fit))],
        ),
        latency=LatencyPanel(
            key=latency.key if latency else "",
            lines=lines,
            dots=dots,
            axis=_values_axis(values, limit),
            objective=limit,
        ),
    )


def _drawn(comparison: Comparison) -> dict[int, Level]:
    """By id; at a fixed rate a level says nothing about the growth with threads: it is drawn where all have one."""
    free = {level.id: level for level in comparison.levels if level.rate is None}
    return free or {level.id: level for level in comparison.levels}


def _typical_lines(comparison: Comparison, metric: str) -> list[ThroughputLine]:
    found: dict[tuple[int, float | None], list[tuple[int, float, str]]] = defaultdict(list)
    sides = {side.slug: side.position for side in comparison.sides}
    levels = _drawn(comparison)
    for cell in comparison.cells:
        if cell.metric != metric or cell.summary is None or cell.level not in levels:
            continue
        level, runs = levels[cell.level], cell.summary.count
        point = level.threads, cell.summary.value, f"{level.text}, {counted(runs, 'run')}"
        found[sides[cell.side], level.rate].append(point)
    return [
        ThroughputLine(
            side=place[0],
            threads=[threads for threads, _, _ in found[place]],
            values=[value for _, value, _ in found[place]],
            texts=[text for _, _, text in found[place]],
        )
        for place in sorted(found, key=lambda place: (place[0], place[1] is not None, place[1] or 0))
    ]


def _dots(comparison: Comparison, metric: str) -> list[LevelDot]:
    """One dot per run of the table."""
    failed = {run.id: run.failed_checks for run in comparison.counted}
    sides = {side.slug: side.position for side in comparison.sides}
    levels = _drawn(comparison)
    return [
        LevelDot(
            side=sides[cell.side],
            threads=levels[cell.level].threads,
            text=f"{run_words(each.run, failed.get(each.run, ()))}, {levels[cell.level].text}",
            run=each.run,
            value=each.value,
            doubted=bool(failed.get(each.run)),
        )
        for cell in comparison.cells
        if cell.metric == metric and cell.level in levels
        for each in cell.replicates
    ]


def _fit(side: Side, fit: Fit | NoFit) -> FitCurve | None:
    """Of a cap where the law does not fit: the throughput at which it stays."""
    if isinstance(fit, NoFit):
        return _cap(side, fit.cap) if fit.cap else None
    return FitCurve(
        side=side.position,
        threads=[point.threads for point in fit.curve],
        values=[point.value for point in fit.curve],
        low=[point.low for point in fit.curve],
        high=[point.high for point in fit.curve],
        knee=fit.knee.value,
        peak=fit.peak.value,
    )


def _cap(side: Side, cap: ThroughputCap) -> FitCurve:
    stays = cap.throughput
    return FitCurve(
        side=side.position,
        threads=[cap.threads, cap.last],
        values=[stays.value] * 2,
        low=[stays.low] * 2,
        high=[stays.high] * 2,
        knee=cap.threads,
        peak=math.inf,
    )


def _latency_lines(ramps: Sequence[SideLevels], sides: Mapping[str, Side]) -> list[PercentileLine]:
    """A side without histograms has no line, only dots of its runs."""
    found = []
    for ramp in ramps:
        for percent in PERCENTILES:
            known = [(load.threads, each) for load in ramp.levels if (each := load.quantile(percent)) is not None]
            whole = [(threads, each.value) for threads, each in known if each.value is not None]
            if whole:
                found.append(
                    PercentileLine(
                        side=sides[ramp.side].position,
                        percentile=f"p{percent:g}",
                        threads=[threads for threads, _ in whole],
                        values=[value for _, value in whole],
                    )
                )
    return found


def _values_axis(values: Sequence[float], limit: float | None) -> LatencyAxis:
    seen = [value for value in [*values, *([limit] if limit is not None else [])] if value > 0]
    if not seen:
        return LatencyAxis("linear", (0, 1), (0, 1), ("0", "1"))
    low, high = min(seen), max(seen)
    wide = high > WIDE * low
    shown = (low / ROOM, high * ROOM) if wide else (0.0, high * ROOM)
    ticks = log_ticks(*shown) if wide else linear_ticks(*shown)
    return LatencyAxis("log" if wide else "linear", shown, ticks, [f"{tick:,.10g}" for tick in ticks])


def growth_chart(comparison: Comparison, grown: Growing) -> GrowthChart:
    by_side = [(side, [run for run in grown.runs if run.side == side.slug]) for side in comparison.sides]
    return GrowthChart(
        sides=chart_sides(comparison),
        runs=[run for _, own in by_side for run in own[-GROWTH_RUNS:]],
        bands=[_band(side, own) for side, own in by_side],
        shared=grown.shared,
    )


def _band(side: Side, runs: Sequence[RunGrowth]) -> GrowthBand:
    longest = max((len(run.stretches) for run in runs), default=0)
    steps = [[run.stretches[k] for run in runs if k < len(run.stretches)] for k in range(longest)]
    return GrowthBand(
        side=side.position,
        rows=[(each[0].start + each[0].end) / 2 for each in steps],
        slowest=[min(stretch.slowest for stretch in each) for each in steps],
        fastest=[max(stretch.fastest for stretch in each) for each in steps],
    )
