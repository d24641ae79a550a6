"""Data of the load-level charts, computed in the server so that the browser only draws."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from apps.comparison.api import Growing, Ramps
from apps.comparison.pure import PERCENTILES, Comparison, Fit, LoadLevelAnalysis, Side, SideLevels, label
from apps.core.text import counted
from apps.web.compare.charts import drawn_sides, finite, threads_axis
from apps.web.compare.wording import run_words
from apps.web.components.ticks import linear_ticks, log_ticks

# Latencies that differ by more than this factor get a logarithmic axis.
WIDE = 10
ROOM = 1.06
# Number of runs per side, the newest, that are drawn over inserted rows.
GROWTH_RUNS = 20


def load_level_chart(
    comparison: Comparison, found: Ramps, analyses: Sequence[LoadLevelAnalysis], *, limit: float | None
) -> dict[str, Any]:
    """Plain JSON; infinite bounds become null. `limit`: the objective, ms."""
    sides = {side.slug: side for side in comparison.sides}
    latency = next((each for each in comparison.metrics if each.kind == "latency"), None)
    lines = _latency_lines(found.climbs, sides)
    dots = _dots(comparison, latency.key) if latency else []
    quantity = label(found.metric)
    return {
        "sides": drawn_sides(comparison),
        "threads": threads_axis([level.threads for level in comparison.levels]),
        "throughput": {
            "key": found.metric.key,
            "label": quantity[:1].upper() + quantity[1:],
            "unit": found.metric.unit,
            "lines": _typical_lines(comparison, found.metric.key),
            "dots": _dots(comparison, found.metric.key),
            "fits": [_fit(sides[one.side], one.fit) for one in analyses if isinstance(one.fit, Fit)],
        },
        "latency": {
            "key": latency.key if latency else "",
            "percentiles": [f"p{percent:g}" for percent in PERCENTILES],
            "lines": lines,
            "dots": dots,
            "axis": _values_axis([v for line in lines for v in line["values"]] + [dot["value"] for dot in dots], limit),
            "objective": limit,
        },
    }


def _typical_lines(comparison: Comparison, metric: str) -> list[dict[str, Any]]:
    """The values of the table: one line per side and fixed rate."""
    found: dict[tuple[int, float | None], dict[str, Any]] = {}
    sides = {side.slug: side.position for side in comparison.sides}
    levels = {level.id: level for level in comparison.levels}
    for cell in comparison.cells:
        if cell.metric != metric or cell.summary is None:
            continue
        level, runs = levels[cell.level], cell.summary.count
        line = found.setdefault(
            (sides[cell.side], level.rate), {"side": sides[cell.side], "threads": [], "values": [], "texts": []}
        )
        line["threads"].append(level.threads)
        line["values"].append(cell.summary.value)
        line["texts"].append(f"{level.text}, {counted(runs, 'run')}")
    return [found[place] for place in sorted(found, key=lambda place: (place[0], place[1] is not None, place[1] or 0))]


def _dots(comparison: Comparison, metric: str) -> list[dict[str, Any]]:
    """One dot per run of the table."""
    failed = {run.id: run.failed_checks for run in comparison.counted}
    sides = {side.slug: side.position for side in comparison.sides}
    levels = {level.id: level for level in comparison.levels}
    return [
        {
            "side": sides[cell.side],
            "threads": levels[cell.level].threads,
            "text": f"{run_words(each.run, failed.get(each.run, ()))}, {levels[cell.level].text}",
            "run": each.run,
            "value": each.value,
            "doubted": bool(failed.get(each.run)),
        }
        for cell in comparison.cells
        if cell.metric == metric
        for each in cell.replicates
    ]


def _fit(side: Side, fit: Fit) -> dict[str, Any]:
    return {
        "side": side.position,
        "threads": [point.threads for point in fit.curve],
        "values": [point.value for point in fit.curve],
        "low": [point.low for point in fit.curve],
        "high": [finite(point.high) for point in fit.curve],
        "knee": finite(fit.knee.value),
        "peak": finite(fit.peak.value),
    }


def _latency_lines(ramps: Sequence[SideLevels], sides: Mapping[str, Side]) -> list[dict[str, Any]]:
    """Percentiles over all requests; a side without histograms has no line, only dots of its runs."""
    found = []
    for ramp in ramps:
        for percent in PERCENTILES:
            known = [(rung.threads, each) for rung in ramp.rungs if (each := rung.quantile(percent)) is not None]
            whole = [(threads, each.value) for threads, each in known if each.value is not None]
            if whole:
                found.append(
                    {
                        "side": sides[ramp.side].position,
                        "percentile": f"p{percent:g}",
                        "threads": [threads for threads, _ in whole],
                        "values": [value for _, value in whole],
                    }
                )
    return found


def _values_axis(values: Sequence[float], limit: float | None) -> dict[str, Any]:
    seen = [value for value in [*values, *([limit] if limit is not None else [])] if value > 0]
    if not seen:
        return {"scale": "linear", "range": [0, 1], "ticks": [0, 1], "texts": ["0", "1"]}
    low, high = min(seen), max(seen)
    wide = high > WIDE * low
    shown = (low / ROOM, high * ROOM) if wide else (0.0, high * ROOM)
    ticks = log_ticks(*shown) if wide else linear_ticks(*shown)
    return {
        "scale": "log" if wide else "linear",
        "range": list(shown),
        "ticks": ticks,
        "texts": [f"{tick:,.10g}" for tick in ticks],
    }


def growth_chart(comparison: Comparison, grown: Growing) -> dict[str, Any]:
    """Runs as in the REST API, and the range of interval rates over each side's runs."""
    runs = [
        asdict(run)
        for side in comparison.sides
        for run in [each for each in grown.runs if each.side == side.slug][-GROWTH_RUNS:]
    ]
    bands = []
    for side in comparison.sides:
        own = [run for run in grown.runs if run.side == side.slug]
        steps = [[run.stretches[k] for run in own if k < len(run.stretches)] for k in range(_longest(own))]
        bands.append(
            {
                "side": side.position,
                "rows": [(each[0].start + each[0].end) / 2 for each in steps],
                "slowest": [min(stretch.slowest for stretch in each) for each in steps],
                "fastest": [max(stretch.fastest for stretch in each) for each in steps],
            }
        )
    return {
        "sides": drawn_sides(comparison),
        "runs": runs,
        "bands": bands,
        "shared": grown.shared,
    }


def _longest(runs: Sequence[Any]) -> int:
    return max((len(run.stretches) for run in runs), default=0)
