"""Data of the Compare page's charts, computed in the server so that the browser only draws."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from apps.comparison.api import ClockEvent, RunTimeline, newest
from apps.comparison.pure import (
    MARGIN,
    Cell,
    ComparedMetric,
    ComparedRun,
    Comparison,
    Direction,
    Level,
    Ratio,
    Replicate,
    interval_text,
    label,
    ratio_text,
)
from apps.core.answers import Hidden, Unbounded
from apps.runs.pure import CLIENT
from apps.web.components.ticks import linear_ticks, log_ticks
from apps.web.runs.latency import LatencyChart
from apps.web.runs.steps import UNMARKED

Scale = Literal["linear", "log"]
Span = tuple[float, float]

# Thread counts, or ratios, that span more than this factor get a logarithmic axis.
WIDE_LEVELS = 8
WIDE_RATIOS = 4
# An interval's end farther than this multiple of the outermost ratio is cut, or it would flatten the others; a cut bar
# reaches the second multiple.
FARTHEST_END = 10
CUT_ROOM = 2


@dataclass(frozen=True)
class SeriesView:
    """Content of the timeline chart: the seconds of one load level; `apart`: one panel per side.

    `clocks`: timelines of the drawn runs; `on_run`: t = 0 is the start of the run, not of its measured phase.
    """

    level: Level | None
    apart: bool
    clocks: tuple[RunTimeline, ...] = ()
    on_run: bool = False


@dataclass(frozen=True)
class ChartSide:
    slug: str
    name: str
    position: int
    tone: Annotated[int, "place in the palette"]


@dataclass(frozen=True)
class ChartLevel:
    key: str
    text: str
    threads: int
    rate: float | None


@dataclass(frozen=True)
class ChartMetric:
    key: str
    kind: str
    label: str
    unit: str
    direction: Direction


@dataclass(frozen=True)
class ThreadsAxis:
    ticks: Sequence[int]
    scale: Scale
    range: Span


@dataclass(frozen=True)
class RatioAxis:
    """`band`: of equivalence. `ends`: where cut bars end."""

    band: Span
    scale: Scale
    range: Span
    ends: Hidden[Span]
    ticks: Sequence[float]
    texts: Sequence[str]


@dataclass(frozen=True)
class RatioPoint:
    """One side at one load level: the value shown, its runs, and its ratio to the baseline with the 95 % interval.

    `ratio_text`: ratio and interval as in the table. `bar`: the interval as drawn; None: there is none. `cut`: whether
    its lower and upper end lie beyond the bar.
    """

    metric: str
    side: int
    level: str
    threads: int
    rate: float | None
    value: float
    runs: Sequence[Replicate]
    ratio: Unbounded | None
    low: Unbounded | None
    high: Unbounded | None
    bar: Span | None
    cut: tuple[bool, bool]
    ratio_text: str
    words: str


@dataclass(frozen=True)
class SecondsRun:
    """A run whose seconds are drawn; times are s on the chosen clock. `measured` None: unknown."""

    run: int
    side: int
    repetition: int
    measured: Span | None
    events: Sequence[ClockEvent]


@dataclass(frozen=True)
class SecondsView:
    """The newest runs of each side at a load level; `runs_total` over all sides."""

    level: str | None
    apart: bool
    clock: Literal["run", "measured"]
    runs: Sequence[SecondsRun]
    runs_total: Hidden[int]


@dataclass(frozen=True)
class CompareCharts:
    """`latency`: of the level of `series`, every side's runs together; None: none has a histogram."""

    sides: Sequence[ChartSide]
    levels: Sequence[ChartLevel]
    metrics: Sequence[ChartMetric]
    threads: ThreadsAxis
    ratios: RatioAxis
    points: Sequence[RatioPoint]
    series: SecondsView
    latency: LatencyChart | None


def charts(comparison: Comparison, view: SeriesView, latency: LatencyChart | None) -> CompareCharts:
    shown = {metric.key for metric in comparison.metrics if metric.kind != "errors"}
    cells = [cell for cell in comparison.cells if cell.metric in shown and cell.summary is not None]
    axis = ratio_axis(cell.ratio for cell in cells)
    return CompareCharts(
        sides=chart_sides(comparison),
        levels=[ChartLevel(level.key, level.text, level.threads, level.rate) for level in comparison.levels],
        metrics=[_metric(metric) for metric in comparison.metrics if metric.kind != "errors"],
        threads=threads_axis([level.threads for level in comparison.levels]),
        ratios=axis,
        points=_points(comparison, cells, axis),
        series=_seconds(comparison, view),
        latency=latency,
    )


def chart_sides(comparison: Comparison) -> list[ChartSide]:
    return [ChartSide(side.slug, side.name, side.position, side.tone) for side in comparison.sides]


def _metric(metric: ComparedMetric) -> ChartMetric:
    quantity = label(metric)
    return ChartMetric(
        metric.key, metric.kind, quantity[:1].upper() + quantity[1:], metric.unit, Direction(metric.direction)
    )


