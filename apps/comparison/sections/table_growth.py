"""Runs that fill tables: rows/s against the rows inserted, and time for the same rows on each side."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from apps.comparison.sections import verdicts
from apps.comparison.sections.section import Section
from apps.comparison.stats.measures import growth_rate
from apps.comparison.stats.measures.growth_rate import Inserted, RowSpan
from apps.comparison.stats.welch import Direction
from apps.comparison.values import Cell, ComparedMetric, Comparison, Level
from apps.core.answers import Hidden
from apps.core.text import counted
from apps.runs.api import queries
from apps.runs.models import Measurement
from apps.runs.pure import CLIENT

RATE, INSERTED = "client.rows", "client.rows_inserted"
# A note is added if the rows summed over the seconds differ from the tool's own count by more than this share.
COUNTED_ALIKE = 0.05

TIME = ComparedMetric("growth.time", "time to insert them", "s", Direction.LOWER, "growth", primary=False)
LAST_RATE = ComparedMetric(
    "growth.last", "speed over the last tenth of them", "rows/s", Direction.HIGHER, "growth", primary=False
)


@dataclass(frozen=True)
class RunGrowth:
    run: int
    side: str
    repetition: Hidden[int]
    rows: float
    stretches: tuple[RowSpan, ...]


@dataclass(frozen=True)
class Growing:
    """Growth at one load level. `cells` in the form of the comparison's. `width`: rows per stretch."""

    level: Annotated[int, "id of a load level"]
    shared: Annotated[float, "rows that every run inserted"]
    width: Hidden[float]
    metrics: tuple[ComparedMetric, ...]
    cells: Annotated[tuple[Cell, ...], "time to insert these rows, and rate over their last tenth"]
    runs: tuple[RunGrowth, ...]
    notes: tuple[str, ...]


def growing_of(comparison: Comparison, level: Level) -> Growing | None:
    """None: no run of this level filled tables with values per second. Seven queries at most."""
    runs = [run for run in comparison.counted if run.level == level.id]
    counts = _row_counts([run.id for run in runs])
    if not counts:
        return None
    found = _inserted([run.id for run in runs if run.id in counts])
    if not found:
        return None
    width, shared = growth_rate.width_of(list(found.values())), min(each.total for each in found.values())
    values = {
        run: {TIME.key: each.time_to(shared), LAST_RATE.key: growth_rate.last_rate(each, shared)}
        for run, each in found.items()
    }
    metrics = (TIME, LAST_RATE)
    return Growing(
        level=level.id,
        shared=shared,
        width=width,
        metrics=metrics,
        cells=verdicts.cells(replace(comparison, levels=(level,), earlier=()), metrics, values),
        runs=tuple(
            RunGrowth(
                run.id, run.side, run.repetition, found[run.id].total, growth_rate.stretches(found[run.id], width)
            )
            for run in runs
            if run.id in found
        ),
        notes=tuple(_notes([run.id for run in runs], found, counts)),
    )


def _row_counts(runs: Sequence[int]) -> dict[int, float]:
    """Run -> rows inserted, as counted by the tool."""
    rows = Measurement.objects.filter(run_id__in=runs, metric__key=INSERTED).order_by()
    return dict(rows.values_list("run_id", "value"))


def _inserted(runs: Sequence[int]) -> dict[int, Inserted]:
    found = {}
    for series in queries.load_series(run_ids=runs, metrics=[RATE], nodes=[CLIENT]):
        one = None if series.problem else growth_rate.inserted(series.at, series.values)
        if one is not None:
            found[series.run_id] = one
    return found


def _notes(runs: Sequence[int], found: Mapping[int, Inserted], counts: Mapping[int, float]) -> list[str]:
    groups: dict[str, list[int]] = defaultdict(list)
    for run in runs:
        if run not in found:
            groups["without rows by the second: left out."].append(run)
        elif counts[run] > 0 and abs(found[run].total / counts[run] - 1) > COUNTED_ALIKE:
            groups["whose seconds do not add up to the tool's row count within 5\u00a0%."].append(run)
    return [f"{counted(len(each), 'run')} {words}" for words, each in groups.items()]


def _read(comparison: Comparison, level: Level | None) -> Growing | None:
    return growing_of(comparison, level) if level else None


SECTION = Section("growth", Growing | None, _read, by_level=True)
