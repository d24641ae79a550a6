"""Effect of a change on a steady load: the baseline, and the depth and length of the throughput stall. Pure."""

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

FEWEST = 3  # intervals needed for a baseline
SERVED = 0.9  # of the requested rate; a load below it has no defined stall


@dataclass(frozen=True)
class LoadInterval:
    """Transactions that ended in the `seconds` before `end`, s on the load's clock."""

    end: float
    seconds: float
    transactions: float

    @property
    def start(self) -> float:
        return self.end - self.seconds

    @property
    def rate(self) -> float:
        return self.transactions / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True)
class Stall:
    """`length`: s with throughput below a share of the baseline; `depth`: per cent lost in the worst second."""

    length: float
    depth: float


def baseline(intervals: Sequence[LoadInterval], *, since: float, until: float) -> float | None:
    """Median throughput of the intervals entirely within, 1/s; None: fewer than FEWEST."""
    whole = _within(intervals, since, until)
    return statistics.median(interval.rate for interval in whole) if len(whole) >= FEWEST else None


def is_served(intervals: Sequence[LoadInterval], *, rate: float, since: float, until: float) -> bool:
    """Whether random arrivals at `rate` 1/s were served: within three standard deviations of chance."""
    whole = _within(intervals, since, until)
    expected = rate * sum(interval.seconds for interval in whole)
    done = sum(interval.transactions for interval in whole)
    return bool(whole) and done >= SERVED * expected - 3 * math.sqrt(expected)


def _within(intervals: Sequence[LoadInterval], since: float, until: float) -> list[LoadInterval]:
    return [interval for interval in intervals if interval.start >= since - 0.05 and interval.end <= until]


def stall(
    intervals: Sequence[LoadInterval], *, base: float, spans: Sequence[tuple[float, float]], share: float
) -> Stall:
    """The stall in the intervals that overlap one of `spans` or several, from and to in s; each interval counts once. A
    second counts below `share` per cent of `base`."""
    touched = [
        interval
        for interval in intervals
        if any(interval.end > since and interval.start < until for since, until in spans)
    ]
    if not touched or base <= 0:
        return Stall(0.0, 0.0)
    length = sum(interval.seconds for interval in touched if interval.rate < base * share / 100)
    worst = min(interval.rate for interval in touched)
    return Stall(round(length, 3), round(max(0.0, 100 * (1 - worst / base)), 2))


def longest_gap(ends: Sequence[float], *, since: float, until: float) -> float:
    """Longest time within [`since`, `until`] without an end, s. `ends`: rising times, s."""
    points = [since, *(end for end in ends if since < end < until), until]
    return round(max(late - early for early, late in itertools.pairwise(points)), 3)
