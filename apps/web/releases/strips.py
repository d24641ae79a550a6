"""Changes of a release with their intervals as strips on one scale: worse on the left, whatever the metric."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from apps.regressions.api import CheckRow

# The scale's end, as logarithm of a ratio: that of the farthest interval, but no less and no more than these.
LEAST, MOST = math.log(1.05), math.log(4)
ROOM = 1.05


@dataclass(frozen=True)
class Strip:
    """In per cent from the left; 50 is no change. `band`: on both sides of it, within which a change does not count.

    `is_cut`: the interval goes on beyond the scale.
    """

    at: float
    low: float
    high: float
    band: float
    is_cut: bool

    @property
    def span(self) -> float:
        return self.high - self.low

    @property
    def band_start(self) -> float:
        return 50 - self.band

    @property
    def band_width(self) -> float:
        return 2 * self.band


def strips(rows: Sequence[CheckRow]) -> list[Strip | None]:
    """None: the row has no ratio, or no interval."""
    found = [_ends(row) for row in rows]
    farthest = max((max(abs(low), abs(high)) for _, low, high in filter(None, found)), default=LEAST)
    scale = min(max(farthest, LEAST), MOST) * ROOM
    return [_strip(*ends, row.smallest, scale) if ends else None for row, ends in zip(rows, found, strict=True)]


def _ends(row: CheckRow) -> tuple[float, float, float] | None:
    """Change and interval as logarithms, positive where better."""
    if row.ratio is None or row.low is None or row.high is None:
        return None
    sign = -1 if row.direction == "lower" else 1
    low, high = sorted(sign * _log(each) for each in (row.low, row.high))
    return sign * _log(row.ratio), low, high


def _log(ratio: float) -> float:
    if ratio <= 0:
        return -math.inf
    return math.log(ratio) if math.isfinite(ratio) else math.inf


def _strip(at: float, low: float, high: float, smallest: float, scale: float) -> Strip:
    def place(value: float) -> float:
        return 50 + 50 * min(max(value / scale, -1.0), 1.0)

    is_cut = low < -scale or high > scale
    return Strip(place(at), place(low), place(high), place(math.log1p(smallest)) - 50, is_cut)
