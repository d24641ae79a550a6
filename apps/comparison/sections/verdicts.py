"""Verdicts on quantities beyond the headline ones, with the functions of the answer."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from apps.comparison import verdict_table
from apps.comparison.stats import rank_test
from apps.comparison.stats.welch import Verdict
from apps.comparison.values import Cell, ComparedMetric, ComparedRun, Comparison


def cells(
    comparison: Comparison, metrics: Sequence[ComparedMetric], values: Mapping[int, Mapping[str, float]]
) -> tuple[Cell, ...]:
    """Cells of these metrics in the form of Comparison.cells, corrected among themselves. `values`: run -> metric key
    -> value, of the runs that count and of earlier ones. If a run is zero or negative, the rank test decides."""
    found = verdict_table.judged(
        sides=[side.slug for side in comparison.sides],
        levels=comparison.levels,
        metrics=metrics,
        runs=[_with(run, values.get(run.id, {})) for run in comparison.counted],
        history={
            (each.side, each.level, metric.key): tuple(
                values[run][metric.key] for run in each.runs if metric.key in values.get(run, {})
            )
            for each in comparison.earlier
            for metric in metrics
        },
    )
    judged = verdict_table.worded(verdict_table.corrected(_by_ranks(found)), metrics, withheld(comparison))
    return tuple(replace(cell, words=verdict_table.NO_ERRORS) if _are_all_zero(cell) else cell for cell in judged)


def withheld(comparison: Comparison) -> list[str]:
    """Sides whose verdicts are withheld."""
    return list(dict.fromkeys(each.side for each in comparison.obstacles if each.accepted is None))


def asked_runs(comparison: Comparison) -> list[int]:
    """Ids of the runs that count and of the earlier runs."""
    return [*(run.id for run in comparison.counted), *(run for each in comparison.earlier for run in each.runs)]


def _with(run: ComparedRun, values: Mapping[str, float]) -> ComparedRun:
    return replace(run, values=dict(values))


def _by_ranks(found: Sequence[Cell]) -> list[Cell]:
    baselines = {(cell.level, cell.metric): cell for cell in found if cell.ratio is None}
    return [_ranked(cell, baselines[cell.level, cell.metric]) for cell in found]


def _ranked(cell: Cell, baseline: Cell) -> Cell:
    """Rank test only if no ratio exists although both sides have runs, and not all of them are zero."""
    if cell.ratio is None or cell.ratio.verdict != Verdict.NO_RATIO or not cell.replicates or not baseline.replicates:
        return cell
    own, theirs = ([each.value for each in one.replicates] for one in (cell, baseline))
    return replace(cell, ratio=rank_test.compare(theirs, own)) if any(own + theirs) else cell


def _are_all_zero(cell: Cell) -> bool:
    return (
        cell.ratio is not None
        and cell.ratio.delta == 0
        and bool(cell.replicates)
        and all(each.value == 0 for each in cell.replicates)
    )
