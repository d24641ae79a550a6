"""Insert rate of a growing table against its rows. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

# Number of equal stretches of the rows inserted.
STRETCHES = 60
# Share at the end of the rows shared by all runs, over which their last speed is measured.
LAST = 0.1

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Inserted:
    """One run, by interval: `rows` in the table and `seconds` since its load began at the end of the interval, `rates`
    over it, rows/s."""

    rows: Floats
    seconds: Floats
    rates: Floats

    @property
    def total(self) -> float:
        return float(self.rows[-1])

    def time_to(self, rows: float) -> float:
        """Time until `rows` rows were inserted first, s, interpolated within an interval; at most that of `total`: not
        what a run stood still or waited afterwards."""
        asked, counts = min(rows, self.total), np.append(0.0, self.rows)
        end = int(np.searchsorted(counts, asked)) + 1
        return float(np.interp(asked, counts[:end], np.append(0.0, self.seconds)[:end]))


@dataclass(frozen=True)
class RowSpan:
    """From `start` to `end` rows inserted: rows/s over the stretch, and of its slowest and fastest interval."""

    start: Annotated[float, "rows inserted"]
    end: float
    rate: Annotated[float, "rows/s over the whole of it"]
    slowest: Annotated[float, "rows/s of the slowest interval that touches it"]
    fastest: float


def inserted(at: Floats, rates: Floats) -> Inserted | None:
    """`at`: ends of the intervals, s; `rates` over them, NaN: not observed. None: nothing was inserted.

    The first interval has the median length. The rate of an unobserved interval is interpolated from its neighbours.
    """
    known = np.isfinite(rates)
    if len(at) < 2 or not known.any():
        return None
    lengths = np.diff(at, prepend=at[0] - float(np.median(np.diff(at))))
    filled = np.interp(at, at[known], rates[known])
    rows = np.cumsum(filled * lengths)
    if rows[-1] <= 0:
        return None
    return Inserted(rows=rows, seconds=np.cumsum(lengths), rates=np.where(known, rates, np.nan))


def stretches(run: Inserted, width: float) -> tuple[RowSpan, ...]:
    """The stretches that the run completed, each `width` rows."""
    found = []
    for place in range(int(run.total / width + 1e-9)):
        start, end = place * width, (place + 1) * width
        taken = run.time_to(end) - run.time_to(start)
        # Intervals that overlap the stretch.
        first = int(np.searchsorted(run.rows, start, "right"))
        last = int(np.searchsorted(run.rows, end, "left"))
        rates = run.rates[first : last + 1]
        rates = rates[np.isfinite(rates)]
        rate = width / taken if taken > 0 else float("nan")
        # Rounding must not place the mean outside its parts.
        slowest, fastest = min(rates.min(initial=rate), rate), max(rates.max(initial=rate), rate)
        found.append(RowSpan(start, end, rate, float(slowest), float(fastest)))
    return tuple(found)


def width_of(runs: Sequence[Inserted]) -> float:
    return max(run.total for run in runs) / STRETCHES


def last_rate(run: Inserted, rows: float) -> float:
    """rows/s over the last tenth of the first `rows` rows."""
    taken = run.time_to(rows) - run.time_to((1 - LAST) * rows)
    return LAST * rows / taken