def threads_axis(threads: Sequence[int]) -> ThreadsAxis:
    """Ticks at the measured load levels, with margins."""
    ticks = sorted(set(threads)) or [1]
    first, last = ticks[0], ticks[-1]
    if last > WIDE_LEVELS * first:
        room = (last / first) ** 0.08
        return ThreadsAxis(ticks, "log", (first / room, last * room))
    room = (last - first) * 0.08 or 1
    return ThreadsAxis(ticks, "linear", (first - room, last + room))


def ratio_axis(ratios: Iterable[Ratio | None]) -> RatioAxis:
    """One axis for the ratios of all metrics, so that they are visually comparable."""
    known = [ratio for ratio in ratios if ratio]
    band = (1 / (1 + MARGIN), 1 + MARGIN)
    values = [ratio.value for ratio in known if ratio.value and math.isfinite(ratio.value)] or [1.0]
    lowest, highest = min(values), max(values)
    seen = [*band, *values]
    for ratio in known:
        if ratio.low is None or ratio.high is None:
            continue
        seen.append(ratio.low if ratio.low and ratio.low >= lowest / FARTHEST_END else lowest / CUT_ROOM)
        seen.append(ratio.high if ratio.high <= highest * FARTHEST_END else highest * CUT_ROOM)
    low, high = min(seen), max(seen)
    room = (high / low) ** 0.06
    wide = high > WIDE_RATIOS * low
    shown = (low / room, high * room)
    ticks = log_ticks(*shown) if wide else linear_ticks(*shown)
    return RatioAxis(
        band=band,
        scale="log" if wide else "linear",
        range=shown,
        ends=(low, high),
        ticks=ticks,
        texts=[f"{tick:,.10g}" for tick in ticks],
    )


def ratio_bar(ratio: Ratio | None, axis: RatioAxis) -> tuple[Span | None, tuple[bool, bool]]:
    """The interval as drawn, None: there is none; and whether its lower and upper end are cut."""
    if ratio is None or ratio.low is None or ratio.high is None:
        return None, (False, False)
    first, last = axis.ends
    is_low_shown, is_high_shown = bool(ratio.low) and ratio.low >= first, ratio.high <= last
    bar = (ratio.low if is_low_shown else first, ratio.high if is_high_shown else last)
    return bar, (not is_low_shown, not is_high_shown)


def _points(comparison: Comparison, cells: Iterable[Cell], axis: RatioAxis) -> list[RatioPoint]:
    levels = {level.id: level for level in comparison.levels}
    positions = {side.slug: side.position for side in comparison.sides}
    found = []
    for cell in cells:
        if cell.summary is None:
            continue
        ratio, level = cell.ratio, levels[cell.level]
        bar, cut = ratio_bar(ratio, axis)
        found.append(
            RatioPoint(
                metric=cell.metric,
                side=positions[cell.side],
                level=level.key,
                threads=level.threads,
                rate=level.rate,
                value=cell.summary.value,
                runs=cell.replicates,
                ratio=ratio.value if ratio else None,
                low=ratio.low if ratio else None,
                high=ratio.high if ratio else None,
                bar=bar,
                cut=cut,
                ratio_text=f"{ratio_text(ratio)} {interval_text(ratio)}" if ratio else "",
                words=cell.words,
            )
        )
    return found


def timeline_series(comparison: Comparison, view: SeriesView) -> list[tuple[int, str, str]]:
    """Run, metric and node of the newest run of each side: the initial selection of the Timeline page."""
    last = {run.side: run.id for run in newest(comparison, view.level)}
    metrics = [metric.key for metric in comparison.metrics if metric.kind == "throughput"]
    return [(run, metric, CLIENT) for metric in metrics for run in last.values()]


def _seconds(comparison: Comparison, view: SeriesView) -> SecondsView:
    level = view.level
    positions = {side.slug: side.position for side in comparison.sides}
    known = {clock.run: clock for clock in view.clocks}
    return SecondsView(
        level=level.key if level else None,
        apart=view.apart,
        clock="run" if view.on_run else "measured",
        runs=[
            _seconds_run(run, positions[run.side], known.get(run.id), view.on_run) for run in newest(comparison, level)
        ],
        runs_total=sum(level is not None and run.level == level.id for run in comparison.counted),
    )


def _seconds_run(run: ComparedRun, side: int, clock: RunTimeline | None, on_run: bool) -> SecondsRun:
    """Measured phase and events are on the chosen clock."""
    if clock is None or clock.measured_from is None or clock.measured_to is None:
        return SecondsRun(run.id, side, run.repetition, None, ())
    zero = 0.0 if on_run else clock.measured_from
    events = [
        replace(
            event,
            starts_at=event.starts_at - zero,
            ends_at=None if event.ends_at is None else event.ends_at - zero,
        )
        for event in clock.events
        if event.kind not in UNMARKED
    ]
    measured = (clock.measured_from - zero, clock.measured_to - zero)
    return SecondsRun(run.id, side, run.repetition, measured, events)
