"""Verdicts on every metric of every side at every load level. Pure."""

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from apps.comparison.stats import multiple_testing, welch
from apps.comparison.stats.welch import Ratio, Sample, Verdict
from apps.comparison.values import Cell, ComparedMetric, ComparedRun, Level, More, Replicate

JUDGED = (Verdict.HIGHER, Verdict.LOWER, Verdict.EQUIVALENT, Verdict.INCONCLUSIVE)
WITHHELD = "verdict withheld"
NO_RUNS = "no runs"
NO_ERRORS = "none on either side"

# (side, level, metric) -> values of earlier runs, the newest first.
History = Mapping[tuple[str, int, str], tuple[float, ...]]


def cells(
    *,
    sides: Sequence[str],
    levels: Sequence[Level],
    metrics: Sequence[ComparedMetric],
    runs: Sequence[ComparedRun],
    history: History,
    withheld: Collection[str],
) -> tuple[Cell, ...]:
    """One cell per metric, level and side, in this order; the first of `sides` is the baseline. `withheld`: sides
    without verdicts."""
    found = judged(sides=sides, levels=levels, metrics=metrics, runs=runs, history=history)
    return worded(corrected(found), metrics, withheld)


def judged(
    *,
    sides: Sequence[str],
    levels: Sequence[Level],
    metrics: Sequence[ComparedMetric],
    runs: Sequence[ComparedRun],
    history: History,
) -> tuple[Cell, ...]:
    """Each cell on its own: not yet corrected for multiple testing, and without words."""
    placed: dict[tuple[str, int], list[ComparedRun]] = defaultdict(list)
    for run in runs:
        placed[run.side, run.level].append(run)
    return tuple(
        cell for metric in metrics for level in levels for cell in _row(sides, level.id, metric, placed, history)
    )


def worded(found: Sequence[Cell], metrics: Sequence[ComparedMetric], withheld: Collection[str]) -> tuple[Cell, ...]:
    """The cells with their verdicts as shown."""
    by_key = {metric.key: metric for metric in metrics}
    return tuple(_with_words(cell, by_key[cell.metric], cell.side in withheld) for cell in found)


def _row(
    sides: Sequence[str],
    level: int,
    metric: ComparedMetric,
    runs: Mapping[tuple[str, int], Sequence[ComparedRun]],
    history: History,
) -> list[Cell]:
    key = metric.key
    replicates = {
        side: tuple(Replicate(run.id, run.values[key]) for run in runs.get((side, level), ()) if key in run.values)
        for side in sides
    }
    # One event per run: fewer than three are inconclusive, whatever the spread of earlier runs.
    past = {side: () if metric.single_events else history.get((side, level, key), ()) for side in sides}
    samples = {side: _sample(metric, [each.value for each in replicates[side]], past[side]) for side in sides}
    return [
        Cell(
            side=side,
            level=level,
            metric=key,
            replicates=replicates[side],
            summary=welch.summarise(samples[side].values, single_events=metric.single_events)
            if replicates[side]
            else None,
            history=_history_used(samples[side]),
            ratio=(ratio := welch.compare(samples[sides[0]], samples[side]) if place else None),
            words="",
            more=_more(ratio, {sides[0]: samples[sides[0]], side: samples[side]}) if ratio else (),
        )
        for place, side in enumerate(sides)
    ]


def _sample(metric: ComparedMetric, values: Sequence[float], history: tuple[float, ...]) -> Sample:
    """Resolution: a step of the tool's grid, or its last decimal if coarser."""
    positive = [value for value in values if value > 0 and math.isfinite(value)]
    printed = metric.printed_step / welch.geometric_mean(positive) if positive else 0.0
    return Sample(tuple(values), history, max(metric.resolution, printed))


def _history_used(sample: Sample) -> int:
    noise = welch.noise(sample) if sample.values and min(sample.values) > 0 else None
    return noise.history if noise else 0


def _more(ratio: Ratio, samples: Mapping[str, Sample]) -> tuple[More, ...]:
    """Runs that each side lacks for a likely answer."""
    if ratio.needed is None:
        return ()
    unknown = [side for side, sample in samples.items() if welch.noise(sample) is None]
    return _lacking(ratio, {side: len(samples[side].values) for side in unknown or samples})


def _lacking(ratio: Ratio, counts: Mapping[str, int]) -> tuple[More, ...]:
    """`counts`: runs of each side."""
    lacking = {side: (ratio.needed or 0) - count for side, count in counts.items()}
    return tuple(More(side, runs) for side, runs in lacking.items() if runs > 0)


def corrected(found: Sequence[Cell]) -> tuple[Cell, ...]:
    """The cells of one table, each after its baseline's, with ratios corrected together."""
    ratios = iter(multiple_testing.correct_for_many([cell.ratio for cell in found if cell.ratio is not None]))
    cells: list[Cell] = []
    baseline = None
    for cell in found:
        if cell.ratio is None:
            baseline = cell
            cells.append(cell)
            continue
        ratio = next(ratios)
        more = cell.more
        if baseline is not None and ratio.verdict is Verdict.INCONCLUSIVE:
            more = _lacking(ratio, {each.side: len(each.replicates) for each in (baseline, cell)})
        cells.append(replace(cell, ratio=ratio, more=more))
    return tuple(cells)


def _with_words(cell: Cell, metric: ComparedMetric, withheld: bool) -> Cell:
    ratio = cell.ratio
    if ratio is None:
        return cell
    if not cell.replicates:
        words = NO_RUNS
    elif metric.kind == "errors" and ratio.delta == 0 and all(each.value == 0 for each in cell.replicates):
        words = NO_ERRORS
    elif withheld and ratio.verdict in JUDGED:
        words = WITHHELD
    else:
        words = welch.words(ratio.verdict, metric.direction)
    return replace(cell, words=words)
