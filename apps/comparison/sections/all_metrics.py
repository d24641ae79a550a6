"""Verdicts on all metrics with a headline value in the compared runs, beyond those of the main table."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from apps.catalog.models import Metric
from apps.comparison.compare import compared_metric
from apps.comparison.sections import verdicts
from apps.comparison.sections.section import Section
from apps.comparison.selection.data import grids_of, values_of
from apps.comparison.stats.welch import Verdict
from apps.comparison.values import Cell, ComparedMetric, Comparison
from apps.core.answers import Name, Shown

SAME = "the same in all runs"


@dataclass(frozen=True)
class Measured:
    """One metric of one side at one load level beside the baseline's. `answered`: it belongs to the comparison's main
    table and keeps its verdict there."""

    metric: ComparedMetric
    baseline: Cell
    cell: Cell
    answered: Annotated[bool, "part of the main table, whose verdict it keeps"]

    @property
    def is_relevant(self) -> Annotated[Shown[bool], Name("relevant"), "a difference"]:
        """The sides differ, also where the verdict is withheld."""
        return self.cell.ratio is not None and self.cell.ratio.verdict in (Verdict.HIGHER, Verdict.LOWER)


@dataclass(frozen=True)
class Everything:
    """`measured` by significance. `tests`: number of tests for which the metrics beyond the main table are corrected,
    among themselves, so that they do not reduce the main table's power. `meanings` by metric key."""

    measured: Annotated[tuple[Measured, ...], "by significance"]
    tests: Annotated[int, "number of tests for which the metrics beyond the main table are corrected"]
    meanings: Annotated[dict[str, str], "of each metric, by key"]


def everything(comparison: Comparison) -> Everything:
    """Three queries."""
    values = values_of(verdicts.run_ids(comparison))
    keys = {key for run in comparison.counted for key in values.get(run.id, {})}
    known = Metric.objects.in_bulk(keys, field_name="key")
    grids = grids_of(run.id for run in comparison.counted)
    tools = {side.workload.id: side.workload.tool for side in comparison.sides}
    answer = {metric.key for metric in comparison.metrics}
    others = [
        compared_metric(known[key], tools=tools, grids=grids, primary="")
        for key in sorted(keys - answer, key=lambda key: known[key].name)
    ]
    cells = verdicts.cells(comparison, others, values)
    return Everything(
        measured=tuple(
            sorted(
                [
                    *_beside(comparison.metrics, comparison.cells, answered=True),
                    *_beside(others, _worded(cells), answered=False),
                ],
                key=_significance,
            )
        ),
        tests=sum(cell.ratio is not None and cell.ratio.p is not None for cell in cells),
        meanings={key: metric.description for key, metric in known.items()},
    )


def _beside(metrics: Sequence[ComparedMetric], cells: Sequence[Cell], *, answered: bool) -> list[Measured]:
    by_key = {metric.key: metric for metric in metrics}
    baselines = {(cell.level, cell.metric): cell for cell in cells if cell.ratio is None}
    return [
        Measured(by_key[cell.metric], baselines[cell.level, cell.metric], cell, answered)
        for cell in cells
        if cell.ratio is not None
    ]


def _worded(cells: Sequence[Cell]) -> list[Cell]:
    """Metrics that never vary, such as settings of the load, get the word SAME and no `more` runs."""
    baselines = {(cell.level, cell.metric): cell for cell in cells if cell.ratio is None}
    return [
        replace(cell, words=SAME, more=()) if _is_constant(cell, baselines[cell.level, cell.metric]) else cell
        for cell in cells
    ]


def _is_constant(cell: Cell, baseline: Cell) -> bool:
    if cell.ratio is None or cell.ratio.verdict is not Verdict.TOO_FEW or len(cell.replicates) < 2:
        return False
    return len({each.value for each in (*cell.replicates, *baseline.replicates)}) == 1


def _significance(one: Measured) -> tuple[bool, bool, float, float]:
    """Relevant ones first, then by corrected p, ascending, then by size of the difference, descending."""
    ratio = one.cell.ratio
    p = ratio.adjusted_p if ratio is not None else None
    far = abs(math.log(ratio.value)) if ratio is not None and ratio.value and math.isfinite(ratio.value) else 0.0
    return not one.is_relevant, p is None, 1.0 if p is None else p, -far


SECTION = Section("everything", Everything, lambda comparison, _: everything(comparison))
