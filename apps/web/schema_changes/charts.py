"""Data of the charts of the schema changes page: the seconds of every run around its first statement."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from apps.comparison.pure import ChangeTrial, LoadSeconds, SchemaChange
from apps.core import units
from apps.core.answers import Hidden
from apps.core.text import counted
from apps.runs.pure import downsample
from workers.protocol.workloads.schema_changes import SETTLE

# Number of runs per change, the newest; points of each, with all minima and maxima kept.
MOST_DRAWN, POINTS = 5, 400
THROUGHPUT, LATENCY = "throughput", "latency"


@dataclass(frozen=True)
class ExtremePoint:
    """The lowest (for latency: highest) interval of a run during its statements or while they settled."""

    at: float
    value: float
    text: str


@dataclass(frozen=True)
class ChangeLine:
    """The intervals of a run, s from its first statement; None: not observed. `statements`: start and end of each."""

    run: int
    at: tuple[float, ...]
    values: tuple[float | None, ...]
    statements: tuple[tuple[float, float], ...]
    extreme: ExtremePoint | None


@dataclass(frozen=True)
class ChangePanel:
    """One quantity of the runs of a change. `label`: text alternative."""

    name: str
    unit: str
    label: Hidden[str]
    range: tuple[float, float]
    lines: tuple[ChangeLine, ...]


@dataclass(frozen=True)
class ChangeChart:
    """`color`: of the platform, its place in the palette. `clock`: range of all panels, s from the first statement."""

    anchor: str
    color: int | None
    data_url: str
    clock: tuple[float, float]
    panels: tuple[ChangePanel, ...]

    @property
    def label(self) -> str:
        return ". ".join(panel.label for panel in self.panels)


def chart(change: SchemaChange, changes: Sequence[SchemaChange], *, anchor: str, data_url: str) -> ChangeChart | None:
    """Throughput and latency of `change`; `changes`: those with charts on the same scale. None: no run has either."""
    clock = _clock(changes)
    panels = tuple(panel for kind in (THROUGHPUT, LATENCY) if clock and (panel := _panel(change, kind, changes)))
    if not clock or not panels:
        return None
    return ChangeChart(anchor, change.platform_color, data_url, clock, panels)


def drawn(change: SchemaChange) -> tuple[ChangeTrial, ...]:
    return change.trials[:MOST_DRAWN]


def _seconds(trial: ChangeTrial, kind: str) -> LoadSeconds | None:
    """Relative to the first statement."""
    found = trial.throughput if kind == THROUGHPUT else trial.latency
    return None if found is None else LoadSeconds(found.at - trial.statements[0].starts_at, found.values)


def _all_seconds(changes: Iterable[SchemaChange], kind: str) -> list[LoadSeconds]:
    trials = [trial for change in changes for trial in drawn(change)]
    return [found for trial in trials if (found := _seconds(trial, kind)) is not None]


def _clock(changes: Iterable[SchemaChange]) -> tuple[float, float] | None:
    clocks = [found.at for found in _all_seconds(changes, THROUGHPUT)]
    first = min((float(at[0]) for at in clocks), default=0.0)
    last = max((float(at[-1]) for at in clocks), default=0.0)
    return (first, last) if last > first else None


def _panel(change: SchemaChange, kind: str, changes: Iterable[SchemaChange]) -> ChangePanel | None:
    each = [(trial, found) for trial in drawn(change) if (found := _seconds(trial, kind)) is not None]
    values = [found.values for found in _all_seconds(changes, kind)]
    highest = max((float(np.nanmax(one)) for one in values if not np.isnan(one).all()), default=0.0)
    if not each or highest <= 0:
        return None
    return ChangePanel(
        name="Throughput" if kind == THROUGHPUT else f"Latency, {_percentile(change)}",
        unit=_unit(kind),
        label=_label(change, kind, each),
        range=(0.0, highest * 1.05),
        lines=tuple(_line(trial, found, kind) for trial, found in each),
    )


def _percentile(change: SchemaChange) -> str:
    return change.latency.rsplit(".", 1)[-1]


def _unit(kind: str) -> str:
    return "transactions/s" if kind == THROUGHPUT else "ms"


def _line(trial: ChangeTrial, seconds: LoadSeconds, kind: str) -> ChangeLine:
    start = trial.statements[0].starts_at
    places = downsample.thin(seconds.values, POINTS)
    return ChangeLine(
        run=trial.run,
        at=tuple(round(at, 3) for at in seconds.at[places].tolist()),
        values=tuple(None if np.isnan(value) else value for value in seconds.values[places].tolist()),
        statements=tuple((each.starts_at - start, each.ends_at - start) for each in trial.statements),
        extreme=_extreme_point(trial, seconds, kind),
    )


def _extreme(trial: ChangeTrial, seconds: LoadSeconds, kind: str) -> tuple[float, float] | None:
    """Time and value of the worst interval that ended during the statements or while they settled."""
    start, end = trial.statements[0].starts_at, trial.statements[-1].ends_at
    after = (seconds.at > 0) & (seconds.at <= end - start + SETTLE) & ~np.isnan(seconds.values)
    if not after.any():
        return None
    at, values = seconds.at[after], seconds.values[after]
    place = int(np.argmin(values) if kind == THROUGHPUT else np.argmax(values))
    return float(at[place]), float(values[place])


def _extreme_point(trial: ChangeTrial, seconds: LoadSeconds, kind: str) -> ExtremePoint | None:
    found = _extreme(trial, seconds, kind)
    if found is None:
        return None
    at, value = found
    shown = units.with_unit(value, _unit(kind))
    text = f"run {trial.run}: {_worst(kind)} {shown}, {at:.1f} s after the statement's start"
    return ExtremePoint(at, value, text)


def _worst(kind: str) -> str:
    return "lowest" if kind == THROUGHPUT else "highest"


def _label(change: SchemaChange, kind: str, each: Sequence[tuple[ChangeTrial, LoadSeconds]]) -> str:
    worst = [found for trial, seconds in each if (found := _extreme(trial, seconds, kind))]
    what = "Throughput" if kind == THROUGHPUT else f"Latency, {_percentile(change)}"
    text = f"{what} of {counted(len(each), 'run')} of {change.system_name}, {change.manner.text}"
    if not worst:
        return f"{text}: nothing after the statement"
    at, value = (min if kind == THROUGHPUT else max)(worst, key=lambda found: found[1])
    return f"{text}: {_worst(kind)} {units.with_unit(value, _unit(kind))}, {at:.0f} s after its start"
