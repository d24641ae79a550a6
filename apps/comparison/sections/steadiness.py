"""Steadiness of the sides: each run's throughput per second, its spread, its dips and its worst second."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from apps.comparison.sections import verdicts
from apps.comparison.sections.section import Section
from apps.comparison.stats.measures import dips
from apps.comparison.stats.measures.dips import Box, Steadiness
from apps.comparison.stats.welch import Direction
from apps.comparison.values import Cell, ComparedMetric, ComparedRun, Comparison
from apps.core.answers import Hidden
from apps.core.text import counted
from apps.runs.api import queries
from apps.runs.models import Run, Series
from apps.runs.pure import CLIENT, Phase

# Throughput per second in the order of preference; the one that most runs have is used.
RATES = ("client.throughput", "client.rows", "client.new_orders", "client.queries")
# A note is added for measured phases that differ by more than this factor.
EVEN = 1.1

VARIATION, DIPS, LONGEST, WORST = (
    ComparedMetric(f"steadiness.{key}", name, unit, Direction(direction), "steadiness", primary=False)
    for key, name, unit, direction in (
        ("variation", "coefficient of variation", "%", "lower"),
        ("hiccups", "time in dips", "%", "lower"),
        ("longest", "longest dip", "s", "lower"),
        ("worst", "worst second", "% of the median", "higher"),
    )
)
METRICS = (VARIATION, DIPS, LONGEST, WORST)


@dataclass(frozen=True)
class RunSteadiness:
    run: int
    side: str
    level: int
    repetition: int
    steadiness: Steadiness


@dataclass(frozen=True)
class SideBox:
    """All seconds of a side's `runs` runs at a level: a description of its load, without uncertainty."""

    side: str
    level: int
    runs: Annotated[int, "number of runs whose intervals are in the box; no measure of uncertainty"]
    box: Box


