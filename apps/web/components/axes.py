"""Value axes of charts, computed in the server so that a chart and its text agree. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.core.units import with_unit
from apps.web.components.ticks import linear_ticks

# From zero unless all values lie within this share of the highest.
CLOSE = 0.35
# Margin above and below, as a share of the shown range.
ROOM = 0.12
# Assumed spread of equal values, as a share of the highest.
LEAST_SPREAD = 0.002


@dataclass(frozen=True)
class TickedAxis:
    range: tuple[float, float]
    ticks: Sequence[float]
    texts: Sequence[str]


@dataclass(frozen=True)
class ValueAxis:
    """`begins_at`: note on an axis that does not begin at zero; empty: it does."""

    range: tuple[float, float]
    ticks: tuple[float, ...]
    texts: tuple[str, ...]
    begins_at: str


def value_axis(values: Sequence[float], unit: str, *, below: float, round_below: float) -> ValueAxis:
    """From zero, or, for values close together, from a round number at most `round_below` their spread below them.

    Without such a number it begins at `below` their spread below them.
    """
    low, high = _ends(min(values), max(values), below, round_below)
    ticks = tuple(linear_ticks(low, high))
    return ValueAxis((low, high), ticks, tuple(f"{tick:,g}" for tick in ticks), with_unit(low, unit) if low > 0 else "")


def _ends(lowest: float, highest: float, below: float, round_below: float) -> tuple[float, float]:
    spread = highest - lowest
    if lowest < 0 or highest <= 0:
        room = spread * ROOM or 1.0
        return lowest - room, highest + room
    if spread >= highest * CLOSE:
        return 0.0, highest * (1 + ROOM)
    room = max(spread, highest * LEAST_SPREAD)
    ticks = linear_ticks(lowest - room * round_below, highest + room)
    floors = [tick for tick in ticks if tick <= lowest - room * ROOM]
    return max(floors, default=lowest - room * below), highest + room * 2 * ROOM
