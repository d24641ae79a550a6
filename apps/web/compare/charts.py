"""Data of the Compare page's charts, computed in the server so that the browser only draws."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from apps.comparison.api import RunTimeline, newest
from apps.comparison.pure import MARGIN, ComparedMetric, Comparison, Level, Ratio, interval_text, label, ratio_text
from apps.runs.pure import CLIENT
from apps.web.components.ticks import linear_ticks, log_ticks
from apps.web.runs.steps import UNMARKED

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


def chart_data(comparison: Comparison, view: SeriesView) -> dict[str, Any]:
    """Plain JSON; infinite bounds become null."""
    points = _points(comparison)
    ratios = draw_ratios(points)
    return {
        "sides": drawn_sides(comparison),
        "levels": [
            {"key": level.key, "text": level.text, "threads": level.threads, "rate": level.rate}
            for level in comparison.levels
        ],
        "metrics": [_metric(metric) for metric in comparison.metrics if metric.kind != "errors"],
        "threads": threads_axis([level.threads for level in comparison.levels]),
        "ratios": ratios,
        "margin": MARGIN,
        "points": points,
        "series": _series(comparison, view),
    }


def drawn_sides(comparison: Comparison) -> list[dict[str, Any]]:
    return [{"slug": side.slug, "name": side.name, "position": side.position} for side in comparison.sides]


def _metric(metric: ComparedMetric) -> dict[str, Any]:
    quantity = label(metric)
    return {
        "key": metric.key,
        "kind": metric.kind,
        "label": quantity[:1].upper() + quantity[1:],
        "unit": metric.unit,
        "direction": metric.direction.value,
    }


def threads_axis(threads: Sequence[int]) -> dict[str, Any]:
    """Ticks at the measured load levels, with margins."""
    ticks = sorted(set(threads)) or [1]
    first, last = ticks[0], ticks[-1]
    if last > WIDE_LEVELS * first:
        room = (last / first) ** 0.08
        return {"ticks": ticks, "scale": "log", "range": [first / room, last * room]}
    room = (last - first) * 0.08 or 1
    return {"ticks": ticks, "scale": "linear", "range": [first - room, last + room]}


def draw_ratios(points: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One axis for the ratios of all metrics, so that they are visually comparable; `ends`: where cut bars end.

    Adds to each point its interval as drawn, and which of its ends are cut.
    """
    band = [1 / (1 + MARGIN), 1 + MARGIN]
    ratios = [point["ratio"] for point in points if point["ratio"]] or [1.0]
    lowest, highest = min(ratios), max(ratios)
    seen = [*band, *ratios]
    for point in points:
        if not point["has_interval"]:
            continue
        low, high = point["low"], point["high"]
        seen.append(low if low and low >= lowest / FARTHEST_END else lowest / CUT_ROOM)
        seen.append(high if high is not None and high <= highest * FARTHEST_END else highest * CUT_ROOM)
    low, high = min(seen), max(seen)
    room = (high / low) ** 0.06
    wide = high > WIDE_RATIOS * low
    shown = (low / room, high * room)
    ticks = log_ticks(*shown) if wide else linear_ticks(*shown)
    _draw_bars(points, (low, high))
    return {
        "band": band,
        "scale": "log" if wide else "linear",
        "range": list(shown),
        "ends": [low, high],
        "ticks": ticks,
        "texts": [f"{tick:,.10g}" for tick in ticks],
    }


def _draw_bars(points: Sequence[dict[str, Any]], ends: tuple[float, float]) -> None:
    for point in points:
        low, high = point["low"], point["high"]
        cut = [not low or low < ends[0], high is None or high > ends[1]]
        point["bar"] = [ends[0] if cut[0] else low, ends[1] if cut[1] else high] if point["has_interval"] else None
        point["cut"] = cut if point["has_interval"] else [False, False]


def _points(comparison: Comparison) -> list[dict[str, Any]]:
    levels = {level.id: level for level in comparison.levels}
    positions = {side.slug: side.position for side in comparison.sides}
    shown = {metric.key for metric in comparison.metrics if metric.kind != "errors"}
    return [
        {
            "metric": cell.metric,
            "side": positions[cell.side],
            "level": levels[cell.level].key,
            "threads": levels[cell.level].threads,
            "rate": levels[cell.level].rate,
            "value": cell.summary.value,
            "runs": [{"run": each.run, "value": each.value} for each in cell.replicates],
            "ratio": finite(cell.ratio.value) if cell.ratio else None,
            "low": finite(cell.ratio.low) if cell.ratio else None,
            "high": finite(cell.ratio.high) if cell.ratio else None,
            "has_interval": _has_interval(cell.ratio),
            "ratio_text": f"{ratio_text(cell.ratio)} {interval_text(cell.ratio)}" if cell.ratio else "",
            "words": cell.words,
        }
        for cell in comparison.cells
        if cell.metric in shown and cell.summary is not None
    ]


def timeline_series(comparison: Comparison, view: SeriesView) -> list[tuple[int, str, str]]:
    """Run, metric and node of the newest run of each side: the initial selection of the Timeline page."""
    last = {run.side: run.id for run in newest(comparison, view.level)}
    metrics = [metric.key for metric in comparison.metrics if metric.kind == "throughput"]
    return [(run, metric, CLIENT) for metric in metrics for run in last.values()]


def _series(comparison: Comparison, view: SeriesView) -> dict[str, Any]:
    """The newest runs of each side; `runs_total` over all sides. Times are s on the chosen clock."""
    level = view.level
    positions = {side.slug: side.position for side in comparison.sides}
    known = {clock.run: clock for clock in view.clocks}
    runs = [
        {
            "run": run.id,
            "side": positions[run.side],
            "repetition": run.repetition,
            **_clock(known.get(run.id), view.on_run),
        }
        for run in newest(comparison, level)
    ]
    return {
        "level": level.key if level else None,
        "apart": view.apart,
        "clock": "run" if view.on_run else "measured",
        "runs": runs,
        "runs_total": sum(level is not None and run.level == level.id for run in comparison.counted),
    }


def _clock(clock: RunTimeline | None, on_run: bool) -> dict[str, Any]:
    """Measured phase and events of a run on the chosen clock."""
    if clock is None or clock.measured_from is None or clock.measured_to is None:
        return {"measured": None, "events": []}
    zero = 0.0 if on_run else clock.measured_from
    return {
        "measured": [clock.measured_from - zero, clock.measured_to - zero],
        "events": [
            {
                "kind": event.kind,
                "label": event.label,
                "node": event.node,
                "starts_at": event.starts_at - zero,
                "ends_at": None if event.ends_at is None else event.ends_at - zero,
            }
            for event in clock.events
            if event.kind not in UNMARKED
        ],
    }


def finite(value: float | None) -> float | None:
    """JSON cannot represent infinite bounds: they become None."""
    return value if value is not None and math.isfinite(value) else None


def _has_interval(ratio: Ratio | None) -> bool:
    """True also for an infinite end, which JSON cannot represent."""
    return ratio is not None and ratio.low is not None and ratio.high is not None
