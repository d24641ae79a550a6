"""Time to finish the same work: runs that end after a number of rows or transactions."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from apps.comparison.sections import verdicts
from apps.comparison.sections.section import Section
from apps.comparison.stats.welch import Direction
from apps.comparison.values import Cell, ComparedMetric, Comparison, Level
from apps.runs.models import Measurement

ELAPSED = "client.elapsed"
# Workload parameters that limit the work of a run, and the metric that counts it.
LIMITS = {"rows_limit": "client.rows_inserted", "max_rows": "client.rows_inserted", "events": "client.transactions"}
# A run that did less than this share of its work ended for another reason.
DONE = 0.999

TIME = ComparedMetric("finish.time", "time to finish", "s", Direction.LOWER, "finish", primary=False)


@dataclass(frozen=True)
class Finishing:
    """The work is `amount` in units of the metric `counts`, the same for all sides. `cells`: in the form of the
    comparison's, warm-up included."""

    amount: int
    counts: Annotated[str, "metric that counts the work"]
    metric: ComparedMetric
    cells: Annotated[tuple[Cell, ...], "s from the start of the load"]
    unfinished: Annotated[int, "runs that ended before the work was done"]


def finishing_of(comparison: Comparison) -> Finishing | None:
    """None: the sides' runs do not end with the same work, or none finished it. One query, or none."""
    works = {_work(side.workload.parameters) for side in comparison.sides}
    work = works.pop()
    if works or work is None:
        return None
    counts, amount = work
    found = _values(verdicts.run_ids(comparison), counts)
    warmups = _warmups(comparison)
    times = {
        run: {TIME.key: values[ELAPSED] + warmups[run]}
        for run, values in found.items()
        if values.get(counts, 0) >= DONE * amount and ELAPSED in values
    }
    if not any(run.id in times for run in comparison.counted):
        return None
    return Finishing(
        amount=amount,
        counts=counts,
        metric=TIME,
        cells=verdicts.cells(comparison, [TIME], times),
        unfinished=sum(run.id not in times for run in comparison.counted),
    )


def _warmups(comparison: Comparison) -> dict[int, float]:
    """Run -> warm-up, s. Earlier runs have the warm-up of those compared."""
    found = {run.id: run.warmup for run in comparison.counted}
    of_place = {(run.side, run.level): run.warmup for run in comparison.counted}
    return found | {run: of_place[each.side, each.level] for each in comparison.earlier for run in each.runs}


def _work(parameters: dict[str, object]) -> tuple[str, int] | None:
    """Metric that counts the work, and the amount that ends a run."""
    for name, counts in LIMITS.items():
        limit = parameters.get(name)
        if isinstance(limit, int | float) and limit > 0:
            return counts, int(limit)
    return None


def _values(runs: Sequence[int], counts: str) -> dict[int, dict[str, float]]:
    found: dict[int, dict[str, float]] = defaultdict(dict)
    shown = Measurement.objects.filter(run_id__in=runs, metric__key__in=[ELAPSED, counts])
    for run, key, value in shown.order_by().values_list("run_id", "metric__key", "value"):
        found[run][key] = value
    return found


def _read(comparison: Comparison, _level: Level | None) -> Finishing | None:
    return finishing_of(comparison)


SECTION = Section("finishing", Finishing | None, _read)
