"""Data of the Compare page's charts, computed in the server so that the browser only draws."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from apps.comparison.api import compare
from apps.comparison.pure import (
    MARGIN,
    Cell,
    ComparedMetric,
    Comparison,
    Direction,
    Level,
    Ratio,
    Replicate,
    label,
    with_interval,
)
from apps.core.answers import Hidden, Unbounded
from apps.core.units import format_number
from apps.web.components.ticks import linear_ticks, log_ticks

Scale = Literal["linear", "log"]
Span = tuple[float, float]

# Thread counts that span more than this factor get a logarithmic axis; ratios always have one, and from this on also
# its ticks.
WIDE_LEVELS = 8
WIDE_RATIOS = 4
# An interval's end farther than this multiple of the outermost ratio is cut, or it would flatten the others; a cut bar
# reaches the second multiple.
FARTHEST_END = 10
CUT_ROOM = 2
# Margin of a curve's axis, as a factor; fewer round numbers than these do not make a logarithmic axis readable.
CURVE_ROOM = 1.08
FEWEST_TICKS = 3


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
    """`figure`: id of the chart of its ratios."""

    key: str
    kind: str
    label: str
    unit: str
    direction: Direction
    figure: Hidden[str]


@dataclass(frozen=True)
class ThreadsAxis:
    ticks: Sequence[int]
    scale: Scale
    range: Span


@dataclass(frozen=True)
class RatioAxis:
    """Logarithmic: 0.5 and 2 are mirror images. `band`: of equivalence. `ends`: where cut bars end."""

    band: Span
    range: Span
    ends: Hidden[Span]
    ticks: Sequence[float]
    texts: Sequence[str]


@dataclass(frozen=True)
class RatioPoint:
    """One side at one load level: the value shown, its runs, and its ratio to the baseline with the 95 % interval.

    `lowest`, `highest`: of the runs. `ratio_text`: ratio and interval as in the table; without an interval, why. `bar`:
    the interval as drawn; None: there is none. `cut`: whether its lower and upper end lie beyond the bar.
    """

    metric: str
    side: int
    level: str
    threads: int
    rate: float | None
    value: float
    value_text: str
    lowest: float
    highest: float
    runs: Sequence[Replicate]
    ratio: Unbounded | None
    low: Unbounded | None
    high: Unbounded | None
    bar: Span | None
    cut: tuple[bool, bool]
    ratio_text: str
    words: str


@dataclass(frozen=True)
class CurveAxis:
    """The values of a metric over the load levels: throughput from zero, latency on a logarithmic axis."""

    metric: str
    scale: Scale
    range: Span
    ticks: Sequence[float]
    texts: Sequence[str]


@dataclass(frozen=True)
class CompareCharts:
    """`chosen`: key of the chosen load level. `curves`: of the metrics that are drawn over the load levels."""

    sides: Sequence[ChartSide]
    levels: Sequence[ChartLevel]
    chosen: str | None
    metrics: Sequence[ChartMetric]
    threads: ThreadsAxis
    ratios: RatioAxis
    curves: Sequence[CurveAxis]
    points: Sequence[RatioPoint]


def charts(comparison: Comparison, level: Level | None) -> CompareCharts:
    shown = {metric.key for metric in comparison.metrics if metric.kind != "errors"}
    cells = [cell for cell in comparison.cells if cell.metric in shown and cell.summary is not None]
    axis = ratio_axis(cell.ratio for cell in cells)
    return CompareCharts(
        sides=chart_sides(comparison),
        levels=[ChartLevel(level.key, level.text, level.threads, level.rate) for level in comparison.levels],
        chosen=level.key if level else None,
        metrics=chart_metrics(comparison),
        threads=threads_axis([level.threads for level in comparison.levels]),
        ratios=axis,
        curves=[_curve_axis(metric, cells) for metric in curve_metrics(comparison)],
        points=_points(comparison, cells, axis),
    )


def chart_metrics(comparison: Comparison) -> list[ChartMetric]:
    """All but errors, the primary one first; throughput last where it has no ratio, since every load has a rate."""
    metrics = [metric for metric in comparison.metrics if metric.kind != "errors"]
    is_asked = all(level.rate is not None for level in comparison.levels)
    ordered = sorted(metrics, key=lambda each: (is_asked and each.key == compare.THROUGHPUT, not each.primary))
    return [_metric(metric) for metric in ordered]


def curve_metrics(comparison: Comparison) -> list[ChartMetric]:
    """The primary metric and the latency percentile."""
    found = chart_metrics(comparison)
    return [*found[:1], *sorted(found[1:], key=lambda metric: metric.kind != "latency")[:1]]


def _curve_axis(metric: ChartMetric, cells: Iterable[Cell]) -> CurveAxis:
    summaries = [cell.summary for cell in cells if cell.metric == metric.key and cell.summary]
    ends = [end for each in summaries for end in (each.minimum, each.maximum)] or [0.0]
    low, high = min(ends), max(ends) or 1.0
    if metric.kind == "latency" and low > 0:
        shown = (low / CURVE_ROOM, high * CURVE_ROOM)
        ticks = log_ticks(*shown)
        ticks = ticks if len(ticks) >= FEWEST_TICKS else linear_ticks(*shown)
    else:
        shown = (min(low, 0.0), high * CURVE_ROOM if high > 0 else 1.0)
        ticks = linear_ticks(*shown)
    scale: Scale = "log" if metric.kind == "latency" and low > 0 else "linear"
    return CurveAxis(metric.key, scale, shown, ticks, [f"{tick:,.10g}" for tick in ticks])


def chart_sides(comparison: Comparison) -> list[ChartSide]:
    return [ChartSide(side.slug, side.name, side.position, side.tone) for side in comparison.sides]


def _metric(metric: ComparedMetric) -> ChartMetric:
    quantity = label(metric)
    title = quantity if metric.kind == "latency" else quantity[:1].upper() + quantity[1:]
    figure = f"chart-ratio-{metric.key.replace('.', '-')}"
    return ChartMetric(metric.key, metric.kind, title, metric.unit, Direction(metric.direction), figure)


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
    """One logarithmic axis for the ratios of all metrics, so that they are visually comparable."""
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


def _ratio_text(ratio: Ratio | None, words: str) -> str:
    """No ratio is shown without its interval."""
    if ratio is None:
        return ""
    return words if ratio.low is None else with_interval(ratio)


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
                value_text=format_number(cell.summary.value),
                lowest=cell.summary.minimum,
                highest=cell.summary.maximum,
                runs=cell.replicates,
                ratio=ratio.value if ratio else None,
                low=ratio.low if ratio else None,
                high=ratio.high if ratio else None,
                bar=bar,
                cut=cut,
                ratio_text=_ratio_text(ratio, cell.words),
                words=cell.words,
            )
        )
    return found
