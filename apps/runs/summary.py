"""Rates and statistics of series. Pure: arrays in, numbers out.

A rate is taken over the interval that was measured: between two observed samples, whatever time lies between them. A
counter that fell (a restart, a failover) gives no rate for that interval and is counted as a reset.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from apps.runs.codec import Column
from apps.runs.sampled import covers_interval

Floats = NDArray[np.float64]
COUNTER = "counter"


@dataclass(frozen=True)
class Phase:
    """Part of a run's clock, s: `start` <= t < `end`."""

    start: float
    end: float

    def holds(self, at: Floats) -> NDArray[np.bool_]:
        return (at >= self.start) & (at < self.end)


WHOLE_RUN = Phase(-np.inf, np.inf)


@dataclass(frozen=True)
class Rates:
    """Of one counter, one entry per interval between observed samples: [`since`, `at`], s on the run's clock.

    `per_second` is NaN where the counter fell; `steps` is 0 there.
    """

    since: Floats
    at: Floats
    steps: Floats
    per_second: Floats
    fell: NDArray[np.bool_]

    def on_clock(self, clock: Floats) -> Floats:
        """One value per sample of `clock` after the first; NaN: not observed, or fell."""
        values = np.full(max(len(clock) - 1, 0), np.nan)
        values[np.searchsorted(clock, self.at) - 1] = self.per_second
        return values

    def resets(self) -> list[float]:
        found: list[float] = self.at[self.fell].tolist()
        return found


@dataclass(frozen=True)
class Summary:
    """Statistics of one series; None: not observed. `stddev` is of the population; of a counter, all are of its rate,
    with mean and deviation weighted by the length of the intervals, and `increase` is the sum of its positive steps."""

    count: int
    mean: float | None = None
    stddev: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    p1: float | None = None
    p5: float | None = None
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None
    first: float | None = None
    last: float | None = None
    increase: float | None = None
    resets: int = 0


def rates(clock: Floats, counter: Column) -> Rates:
    """`clock`: when each sample was taken, s, rising."""
    seen = counter.observed
    at, values = clock[seen], counter.values[seen]
    older, newer = values[:-1], values[1:]
    fell = newer < older
    if values.dtype == np.float64:
        steps = newer - older
    else:
        # Modulo 2^64 the difference of any two integers of 64 bits is exact where it is positive.
        steps = (newer.view(np.uint64) - older.view(np.uint64)).astype(np.float64)
    steps = np.where(fell, 0.0, steps)
    seconds = np.diff(at)
    timed = ~fell & (seconds > 0)
    per_second = np.full(len(steps), np.nan)
    per_second[timed] = steps[timed] / seconds[timed]
    return Rates(since=at[:-1], at=at[1:], steps=steps, per_second=per_second, fell=fell)


def of_counter(found: Rates, phase: Phase) -> Summary:
    """An interval belongs to the phase that holds its middle."""
    inside = phase.holds((found.since + found.at) / 2)
    resets = int(np.count_nonzero(found.fell & inside))
    timed = inside & ~np.isnan(found.per_second)
    if not timed.any():
        return Summary(count=0, resets=resets)
    return _summary(
        found.per_second[timed],
        weights=(found.at - found.since)[timed],
        increase=float(found.steps[inside].sum()),
        resets=resets,
    )


def of_gauge(at: Floats, values: Floats, phase: Phase) -> Summary:
    """`at`: the moment that decides whether a sample belongs to the phase; NaN: not observed."""
    inside = phase.holds(at) & ~np.isnan(values)
    if not inside.any():
        return Summary(count=0)
    return _summary(values[inside], weights=None)


class Described(Protocol):
    """A metric, as far as its statistics depend on it."""

    @property
    def key(self) -> str: ...

    @property
    def kind(self) -> str: ...


def of_series(metric: Described, clock: Floats, series: Column, phase: Phase) -> Summary:
    """Statistics of a series over `phase`; of a counter, those of its rate."""
    if metric.kind == COUNTER:
        return of_counter(rates(clock, series), phase)
    at, values = clock[series.observed], series.as_float()[series.observed]
    return of_gauge(interval_middles(at) if covers_interval(metric.key) else at, values, phase)


def interval_middles(at: Floats, first_length: float = 1.0) -> Floats:
    """For values that cover the time since the sample before: the middle of each. `first_length`: of the first, s."""
    return at - np.diff(at, prepend=at[:1] - first_length) / 2


def _summary(values: Floats, *, weights: Floats | None, increase: float | None = None, resets: int = 0) -> Summary:
    mean = float(np.average(values, weights=weights))
    p1, p5, p50, p95, p99 = np.percentile(values, (1, 5, 50, 95, 99)).tolist()
    return Summary(
        count=len(values),
        mean=mean,
        stddev=float(np.sqrt(np.average((values - mean) ** 2, weights=weights))),
        minimum=float(values.min()),
        maximum=float(values.max()),
        p1=p1,
        p5=p5,
        p50=p50,
        p95=p95,
        p99=p99,
        first=float(values[0]),
        last=float(values[-1]),
        increase=increase,
        resets=resets,
    )
