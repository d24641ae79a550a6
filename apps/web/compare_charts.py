"""The numbers of the Compare page's charts, computed here so that the browser only draws them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from apps.comparison.stats import MARGIN
from apps.comparison.values import ComparedMetric, Comparison, Level
from apps.web.compare_words import label

# A ladder of threads, or ratios, wider than this are drawn on a logarithmic axis.
WIDE_LADDER = 8
WIDE_RATIOS = 4
# An interval is drawn as far as this multiple of the outermost ratio.
MOST_ROOM = 3


@dataclass(frozen=True)
class SeriesView:
    """Which seconds are overlaid: those of one load level; `apart`: a panel per side instead of one for all."""

    level: Level | None
    apart: bool


def chart_data(comparison: Comparison, view: SeriesView) -> dict[str, Any]:
    """All of it as plain JSON; infinite bounds become null."""
    points = _points(comparison)
    return {
        "sides": [{"slug": side.slug, "name": side.name, "position": side.position} for side in comparison.sides],
        "levels": [
            {"key": level.key, "text": level.text, "threads": level.threads, "rate": level.rate}
            for level in comparison.levels
        ],
        "metrics": [_metric(metric) for metric in comparison.metrics if metric.kind != "errors"],
        "threads": _threads_axis(comparison),
        "ratios": _ratio_axis(points),
        "margin": MARGIN,
        "points": points,
        "series": _series(comparison, view),
    }


def _metric(metric: ComparedMetric) -> dict[str, Any]:
    quantity = label(metric)
    return {
        "key": metric.key,
        "kind": metric.kind,
        "label": quantity[:1].upper() + quantity[1:],
        "unit": metric.unit,
        "direction": metric.direction.value,
    }


def _threads_axis(comparison: Comparison) -> dict[str, Any]:
    """Ticks at the load levels that were run, with room for the outer ones."""
    ticks = sorted({level.threads for level in comparison.levels}) or [1]
    first, last = ticks[0], ticks[-1]
    if last > WIDE_LADDER * first:
        room = (last / first) ** 0.08
        return {"ticks": ticks, "scale": "log", "range": [first / room, last * room]}
    room = (last - first) * 0.08 or 1
    return {"ticks": ticks, "scale": "linear", "range": [first - room, last + room]}


def _ratio_axis(points: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One axis for the ratios of all metrics, so that their heights can be compared."""
    band = [1 / (1 + MARGIN), 1 + MARGIN]
    ratios = [point["ratio"] for point in points if point["ratio"]]
    # A side told with few runs may have an endless interval: it must not flatten the others.
    floor, ceiling = (min(ratios) / MOST_ROOM, max(ratios) * MOST_ROOM) if ratios else (0, math.inf)
    ends = [point[end] for point in points for end in ("low", "high") if point[end]]
    seen = [*band, *ratios, *(min(max(end, floor), ceiling) for end in ends)]
    low, high = min(seen), max(seen)
    room = (high / low) ** 0.06
    wide = high > WIDE_RATIOS * low
    return {"band": band, "scale": "log" if wide else "linear", "range": [low / room, high * room]}


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
            "ratio": _finite(cell.ratio.value) if cell.ratio else None,
            "low": _finite(cell.ratio.low) if cell.ratio else None,
            "high": _finite(cell.ratio.high) if cell.ratio else None,
            "words": cell.words,
        }
        for cell in comparison.cells
        if cell.metric in shown and cell.summary is not None
    ]


def _series(comparison: Comparison, view: SeriesView) -> dict[str, Any]:
    positions = {side.slug: side.position for side in comparison.sides}
    return {
        "level": view.level.key if view.level else None,
        "apart": view.apart,
        "runs": [
            {"run": run.id, "side": positions[run.side], "repetition": run.repetition}
            for run in comparison.counted
            if view.level is not None and run.level == view.level.id
        ],
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
