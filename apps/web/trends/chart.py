"""The chart of a watched series: runs by release, levels between changes, and the changes. Pure.

The axis begins at zero; if the values are too close together for that, it begins below the lowest one and is labelled
so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Protocol

from apps.core.units import with_unit
from apps.web.components.ticks import linear_ticks

# In drawing units, which are pixels at the usual width.
WIDTH, HEIGHT = 1100, 300
LEFT, RIGHT, TOP, BOTTOM = 70, 14, 34, 38
# Number of drawn runs, the newest.
MOST = 400
# From zero unless all values lie within this share of the highest.
CLOSE, ROOM = 0.35, 0.12
# Width of a character of a release's name in drawing units, as large as on a phone.
CHARACTER = 9.4


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
class Marked:
    """A change at a place in the series, in words. `kind`: for the style: worse, better, new or gone."""

    place: int
    words: str
    kind: str
    title: str = ""


@dataclass(frozen=True)
class TrendPoint:
    x: float
    y: float
    run: int
    title: str


@dataclass(frozen=True)
class ReleaseSpan:
    """The runs of one release; `side`: their place in the palette; `text`: empty if there is no room for it."""

    left: float
    right: float
    middle: float
    side: int
    version: str
    text: str
    points: tuple[TrendPoint, ...]


@dataclass(frozen=True)
class LevelLine:
    left: float
    right: float
    y: float
    title: str


@dataclass(frozen=True)
class ChangeMark:
    x: float
    text: str
    kind: str
    title: str
    anchor: str


@dataclass(frozen=True)
class TrendTick:
    y: float
    text: str


@dataclass(frozen=True)
class TrendChart:
    """`broken_at`: the start of a broken axis, in words; empty: zero. `left_out`: older runs that are not drawn.

    `threshold`: (left, width, top, height) of the band around the last level within which changes are not reported.
    """

    unit: str
    stretches: tuple[ReleaseSpan, ...]
    levels: tuple[LevelLine, ...]
    changes: tuple[ChangeMark, ...]
    resets: tuple[ChangeMark, ...]
    ticks: tuple[TrendTick, ...]
    threshold: tuple[float, float, float, float] | None
    broken_at: str
    left_out: int
    label: str
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM


@dataclass(frozen=True)
class _Frame:
    first: int
    last: int
    low: float
    high: float

    def x(self, place: float) -> float:
        """The middle of a run; half a place before it is its edge."""
        share = (place - self.first + 0.5) / (self.last - self.first)
        return round(LEFT + (WIDTH - LEFT - RIGHT) * min(max(share, 0.0), 1.0), 1)

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * min(max(share, 0.0), 1.0), 1)


def chart(
    runs: Sequence[RunLike],
    levels: Sequence[LevelLike],
    changes: Sequence[Marked],
    *,
    unit: str,
    label: str,
    smallest: float | None = None,
) -> TrendChart | None:
    """`smallest`: smallest reported difference, as a share of the value. None: there is no run."""
    if not runs:
        return None
    first = max(0, len(runs) - MOST)
    shown = [run.value for run in runs[first:]]
    low, high = _ends(min(shown), max(shown))
    frame = _Frame(first, len(runs), low, high)
    return TrendChart(
        unit=unit,
        stretches=tuple(_stretches(runs, frame, unit)),
        levels=tuple(
            LevelLine(
                frame.x(max(level.start, first) - 0.5),
                frame.x(level.end - 0.5),
                frame.y(level.value),
                f"median of {level.end - level.start} runs: {with_unit(level.value, unit)}",
            )
            for level in levels
            if level.end > first
        ),
        changes=tuple(_mark(change, frame) for change in changes if change.place >= first),
        resets=tuple(
            ChangeMark(frame.x(place - 0.5), "conditions changed", "reset", run.reset, _anchor(frame.x(place - 0.5)))
            for place, run in enumerate(runs)
            if run.reset and place >= first
        ),
        ticks=tuple(TrendTick(frame.y(tick), f"{tick:,g}") for tick in linear_ticks(low, high)),
        threshold=_threshold(levels, frame, smallest),
        broken_at=with_unit(low, unit) if low > 0 else "",
        left_out=first,
        label=label,
    )


def _ends(lowest: float, highest: float) -> tuple[float, float]:
    """Ends of the axis for values above 0."""
    spread = highest - lowest
    if spread >= highest * CLOSE:
        return 0.0, highest * (1 + ROOM)
    room = max(spread, highest * 0.002)
    low = lowest - room / 2
    floors = [tick for tick in linear_ticks(low - room, highest + room) if tick <= lowest - room * ROOM]
    return max(floors, default=low), highest + room * 2 * ROOM


def _stretches(runs: Sequence[RunLike], frame: _Frame, unit: str) -> list[ReleaseSpan]:
    found = []
    shown = list(enumerate(runs))[frame.first :]
    for side, (version, members) in enumerate(groupby(shown, key=lambda each: each[1].version)):
        own = list(members)
        left, right = frame.x(own[0][0] - 0.5), frame.x(own[-1][0] + 0.5)
        room = int((right - left) / CHARACTER)
        found.append(
            ReleaseSpan(
                left=left,
                right=right,
                middle=round((left + right) / 2, 1),
                side=side % 6,
                version=version,
                text=version if len(version) <= room else "",
                points=tuple(
                    TrendPoint(frame.x(place), frame.y(run.value), run.run, _title(run, unit)) for place, run in own
                ),
            )
        )
    return found


def _title(run: RunLike, unit: str) -> str:
    return f"run {run.run}, {run.version}, {run.started_at:%Y-%m-%d %H:%M} UTC: {with_unit(run.value, unit)}"


def _mark(change: Marked, frame: _Frame) -> ChangeMark:
    x = frame.x(change.place - 0.5)
    return ChangeMark(x, change.words, change.kind, change.title, _anchor(x))


def _anchor(x: float) -> str:
    """The side of its line on which a text has room."""
    return "end" if x > WIDTH - RIGHT - 160 else "start"


def _threshold(
    levels: Sequence[LevelLike], frame: _Frame, smallest: float | None
) -> tuple[float, float, float, float] | None:
    if not levels or smallest is None:
        return None
    last = levels[-1]
    left, right = frame.x(max(last.start, frame.first) - 0.5), frame.x(last.end - 0.5)
    top, foot = frame.y(last.value * (1 + smallest)), frame.y(last.value * (1 - smallest))
    return left, round(right - left, 1), top, round(foot - top, 1)