@dataclass(frozen=True)
class ComparedSteadiness:
    """`metric` (key, name, unit) in intervals of `step` s. `cells`: of METRICS, in the form of the comparison's.
    `notes`: sentences naming the runs left out, and why."""

    metric: Annotated[str, "key of the metric sampled per interval"]
    name: Hidden[str]
    unit: str
    step: Annotated[float, "length of the intervals, s"]
    metrics: tuple[ComparedMetric, ...]
    cells: Annotated[tuple[Cell, ...], "as those of the comparison, corrected for their own number"]
    runs: tuple[RunSteadiness, ...]
    boxes: tuple[SideBox, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Seconds:
    """One run's `series` and its steadiness."""

    series: queries.SeriesValues
    phase: Phase
    steadiness: Steadiness

    def values(self) -> NDArray[np.float64]:
        return dips.within(self.series.at, self.series.values, self.phase)


def steadiness_of(comparison: Comparison) -> ComparedSteadiness | None:
    """None: no run has values per second. Six queries."""
    asked = verdicts.run_ids(comparison)
    phases = _phases(asked)
    found = queries.load_series(run_ids=[run for run in asked if run in phases], metrics=RATES, nodes=[CLIENT])
    have = Counter(series.metric for series in found if len(series.at))
    if not have:
        return None
    metric = max(RATES, key=lambda key: have[key])
    seconds = {}
    for series in found:
        known = None if series.metric != metric else dips.steadiness(series.at, series.values, phases[series.run_id])
        if known:
            seconds[series.run_id] = _Seconds(series, phases[series.run_id], known)
    step = dips.usual_step([seconds[run.id].steadiness.step for run in comparison.counted if run.id in seconds])
    if step is None:
        return None
    alike = {run: one for run, one in seconds.items() if dips.is_same_step(step, one.steadiness.step)}
    one = next(iter(alike.values())).series
    return ComparedSteadiness(
        metric=metric,
        name=one.name,
        unit=one.unit,
        step=step,
        metrics=METRICS,
        cells=verdicts.cells(comparison, METRICS, {run: _values(each.steadiness) for run, each in alike.items()}),
        runs=tuple(
            RunSteadiness(run.id, run.side, run.level, run.repetition, alike[run.id].steadiness)
            for run in comparison.counted
            if run.id in alike
        ),
        boxes=tuple(_boxes(comparison.counted, alike)),
        notes=tuple(_notes(comparison.counted, seconds, alike, one.name, step)),
    )


@dataclass(frozen=True)
class RunDips:
    """Seconds in dips, of those `observed`, in intervals of `step` s."""

    seconds: float
    observed: float
    step: float


def dips_of(runs: Sequence[int]) -> dict[int, RunDips]:
    """Of the runs with transactions per second. Only of those whose least interval may be a dip the series are read.
    Seven queries."""
    phases = _phases(runs)
    stored = Series.objects.filter(run_id__in=phases, metric__key=RATES[0], node=0, count__gte=dips.FEWEST_VALUES)
    found = {}
    for run, count, least, median in stored.order_by().values_list("run_id", "count", "minimum", "p50"):
        if least is not None and median is not None and least >= dips.DIP_SHARE * median > 0:
            length = phases[run].end - phases[run].start
            found[run] = RunDips(0.0, length, length / count)
    rest = [run for run in runs if run in phases and run not in found]
    for each in queries.load_series(run_ids=rest, metrics=RATES[:1], nodes=[CLIENT]):
        known = dips.steadiness(each.at, each.values, phases[each.run_id])
        if known is not None and known.hiccups is not None:
            found[each.run_id] = RunDips(known.hiccups * known.observed, known.observed, known.step)
    return found


def _phases(runs: Sequence[int]) -> dict[int, Phase]:
    rows = Run.objects.filter(pk__in=runs)
    return {
        pk: Phase(start, end)
        for pk, start, end in rows.values_list("pk", "measured_from", "measured_to")
        if start is not None and end is not None
    }


def _values(known: Steadiness) -> dict[str, float]:
    """In the units of METRICS; unknown ones are left out."""
    found = {
        VARIATION.key: known.variation,
        DIPS.key: known.hiccups,
        LONGEST.key: known.longest.length if known.longest else None,
        WORST.key: known.worst,
    }
    percent = {metric.key for metric in METRICS if metric.unit.startswith("%")}
    return {key: value * (100 if key in percent else 1) for key, value in found.items() if value is not None}


def _boxes(runs: Sequence[ComparedRun], seconds: Mapping[int, _Seconds]) -> list[SideBox]:
    together: dict[tuple[str, int], list[NDArray[np.float64]]] = defaultdict(list)
    for run in runs:
        if run.id in seconds:
            together[run.side, run.level].append(seconds[run.id].values())
    return [
        SideBox(side, level, len(each), dips.box_of(np.concatenate(each))) for (side, level), each in together.items()
    ]


def _notes(
    runs: Sequence[ComparedRun],
    seconds: Mapping[int, _Seconds],
    alike: Mapping[int, _Seconds],
    name: str,
    step: float,
) -> list[str]:
    without = [run.id for run in runs if run.id not in seconds]
    other = [run.id for run in runs if run.id in seconds and run.id not in alike]
    notes = []
    if without:
        notes.append(f"{_runs(without)} without {name} by the second: left out of the steadiness.")
    if uneven := _uneven([alike[run.id].phase for run in runs if run.id in alike]):
        notes.append(uneven)
    if other:
        steps = sorted({round(seconds[run].steadiness.step, 1) for run in other})
        text = ", ".join(f"{each:g} s" for each in steps)
        notes.append(
            f"{_runs(other)} sampled every {text} instead of every {step:.2g} s: left out of the steadiness, since"
            " longer intervals vary less."
        )
    return notes


def _uneven(phases: Sequence[Phase]) -> str:
    lengths = [phase.end - phase.start for phase in phases]
    if not lengths or max(lengths) <= EVEN * min(lengths):
        return ""
    return (
        f"The measured phases are {min(lengths):.3g} to {max(lengths):.3g} s long: a longer phase has a worse worst"
        " second and a longer longest dip."
    )


def _runs(found: Sequence[int]) -> str:
    return counted(len(found), "run")


SECTION = Section("steadiness", ComparedSteadiness | None, lambda comparison, _: steadiness_of(comparison))
