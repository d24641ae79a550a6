"""The chart of a finding: every run of both sides on one axis, as SVG. Pure.

The axis begins at zero; if the values are too close together for that, it begins below the lowest one, is drawn broken,
and is labelled so.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.core.text import counted
from apps.core.units import format_number, with_unit
from apps.web.components.ticks import linear_ticks

# In drawing units, which are pixels at the usual width.
WIDTH, HEIGHT = 620, 252
# For phones.
NARROW = 340
LEFT, RIGHT, TOP, BOTTOM = 64, 14, 26, 50
GAP = 26
# Width of a character of a side's name, in drawing units.
CHARACTER = 6.8
# From zero unless all values lie within this share of the highest.
CLOSE = 0.35
# Margin above and below, as a share of the shown range.
ROOM = 0.12


@dataclass(frozen=True)
class RunValue:
    """One run: `value` in the metric's unit; `note`: a caution, or empty."""

    run: int
    value: float
    note: str = ""


@dataclass(frozen=True)
class SideValues:
    """`level`: the value of the side as a whole; None: unknown."""

    title: str
    values: Sequence[RunValue]
    level: float | None


@dataclass(frozen=True)
class RunPoint:
    x: float
    y: float
    run: int
    title: str
    doubted: bool


@dataclass(frozen=True)
class Band:
    """One side: its horizontal range, its name shortened to fit, its points, and the line of its level with its text.

    `y`: of that line; None: none.
    """

    left: float
    right: float
    middle: float
    title: str
    points: tuple[RunPoint, ...]
    y: float | None
    text: str


@dataclass(frozen=True)
class FindingTick:
    y: float
    text: str


@dataclass(frozen=True)
class FindingChart:
    """`broken_at`: the start of a broken axis, in words; empty: zero. `label`: text alternative.

    `threshold`: (top, height) of the band around the earlier level within which changes are not reported.
    """

    width: int
    height: int
    unit: str
    bands: tuple[Band, Band]
    ticks: tuple[FindingTick, ...]
    broken_at: str
    label: str
    threshold: tuple[float, float] | None = None

    @property
    def bottom(self) -> int:
        return HEIGHT - BOTTOM

    @property
    def left(self) -> int:
        return LEFT

    @property
    def inner(self) -> int:
        return self.right - LEFT

    @property
    def doubted(self) -> bool:
        return any(point.doubted for band in self.bands for point in band.points)

    @property
    def right(self) -> int:
        return self.width - RIGHT

    @property
    def top(self) -> int:
        return TOP


@dataclass(frozen=True)
class _Axis:
    low: float
    high: float

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share, 1)


def chart(
    before: SideValues,
    after: SideValues,
    *,
    metric: str,
    unit: str,
    smallest: float | None = None,
    width: int = WIDTH,
) -> FindingChart | None:
    """`smallest`: smallest relative difference that is a finding. None: no run of either side has a value."""
    values = [each.value for side in (before, after) for each in side.values]
    if not values:
        return None
    shown = values + [side.level for side in (before, after) if side.level is not None]
    axis = _axis(min(shown), max(shown))
    middle = (LEFT + width - RIGHT) / 2
    bands = (
        _band(before, LEFT, middle - GAP / 2, axis, unit),
        _band(after, middle + GAP / 2, width - RIGHT, axis, unit),
    )
    threshold = None
    if smallest is not None and before.level is not None and before.level > 0:
        top = axis.y(min(before.level * (1 + smallest), axis.high))
        foot = axis.y(max(before.level * (1 - smallest), axis.low))
        threshold = (top, round(foot - top, 1))
    return FindingChart(
        width=width,
        height=HEIGHT,
        unit=unit,
        bands=bands,
        ticks=tuple(FindingTick(axis.y(tick), f"{tick:,g}") for tick in linear_ticks(axis.low, axis.high)),
        broken_at=with_unit(axis.low, unit) if axis.low > 0 else "",
        label="; ".join(_side_words(side, unit) for side in (before, after)) + f": {metric} of each run",
        threshold=threshold,
    )


def _axis(lowest: float, highest: float) -> _Axis:
    if lowest < 0 or highest <= 0:
        room = (highest - lowest) * ROOM or 1.0
        return _Axis(lowest - room, highest + room)
    spread = highest - lowest
    if spread < highest * CLOSE:
        room = max(spread, highest * 0.002)
        low = lowest - room
        # A round number, so that the start of the axis is easy to read.
        step = linear_ticks(low, highest + room)
        floors = [tick for tick in step if tick <= lowest - room * ROOM]
        return _Axis(max(floors, default=low), highest + room * 2 * ROOM)
    return _Axis(0.0, highest * (1 + ROOM))


def _band(side: SideValues, left: float, right: float, axis: _Axis, unit: str) -> Band:
    count = len(side.values)
    step = (right - left) / max(count, 1)
    points = tuple(
        RunPoint(
            x=round(left + step * (place + 0.5), 1),
            y=axis.y(each.value),
            run=each.run,
            title=f"run {each.run}: {with_unit(each.value, unit)}" + (f", {each.note}" if each.note else ""),
            doubted=bool(each.note),
        )
        for place, each in enumerate(side.values)
    )
    return Band(
        left=round(left, 1),
        right=round(right, 1),
        middle=round((left + right) / 2, 1),
        title=_shortened(side.title, int((right - left + GAP) / CHARACTER)),
        points=points,
        y=axis.y(side.level) if side.level is not None else None,
        text=format_number(side.level) if side.level is not None else "",
    )


def _shortened(title: str, room: int) -> str:
    return title if len(title) <= room else f"{title[: room - 1].rstrip()}…"


def _side_words(side: SideValues, unit: str) -> str:
    runs = counted(len(side.values), "run")
    level = f", {with_unit(side.level, unit)}" if side.level is not None else ""
    return f"{side.title}, {runs}{level}"
