"""Verdicts on quantities beyond the headline ones, with the methods of the main table."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from apps.comparison.selection.data import past_values
from apps.comparison.stats import rank_test
from apps.comparison.stats.welch import DraftRatio, Verdict
from apps.comparison.tables import verdict_table
from apps.comparison.values import Cell, ComparedMetric, ComparedRun, ComparedSides, Comparison, DraftCell, Level


def cells(
    comparison: Comparison, metrics: Sequence[ComparedMetric], values: Mapping[int, Mapping[str, float]]
) -> tuple[Cell, ...]:
    """Cells of these metrics in the form of Comparison.cells, corrected among themselves; `values` as in `drafts`. If a
    run is zero or negative, the rank test decides, of sessions where they are known."""
    sessions = {run.id: run.session for run in comparison.counted}
    corrected = verdict_table.corrected(_by_ranks(drafts(comparison, metrics, values), sessions))
    return tuple(replace(cell, words=verdict_table.NO_ERRORS) if _are_all_zero(cell) else cell for cell in corrected)


def drafts(
    comparison: ComparedSides, metrics: Sequence[ComparedMetric], values: Mapping[int, Mapping[str, float]]
) -> tuple[DraftCell, ...]:
    """`values`: run -> metric key -> value, of the runs that count and of earlier ones."""
    return verdict_table.judged(
        sides=[side.slug for side in comparison.sides],
        levels=comparison.levels,
        metrics=metrics,
        runs=[_with(run, values.get(run.id, {})) for run in comparison.counted],
        history=past_values(comparison.earlier, [metric.key for metric in metrics], values),
        withheld=comparison.withheld_sides,
    )


def run_ids(comparison: ComparedSides) -> list[int]:
    """Ids of the runs that count and of the earlier runs."""
    return [*(run.id for run in comparison.counted), *(run for each in comparison.earlier for run in each.runs)]


def _with(run: ComparedRun, values: Mapping[str, float]) -> ComparedRun:
    return replace(run, values=dict(values))


def _by_ranks(found: Sequence[DraftCell], sessions: Mapping[int, int | None]) -> list[DraftCell]:
    """`sessions`: run -> number; None: not known."""
    baselines = {(cell.level, cell.metric.key): cell for cell in found if cell.ratio is None}
    return [_ranked(cell, baselines[cell.level, cell.metric.key], sessions) for cell in found]


def _ranked(cell: DraftCell, baseline: DraftCell, sessions: Mapping[int, int | None]) -> DraftCell:
    """Rank test only if no ratio exists although both sides have runs, and not all of them are zero."""
    lacks_ratio = cell.ratio is not None and cell.ratio.alone.verdict is Verdict.NO_RATIO
    if not (lacks_ratio and cell.replicates and baseline.replicates):
        return cell
    own, theirs = ([each.value for each in one.replicates] for one in (cell, baseline))
    if not any(own + theirs):
        return cell
    both = (_sessions(baseline, sessions), _sessions(cell, sessions))
    return replace(cell, ratio=DraftRatio(rank_test.compare(theirs, own, sessions=both)), unknown=())


def _sessions(cell: DraftCell, sessions: Mapping[int, int | None]) -> list[int]:
    """Of its runs; empty: one is not known, or each run is an event of its own."""
    known = [session for each in cell.replicates if (session := sessions.get(each.run)) is not None]
    return known if len(known) == len(cell.replicates) and not cell.metric.single_events else []


def _are_all_zero(cell: Cell) -> bool:
    return (
        cell.ratio is not None
        and cell.ratio.delta == 0
        and bool(cell.replicates)
        and all(each.value == 0 for each in cell.replicates)
    )


def between(
    metrics: Sequence[ComparedMetric],
    values: Mapping[int, Mapping[str, float]],
    *,
    sides: Mapping[str, Sequence[int]],
    sessions: Mapping[int, int],
) -> tuple[Cell, ...]:
    """As `cells`, of two sets of runs (side -> ids, the baseline first) of whatever systems, without earlier runs."""
    level = Level(id=0, key="", threads=0, rate=None, text="")
    runs = [
        ComparedRun(
            id=run,
            side=side,
            level=level.id,
            repetition=0,
            started_at=datetime.min.replace(tzinfo=UTC),
            provenance="",
            warmup=0.0,
            duration=None,
            campaign=None,
            values=dict(values[run]),
            left_out="",
            session=sessions.get(run),
        )
        for side, own in sides.items()
        for run in own
        if run in values
    ]
    found = verdict_table.judged(sides=list(sides), levels=[level], metrics=metrics, runs=runs, history={}, withheld=())
    return verdict_table.corrected(_by_ranks(found, sessions))
