"""Rates and statistics of series. Pure: arrays in, numbers out.

A rate is taken over the interval that was measured: between two observed samples, whatever time lies between them. A
counter that fell (a restart, a failover) gives no rate for that interval and is counted as a reset.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from apps.catalog.pure import period_of
from apps.runs.samples.columns import covers_interval
from apps.runs.storage.codec import Column

Floats = NDArray[np.float64]
COUNTER = "counter"
# Of the interval that the first value of a series covers, s: there is no sample before it.
FIRST_LENGTH = 1.0
# Beyond this float64 may not hold the squares: such values are divided by the largest and summarised then.
LARGE = 1e100
_OF_VALUES = ("mean", "stddev", "minimum", "maximum", "p1", "p5", "p50", "p95", "p99", "first", "last")
PERCENTILES = np.array([0.01, 0.05, 0.50, 0.95, 0.99])


@dataclass(frozen=True)
class Phase:
    """Part of a run's clock, s: `start` <= t < `end`."""

    start: float
    end: float

    def within(self, at: Floats) -> tuple[int, int]:
        """From which place to before which those of `at`, rising, are in it."""
        first, end = np.searchsorted(at, (self.start, self.end)).tolist()
        return first, end


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
        if len(self.at) == len(clock) - 1:
            return self.per_second
        values = np.full(max(len(clock) - 1, 0), np.nan)
        values[np.searchsorted(clock, self.at) - 1] = self.per_second
        return values

    def resets(self) -> list[float]:
        found: list[float] = self.at[self.fell].tolist()
        return found


@dataclass(frozen=True)
class SeriesStatistics:
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
    at, values = clock, counter.values
    if not counter.observed.all():
        at, values = at[counter.observed], values[counter.observed]
    older, newer = values[:-1], values[1:]
    if values.dtype == np.float64:
        steps = newer - older
    else:
        # Modulo 2^64 the difference of any two integers of 64 bits is exact where it is positive.
        steps = (newer.view(np.uint64) - older.view(np.uint64)).astype(np.float64)
    fell = newer < older
    since, until = at[:-1], at[1:]
    seconds = until - since
    has_fallen = fell.any()
    if has_fallen:
        steps[fell] = 0.0
    if has_fallen or not (seconds > 0).all():
        per_second = np.full(len(steps), np.nan)
        np.divide(steps, seconds, out=per_second, where=~fell & (seconds > 0))
    else:
        per_second = steps / seconds
    return Rates(since=since, at=until, steps=steps, per_second=per_second, fell=fell)


def _of_intervals(found: Rates, inside: slice) -> SeriesStatistics:
    """Of the rates of a counter in the intervals that are `inside`."""
    resets = int(np.count_nonzero(found.fell[inside]))
    values, lengths = found.per_second[inside], found.at[inside] - found.since[inside]
    timed = ~np.isnan(values)
    if not timed.all():
        values, lengths = values[timed], lengths[timed]
    if not len(values):
        return SeriesStatistics(count=0, resets=resets)
    return _summary(values, weights=lengths, increase=float(found.steps[inside].sum()), resets=resets)


class Described(Protocol):
    """A metric, as far as its statistics depend on it."""

    @property
    def key(self) -> str: ...

    @property
    def kind(self) -> str: ...


def of_series(metric: Described, clock: Floats, series: Column, phase: Phase) -> SeriesStatistics:
    """Statistics of a series over `phase`; of a counter, those of its rate."""
    return of_phases(metric, clock, series, (phase,))[0]


def of_phases(metric: Described, clock: Floats, series: Column, phases: Sequence[Phase]) -> list[SeriesStatistics]:
    """The same over several phases, in their order."""
    if metric.kind == COUNTER:
        found = rates(clock, series)
        middles = (found.since + found.at) / 2  # an interval belongs to the phase that holds its middle
        return _once_each(phases, middles, lambda inside: _of_intervals(found, inside))
    seen = series.observed.all()
    at = clock if seen else clock[series.observed]
    values = series.as_float() if seen else series.as_float()[series.observed]
    moments = interval_middles(at, period_of(metric.key)) if covers_interval(metric.key) else at
    return of_values(moments, values, phases)


def of_values(
    at: Floats, values: Floats, phases: Sequence[Phase], *, lengths: Floats | None = None
) -> list[SeriesStatistics]:
    """Of observed `values`, each of the moment in `at`, which rises; `lengths`: of the intervals they cover, s."""

    def summarise(inside: slice) -> SeriesStatistics:
        if not len(values[inside]):
            return SeriesStatistics(count=0)
        return _summary(values[inside], weights=None if lengths is None else lengths[inside])

    return _once_each(phases, at, summarise)


def _once_each(
    phases: Sequence[Phase], at: Floats, summarise: Callable[[slice], SeriesStatistics]
) -> list[SeriesStatistics]:
    """One summary for each phase; phases with the same samples share theirs. `at` rises."""
    places = [phase.within(at) for phase in phases]
    found = {place: summarise(slice(*place)) for place in set(places)}
    return [found[place] for place in places]


def interval_middles(at: Floats, length: float | None = None) -> Floats:
    """For values that cover `length` s, None: the time since the sample before: the middle of each."""
    if length is not None:
        return at - length / 2
    return at - np.diff(at, prepend=at[:1] - FIRST_LENGTH) / 2


def _summary(
    values: Floats, *, weights: Floats | None, increase: float | None = None, resets: int = 0
) -> SeriesStatistics:
    (found,) = of_rows(values[np.newaxis], weights, None if increase is None else [increase])
    return replace(found, resets=resets) if resets else found


def of_rows(rows: Floats, weights: Floats | None, increases: Sequence[float] | None = None) -> list[SeriesStatistics]:
    """Of each of `rows` (series x values, all observed, at least one); `weights` of the values, the same for all."""
    ordered = np.sort(rows, axis=1)
    largest = np.maximum(-ordered[:, 0], ordered[:, -1])
    scale = np.where(largest > LARGE, largest, 1.0)[:, np.newaxis]
    if (largest > LARGE).any():
        rows, ordered = rows / scale, ordered / scale
    mean = _mean(rows, weights)
    deviation = rows - mean
    deviation *= deviation
    below, above, part = _neighbours(rows.shape[1])
    low = ordered[:, below]
    percentiles = low + (ordered[:, above] - low) * part
    found = np.hstack(
        [
            mean,
            np.sqrt(_mean(deviation, weights)),
            ordered[:, :1],
            ordered[:, -1:],
            percentiles,
            rows[:, :1],
            rows[:, -1:],
        ]
    )
    found *= scale
    every: Sequence[float | None] = increases or [None] * len(rows)
    filled = (dict(zip(_OF_VALUES, values, strict=True)) for values in found.tolist())
    return [SeriesStatistics(rows.shape[1], **values, increase=one) for values, one in zip(filled, every, strict=True)]


def _mean(rows: Floats, weights: Floats | None) -> Floats:
    """One for each row, whatever rows stand beside it: a matrix product would round them together."""
    found: Floats = rows.mean(axis=1) if weights is None else np.einsum("ij,j->i", rows, weights) / weights.sum()
    return found[:, np.newaxis]


@lru_cache(maxsize=256)
def _neighbours(length: int) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """Between which of so many sorted values the PERCENTILES lie, and how far from the first of the two."""
    places = PERCENTILES * (length - 1)
    below = places.astype(np.intp)
    return below, np.minimum(below + 1, length - 1), places - below
