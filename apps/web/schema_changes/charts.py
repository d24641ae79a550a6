"""Small charts of the schema changes page: the seconds of every run around its first statement, as SVG."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from apps.comparison.pure import ChangeTrial, LoadSeconds, SchemaChange
from apps.core import units
from apps.core.text import counted
from apps.runs.pure import downsample
from apps.web.components.ticks import linear_ticks
from workers.protocol.workloads.schema_changes import SETTLE

# In drawing units, which are pixels at the usual width.
WIDTH, HEIGHT = 420, 138
LEFT, RIGHT, TOP, BOTTOM = 48, 8, 18, 22
# Number of runs per change, the newest; points of each, with all minima and maxima kept.
MOST_DRAWN, POINTS = 5, 400
THROUGHPUT, LATENCY = "throughput", "latency"


@dataclass(frozen=True)
class ChangeTick:
    """`place`: horizontal or vertical position."""

    place: float
    text: str


@dataclass(frozen=True)
class ExtremeMark:
    """The lowest (for latency: highest) interval of a run during its statements or while they settled."""

    x: float
    y: float
    title: str


@dataclass(frozen=True)
class ChangeChart:
    """One quantity of the runs of a change. `spans`: statements, as (left, width). `paths`: one line per run."""

    kind: str
    unit: str
    label: str
    across: tuple[ChangeTick, ...]
    down: tuple[ChangeTick, ...]
    zero: float
    spans: tuple[tuple[float, float], ...]
    paths: tuple[str, ...]
    marks: tuple[ExtremeMark, ...]


@dataclass(frozen=True)
class Frame:
    """Ranges shared by the charts of a table, for comparability: s from the first statement, and the highest value."""

    first: float
    last: float
    highest: float

    def x(self, second: float) -> float:
        share = (second - self.first) / (self.last - self.first)
        return round(LEFT + (WIDTH - LEFT - RIGHT) * min(max(share, 0.0), 1.0), 1)

    def y(self, value: float) -> float:
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * min(value / self.highest, 1.0), 1)


def charts(change: SchemaChange, changes: Sequence[SchemaChange]) -> list[ChangeChart]:
    """Throughput and latency of `change`; `changes`: those with charts on the same scale."""
    return [
        chart
        for kind in (THROUGHPUT, LATENCY)
        if (frame := _frame(changes, kind)) and (chart := _chart(change, kind, frame))
    ]


def drawn(change: SchemaChange) -> tuple[ChangeTrial, ...]:
    return change.trials[:MOST_DRAWN]


def _seconds(trial: ChangeTrial, kind: str) -> LoadSeconds | None:
    """Relative to the first statement."""
    found = trial.throughput if kind == THROUGHPUT else trial.latency
    return None if found is None else LoadSeconds(found.at - trial.statements[0].starts_at, found.values)


def _frame(changes: Iterable[SchemaChange], kind: str) -> Frame | None:
    """The time range covers both kinds."""
    trials = [trial for change in changes for trial in drawn(change)]
    clocks = [found.at for trial in trials if (found := _seconds(trial, THROUGHPUT)) is not None]
    values = [found.values for trial in trials if (found := _seconds(trial, kind)) is not None]
    highest = max((float(np.nanmax(each)) for each in values if not np.isnan(each).all()), default=0.0)
    if not clocks or highest <= 0:
        return None
    first, last = min(float(at[0]) for at in clocks), max(float(at[-1]) for at in clocks)
    return Frame(first, last, highest * 1.05) if last > first else None


def _chart(change: SchemaChange, kind: str, frame: Frame) -> ChangeChart | None:
    each = [(trial, found) for trial in drawn(change) if (found := _seconds(trial, kind)) is not None]
    if not each:
        return None
    starts = [(trial, statement, trial.statements[0].starts_at) for trial, _ in each for statement in trial.statements]
    spans = [(frame.x(done.starts_at - start), frame.x(done.ends_at - start)) for _, done, start in starts]
    unit = "transactions/s" if kind == THROUGHPUT else f"{change.latency.rsplit('.', 1)[-1]}, ms"
    return ChangeChart(
        kind=kind,
        unit=unit,
        label=_label(change, kind, each),
        across=tuple(ChangeTick(frame.x(tick), f"{tick:g}") for tick in linear_ticks(frame.first, frame.last)),
        down=tuple(ChangeTick(frame.y(tick), f"{tick:,g}") for tick in linear_ticks(0, frame.highest)),
        zero=frame.x(0),
        # An instant change is drawn as a line.
        spans=tuple((left, max(right - left, 1.0)) for left, right in spans),
        paths=tuple(_path(found, frame) for _, found in each),
        marks=tuple(mark for trial, found in each if (mark := _mark(trial, found, kind, frame))),
    )


def _path(seconds: LoadSeconds, frame: Frame) -> str:
    """A new subpath after every gap."""
    places = downsample.thin(seconds.values, POINTS)
    parts, pen = [], "M"
    for at, value in zip(seconds.at[places].tolist(), seconds.values[places].tolist(), strict=True):
        if np.isnan(value):
            pen = "M"
            continue
        parts.append(f"{pen}{frame.x(at):g},{frame.y(value):g}")
        pen = "L"
    return "".join(parts)


def _extreme(trial: ChangeTrial, seconds: LoadSeconds, kind: str) -> tuple[float, float] | None:
    """Time and value of the worst interval that ended during the statements or while they settled."""
    start, end = trial.statements[0].starts_at, trial.statements[-1].ends_at
    after = (seconds.at > 0) & (seconds.at <= end - start + SETTLE) & ~np.isnan(seconds.values)
    if not after.any():
        return None
    at, values = seconds.at[after], seconds.values[after]
    place = int(np.argmin(values) if kind == THROUGHPUT else np.argmax(values))
    return float(at[place]), float(values[place])


def _mark(trial: ChangeTrial, seconds: LoadSeconds, kind: str, frame: Frame) -> ExtremeMark | None:
    found = _extreme(trial, seconds, kind)
    if found is None:
        return None
    at, value = found
    word, unit = ("lowest", "transactions/s") if kind == THROUGHPUT else ("highest", "ms")
    title = f"run {trial.run}: {word} {units.with_unit(value, unit)}, {at:.1f} s after the statement's start"
    return ExtremeMark(frame.x(at), frame.y(value), title)


def _label(change: SchemaChange, kind: str, each: Sequence[tuple[ChangeTrial, LoadSeconds]]) -> str:
    """Text alternative of the chart."""
    worst = [found for trial, seconds in each if (found := _extreme(trial, seconds, kind))]
    what = "Throughput" if kind == THROUGHPUT else f"Latency, {change.latency.rsplit('.', 1)[-1]}"
    runs = counted(len(each), "run")
    if not worst:
        return f"{what} of {runs} of {change.system_name}, {change.manner.text}: nothing after the statement"
    at, value = (min if kind == THROUGHPUT else max)(worst, key=lambda found: found[1])
    word = "lowest" if kind == THROUGHPUT else "highest"
    shown = units.with_unit(value, "transactions/s" if kind == THROUGHPUT else "ms")
    return f"{what} of {runs} of {change.system_name}, {change.manner.text}: {word} {shown}, {at:.0f} s after its start"
