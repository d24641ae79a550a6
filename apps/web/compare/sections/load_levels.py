"""The load-level part of the Compare page: throughput and latency over threads, with the scalability fit."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from apps.comparison.api import Growing, Ramps, load_level_data, table_growth, time_to_finish
from apps.comparison.pure import (
    FEWEST_RUNS,
    PERCENTILES,
    ComparedRun,
    Comparison,
    Estimate,
    Fit,
    LoadLevelAnalysis,
    NoFit,
    ObjectiveState,
    Ratio,
    Reach,
    Rested,
    Side,
    SideLevels,
    Verdict,
    interval_text,
    label,
    load_level_analysis,
    ratio_text,
)
from apps.core.problems import FieldProblem, Invalid
from apps.core.text import counted
from apps.core.units import NBSP, all_digits, format_number, with_unit
from apps.web.compare.sections.load_level_charts import growth_chart, load_level_charts
from apps.web.compare.view import CompareAddress, CompareView
from apps.web.compare.wording import TableRow, answers, doubted_runs, table

USUAL_PERCENTILE = 95.0
# Below this p value, the misfit of the curve is reported.
MISFIT = 0.01


@dataclass(frozen=True)
class Objective:
    """The latency objective of a percentile; `limit` in ms, None: not set."""

    percent: float
    limit: float | None


@dataclass(frozen=True)
class ValueText:
    """A value with its interval, as text; `note`: why there is no interval, or a caution."""

    value: str = ""
    interval: str = ""
    note: str = ""
    title: str = ""


@dataclass(frozen=True)
class SideFacts:
    """A row of the table of sides. `refused`: why there is no fit. `is_one_session`: `reach` holds for one session
    alone."""

    side: Side
    best: str
    refused: str
    few_runs: bool
    knee: ValueText
    peak: ValueText
    peak_throughput: ValueText
    contention: ValueText
    coherency: ValueText
    fits: str
    collapse: ValueText
    reach: str
    reach_title: str
    is_one_session: bool


@dataclass(frozen=True)
class LevelFacts:
    """A row of the table of levels: a side at a level.

    `latencies` in the order of PERCENTILES. `row`: the matching row of the answer's table.
    """

    side: Side
    threads: int
    row: TableRow
    latencies: tuple[ValueText, ...]
    saturation: ValueText
    objective: str
    objective_title: str


def context(seen: CompareView) -> dict[str, Any] | None:
    """Raises Invalid for an invalid objective."""
    objective = objective_of(seen.address)
    found = seen.read(load_level_data.SECTION)
    grown = seen.read(table_growth.SECTION)
    finished = seen.read(time_to_finish.SECTION)
    if found is None:
        return None
    comparison = seen.comparison
    sides = {side.slug: side for side in comparison.sides}
    analyses = analyses_of(found, objective)
    highest = {ramp.side: ramp.levels[-1].threads for ramp in found.climbs}
    unit = found.metric.unit
    finish = replace(comparison, metrics=(finished.metric,), cells=finished.cells) if finished else None
    growth = None
    if grown:
        own = tuple(level for level in comparison.levels if level.id == grown.level)
        growth = replace(comparison, levels=own, metrics=grown.metrics, cells=grown.cells)
    return {
        "metric": found.metric,
        "metric_label": label(found.metric),
        "objective": objective,
        "percentiles": [f"{percent:g}" for percent in PERCENTILES],
        "chosen_percentile": f"{objective.percent:g}",
        "form_action": seen.address.url().partition("?")[0],
        "form_pairs": _kept_pairs(seen.address),
        "without_objective": seen.address.with_option("objective", "").with_option("percentile", "").url() + "#ladder",
        "facts": [_side_facts(sides[each.side], each, highest[each.side], unit) for each in analyses],
        "any_doubted": any(run.failed_checks for run in comparison.counted),
        "any_fit": any(isinstance(each.fit, Fit) for each in analyses),
        "any_cap": any(isinstance(each.fit, NoFit) and each.fit.cap for each in analyses),
        "little": any(each.by_littles_law for each in analyses),
        "levels": _level_facts(comparison, found.climbs, analyses),
        "rated": found.rated,
        "notes": found.notes,
        "latency_metric": next((each for each in comparison.metrics if each.kind == "latency"), None),
        "chart": load_level_charts(comparison, found, analyses, limit=objective.limit),
        "growing": grown,
        **doubted_runs(_grown_runs(comparison, grown)),
        "growing_answers": answers(growth) if growth else [],
        "growing_rows": _level_rows(growth, grown) if growth and grown else [],
        "growth_chart": growth_chart(comparison, grown) if grown else None,
        "finishing": finished,
        "finishing_metrics": [finished.metric] if finished else [],
        "finishing_rows": table(finish) if finish else [],
        "finishing_answers": answers(finish) if finish else [],
    }


def objective_of(address: CompareAddress) -> Objective:
    text, percentile = address.option("objective"), address.option("percentile").removeprefix("p")
    limit = None
    if text:
        try:
            limit = float(text.replace(",", "."))
        except ValueError:
            limit = math.nan
        if not 0 < limit < math.inf:
            raise Invalid([FieldProblem("objective", f"{text[:40]!r} is not a time", "give milliseconds above 0")])
    try:
        percent = float(percentile or USUAL_PERCENTILE)
    except ValueError:
        percent = math.nan
    if percent not in PERCENTILES:
        known = ", ".join(f"p{each:g}" for each in PERCENTILES)
        raise Invalid([FieldProblem("percentile", f"{percentile[:40]!r} is not known", f"choose from {known}")])
    return Objective(percent, limit)


def analyses_of(found: Ramps, objective: Objective) -> list[LoadLevelAnalysis]:
    return [load_level_analysis(ramp, percent=objective.percent, limit=objective.limit) for ramp in found.climbs]


def _kept_pairs(address: CompareAddress) -> list[tuple[str, str]]:
    """Hidden fields of the objective form, to return to the same view."""
    return [pair for pair in address.fields() if pair[0] not in ("objective", "percentile")]


def _grown_runs(comparison: Comparison, grown: Growing | None) -> list[ComparedRun]:
    known = {run.run for run in grown.runs} if grown else set()
    return [run for run in comparison.counted if run.id in known]


def _level_rows(growth: Comparison, grown: Growing) -> list[Any]:
    return [row for row in table(growth) if row.level.id == grown.level]


def _side_facts(side: Side, found: LoadLevelAnalysis, highest: int, unit: str) -> SideFacts:
    fit = found.fit if isinstance(found.fit, Fit) else None
    reach, reach_title = _reach(found.reach)
    return SideFacts(
        side=side,
        best="not observed" if found.best_threads is None else threads_text(found.best_threads),
        refused="" if isinstance(found.fit, Fit) else found.fit.reason,
        few_runs=fit is not None and fit.few_runs,
        knee=place_text(fit.knee, highest) if fit else ValueText(),
        peak=place_text(fit.peak, highest) if fit else ValueText(),
        peak_throughput=_estimate(fit.peak_throughput, unit)
        if fit and fit.peak_throughput
        else ValueText(note="no peak"),
        contention=_share(fit.contention) if fit else ValueText(),
        coherency=_share(fit.coherency) if fit else ValueText(),
        fits=_fits(fit) if fit else "",
        collapse=_collapse(found),
        reach=reach,
        reach_title=reach_title,
        is_one_session=found.reach is not None and any(each.is_within_one for each in found.reach.levels),
    )


def threads_text(threads: int) -> str:
    return counted(threads, "thread")


def place_text(estimate: Estimate, highest: int) -> ValueText:
    """A number of threads; one beyond the measured levels is an extrapolation. Without an upper end none is found."""
    if not math.isfinite(estimate.high):
        low = format_number(estimate.low)
        best = (
            f"{all_digits(estimate.value)} threads fit best" if math.isfinite(estimate.value) else "the curve has none"
        )
        return ValueText(
            note=f"none up to {low} threads" if estimate.low > 1 else "none found within the levels",
            title=f"{best}; the 95 % interval has no upper end",
        )
    note = "beyond the measured levels" if estimate.value > highest else ""
    return replace(_estimate(estimate, "threads"), note=note)


def _estimate(estimate: Estimate, unit: str, digits: int = 3) -> ValueText:
    low, high = format_number(estimate.low, digits), format_number(estimate.high, digits)
    return ValueText(
        value=format_number(estimate.value, digits),
        interval=f"[{low},{NBSP}{high}]",
        title=f"{all_digits(estimate.value)} {unit}".rstrip()
        + f"; 95 % interval {all_digits(estimate.low)} to {all_digits(estimate.high)}",
    )


def _share(estimate: Estimate) -> ValueText:
    return _estimate(estimate, "", 2)


def _fits(fit: Fit) -> str:
    off = f"within {format_number(100 * fit.deviation, 2)}{NBSP}% of {fit.levels} levels"
    if fit.few_runs:
        return f"{off}; too few repetitions: the intervals hold only if all levels are equally noisy"
    if fit.misfit_p is not None and fit.misfit_p < MISFIT:
        return f"{off}; the levels deviate more than their runs' noise explains, so the intervals are wider"
    return off


def _collapse(found: LoadLevelAnalysis) -> ValueText:
    if found.collapse is None:
        return ValueText(note="none seen")
    fall = found.collapse
    shown = Ratio(Verdict.LOWER, value=fall.ratio.value, low=fall.ratio.low, high=fall.ratio.high)
    return ValueText(
        value=ratio_text(shown),
        interval=interval_text(shown),
        note=f"at {threads_text(fall.threads)} against {threads_text(fall.best_threads)}",
        title=f"p {fall.p:.2g}, before correction for the number of pairs of levels",
    )


def _reach(reach: Reach | None) -> tuple[str, str]:
    if reach is None:
        return "", ""
    if all(each.held is ObjectiveState.UNKNOWN for each in reach.levels):
        return f"p{reach.percent:g} not observed", ""
    if all(each.held in (ObjectiveState.TOO_FEW, ObjectiveState.UNKNOWN) for each in reach.levels):
        return "too few repetitions", f"an interval needs {FEWEST_RUNS} runs of a level that differ"
    kept = f"up to {threads_text(reach.last_within)}" if reach.last_within else "at no level with certainty"
    lost = f"; exceeded at {threads_text(reach.first_beyond)}" if reach.first_beyond else ""
    title = ", ".join(f"{each.threads}: {each.held.value}" for each in reach.levels)
    return f"{kept}{lost}", f"threads: {title}"


def _level_facts(
    comparison: Comparison, ramps: Sequence[SideLevels], analyses: Sequence[LoadLevelAnalysis]
) -> list[LevelFacts]:
    sides = {side.slug: side for side in comparison.sides}
    rows = {(row.side.slug, row.level.id): row for row in table(comparison)}
    found = []
    for ramp, one in zip(ramps, analyses, strict=True):
        saturated = {each.level: each for each in one.saturation}
        rested = {each.level: each for each in one.reach.levels} if one.reach else {}
        base = next((load.level for load in ramp.levels if load.response), None)
        for load in ramp.levels:
            saturation = ValueText(note="not observed")
            if load.level in saturated:
                ratio = saturated[load.level].ratio
                saturation = ValueText(
                    ratio_text(ratio), interval_text(ratio), "" if ratio.low is not None else ratio.verdict.value
                )
            elif load.level == base:
                saturation = ValueText(note="base")
            objective, title = _objective(rested.get(load.level))
            found.append(
                LevelFacts(
                    sides[ramp.side],
                    load.threads,
                    rows[ramp.side, load.level],
                    tuple(_latency(load, each) for each in PERCENTILES),
                    saturation,
                    objective,
                    title,
                )
            )
    return sorted(found, key=lambda each: (each.threads, each.side.position))


def _latency(load: Any, percent: float) -> ValueText:
    quantile = load.quantile(percent)
    if quantile is None:
        return ValueText(note="not observed")
    if quantile.value is None:
        runs = ", ".join(format_number(value) for value in sorted(quantile.runs))
        return ValueText(
            note=f"{runs} of {len(quantile.runs)} runs" if len(quantile.runs) <= 3 else "per run only", title=runs
        )
    return ValueText(
        value=format_number(quantile.value),
        title=f"{all_digits(quantile.value)} ms of all requests together: the histogram's step from "
        f"{format_number(quantile.low, 4)} to {format_number(quantile.high, 4)} ms",
    )


def _objective(rested: Rested | None) -> tuple[str, str]:
    if rested is None:
        return "", ""
    words = rested.held.value
    if rested.interval is None:
        return words, ""
    low, high = format_number(rested.interval.low), format_number(rested.interval.high)
    mean = f"geometric mean of {rested.replicates.value} {with_unit(rested.interval.value, 'ms')}"
    return words, f"{mean}, 95 % interval {low} to {high} ms"
