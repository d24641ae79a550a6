"""Data of a trend's chart: runs by release, levels between changes, and the changes. Pure.

Fields shared with the REST API have the same names; all values are computed in the server.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from apps.core.answers import Hidden
from apps.core.units import with_unit
from apps.web.components.axes import ValueAxis, value_axis

# Number of drawn runs, the newest.
MOST = 400


class RunLike(Protocol):
    """`reset`: conditions that differ from those of previous runs; empty: none."""

    @property
    def run(self) -> int: ...
    @property
    def version(self) -> str: ...
    @property
    def started_at(self) -> datetime: ...
    @property
    def value(self) -> float: ...
    @property
    def reset(self) -> str: ...


class LevelLike(Protocol):
    """Runs in [`start`, `end`), and their median."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def value(self) -> float: ...


@dataclass(frozen=True)
class ChangeMark:
    """A change at a place in the series, in words. `kind`: for the style: worse, better, new or gone."""

    place: int
    text: str
    kind: str
    title: str = ""


@dataclass(frozen=True)
class TrendPoint:
    run: int
    version: str
    started_at: datetime
    value: float
    reset: str
    text: str


@dataclass(frozen=True)
class LevelLine:
    """From `first` to `last`, which differ by the drift; `value`: between."""

    start: int
    end: int
    value: float
    first: float
    last: float
    text: str


@dataclass(frozen=True)
class ThresholdBand:
    """Around the last level, from the run `start` on: changes to values within it are not reported."""

    start: int
    low: float
    high: float


@dataclass(frozen=True)
class TrendChart:
    """`points` begin at the place `left_out` of the series: older runs are not drawn. `label`: text alternative.

    `color`: place of the platform in the palette.
    """

    anchor: str
    color: int
    metric_name: str
    unit: str
    label: Hidden[str]
    axis: ValueAxis
    left_out: int
    points: tuple[TrendPoint, ...]
    levels: tuple[LevelLine, ...]
    changes: tuple[ChangeMark, ...]
    band: ThresholdBand | None


def chart(
    runs: Sequence[RunLike],
    levels: Sequence[LevelLike],
    changes: Sequence[ChangeMark],
    *,
    anchor: str,
    color: int,
    metric_name: str,
    unit: str,
    label: str,
    smallest: float | None = None,
    slope: float = 0.0,
) -> TrendChart | None:
    """`smallest`: smallest reported difference, as a share of the value; `slope`: of the logarithm, per run since the
    last reset. None: there is no run."""
    if not runs:
        return None
    first = max(0, len(runs) - MOST)
    since = max((place for place, run in enumerate(runs) if run.reset), default=0)
    return TrendChart(
        anchor=anchor,
        color=color,
        metric_name=metric_name,
        unit=unit,
        label=label,
        axis=value_axis([run.value for run in runs[first:]], unit, below=0.5, round_below=1.5),
        left_out=first,
        points=tuple(
            TrendPoint(run.run, run.version, run.started_at, run.value, run.reset, _text(run, unit))
            for run in runs[first:]
        ),
        levels=tuple(
            _line(level, slope if level.start >= since else 0.0, unit) for level in levels if level.end > first
        ),
        changes=tuple(change for change in changes if change.place >= first),
        band=_band(levels, smallest, slope),
    )


def _line(level: LevelLike, slope: float, unit: str) -> LevelLine:
    runs = level.end - level.start
    reach = math.exp(slope * runs / 2)
    text = f"median of {runs} runs: {with_unit(level.value, unit)}{'; the line has the drift' * bool(slope)}"
    return LevelLine(level.start, level.end, level.value, level.value / reach, level.value * reach, text)


def _text(run: RunLike, unit: str) -> str:
    return f"run {run.run}, {run.version}, {run.started_at:%Y-%m-%d %H:%M} UTC: {with_unit(run.value, unit)}"


def _band(levels: Sequence[LevelLike], smallest: float | None, slope: float) -> ThresholdBand | None:
    if not levels or smallest is None:
        return None
    last = levels[-1]
    value = last.value * math.exp(slope * (last.end - last.start) / 2)
    return ThresholdBand(last.start, value * (1 - smallest), value * (1 + smallest))
