"""Verdicts on quantities beyond the headline ones, by the same functions as the answer's."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from apps.comparison import table
from apps.comparison.comparability import withheld_places
from apps.comparison.values import Cell, ComparedMetric, ComparedRun, Comparison


def cells(
    comparison: Comparison, metrics: Sequence[ComparedMetric], values: Mapping[int, Mapping[str, float]]
) -> tuple[Cell, ...]:
    """As Comparison.cells, of these metrics; corrected for their own number. `values`: run -> metric key -> value, of
    the runs that count and of earlier ones."""
    return table.cells(
        sides=[side.slug for side in comparison.sides],
        levels=comparison.levels,
        metrics=metrics,
        runs=[with_values(run, values.get(run.id, {})) for run in comparison.counted],
        history={
            (each.side, each.level, metric.key): tuple(
                values[run][metric.key] for run in each.runs if metric.key in values.get(run, {})
            )
            for each in comparison.earlier
            for metric in metrics
        },
        withheld=withheld(comparison),
    )


def with_values(run: ComparedRun, values: Mapping[str, float]) -> ComparedRun:
    return replace(run, values=dict(values))


def withheld(comparison: Comparison) -> list[str]:
    """The sides about which no verdict is given."""
    if not comparison.withheld:
        return []
    return [comparison.sides[place].slug for place in withheld_places(comparison.differences)]


def asked_runs(comparison: Comparison) -> list[int]:
    """Those that count and those that tell how much such runs vary."""
    return [*(run.id for run in comparison.counted), *(run for each in comparison.earlier for run in each.runs)]
