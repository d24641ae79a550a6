"""Rates and statistics of series. Pure: arrays in, numbers out.

A rate is taken over the actual interval between two observed samples, however long. A counter that fell (a restart, a
failover) has no rate in that interval and is counted as a reset.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from apps.catalog.pure import period_of
from apps.runs.samples.columns import covers_interval
from apps.runs.storage.codec import Column

Floats = NDArray[np.float64]
COUNTER = "counter"
# Length of the interval covered by a series' first value, s, which has no previous sample.
FIRST_LENGTH = 1.0
# Above this, squares may overflow float64: such values are scaled by the largest one first.
LARGE = 1e100
PERCENTILES = np.array([0.01, 0.05, 0.50, 0.95, 0.99])


@dataclass(frozen=True)
class Phase:
    """Part of a run's clock, s: `start` <= t < `end`."""

    start: float
    end: float

    def within(self, at: Floats) -> tuple[int, int]:
        """Half-open index range of the ascending times `at` that are inside the phase."""
        first, end = np.searchsorted(at, (self.start, self.end)).tolist()
        return first, end


WHOLE_RUN = Phase(-np.inf, np.inf)


@dataclass(frozen=True)
class Rates:
    """Rates of a counter, one per interval [`since`, `at`] between observed samples, s on the run's clock.

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


class SeriesStatistics(NamedTuple):  # a run has thousands: a data class takes six times as long to make
    """Statistics of a series; None: not observed. `stddev`: of the population. A counter's are those of its rate, with
    mean and deviation weighted by the intervals' lengths; `increase`: the sum of its positive steps."""

    count: int  # type: ignore[assignment]  # in place of the tuple's method
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
    """Rates of `counter`; `clock`: times of the samples, s, ascending."""
    at, values = clock, counter.values
    if not counter.observed.all():
        at, values = at[counter.observed], values[counter.observed]
    older, newer = values[:-1], values[1:]
    if values.dtype == np.float64:
        steps = newer - older
    else:
        # Modulo 2^64, a positive difference of two 64-bit integers is exact.
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
    """Statistics of a counter's rates in the intervals `inside`."""
    resets = int(np.count_nonzero(found.fell[inside]))
    values, lengths = found.per_second[inside], found.at[inside] - found.since[inside]
    timed = ~np.isnan(values)
    if not timed.all():
        values, lengths = values[timed], lengths[timed]
    if not len(values):
        return SeriesStatistics(count=0, resets=resets)
    return _summary(values, weights=lengths, increase=float(found.steps[inside].sum()), resets=resets)


class Described(Protocol):
    """The attributes of a metric that its statistics depend on."""

    @property
    def key(self) -> str: ...

    @property
    def kind(self) -> str: ...


def of_series(metric: Described, clock: Floats, series: Column, phase: Phase) -> SeriesStatistics:
    """Statistics of a series over `phase`; for a counter, those of its rate."""
    return of_phases(metric, clock, series, (phase,))[0]


def of_phases(metric: Described, clock: Floats, series: Column, phases: Sequence[Phase]) -> list[SeriesStatistics]:
    """Statistics of a series over several phases, in their order."""
    if metric.kind == COUNTER:
        found = rates(clock, series)
        middles = (found.since + found.at) / 2  # an interval belongs to the phase that contains its middle
        return _once_each(phases, middles, lambda inside: _of_intervals(found, inside))
    seen = series.observed.all()
    at = clock if seen else clock[series.observed]
    values = series.as_float() if seen else series.as_float()[series.observed]
    moments = interval_middles(at, period_of(metric.key)) if covers_interval(metric.key) else at
    return of_values(moments, values, phases)


def of_values(
    at: Floats, values: Floats, phases: Sequence[Phase], *, lengths: Floats | None = None
) -> list[SeriesStatistics]:
    """Statistics of observed `values` at the ascending times `at`; `lengths` of the intervals that they cover, s."""

    def summarise(inside: slice) -> SeriesStatistics:
        if not len(values[inside]):
            return SeriesStatistics(count=0)
        return _summary(values[inside], weights=None if lengths is None else lengths[inside])

    return _once_each(phases, at, summarise)


def _once_each(
    phases: Sequence[Phase], at: Floats, summarise: Callable[[slice], SeriesStatistics]
) -> list[SeriesStatistics]:
    """One summary per phase; phases with the same samples share it. `at` ascends."""
    places = [phase.within(at) for phase in phases]
    found = {place: summarise(slice(*place)) for place in set(places)}
    return [found[place] for place in places]


def interval_middles(at: Floats, length: float | None = None) -> Floats:
    """Middles of the intervals that end at `at`; `length` in s, None: the time since the previous sample."""
    if length is not None:
        return at - length / 2
    return at - np.diff(at, prepend=at[:1] - FIRST_LENGTH) / 2


def _summary(
    values: Floats, *, weights: Floats | None, increase: float | None = None, resets: int = 0
) -> SeriesStatistics:
    (found,) = of_rows(values[np.newaxis], weights, None if increase is None else [increase])
    return found._replace(resets=resets) if resets else found


def of_rows(rows: Floats, weights: Floats | None, increases: Sequence[float] | None = None) -> list[SeriesStatistics]:
    """Statistics of `rows` (series x values, at least one, all observed); `weights` of values, common to all rows."""
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
    return [SeriesStatistics(rows.shape[1], *(*values, one)) for values, one in zip(found.tolist(), every, strict=True)]


def _mean(rows: Floats, weights: Floats | None) -> Floats:
    """Mean per row, independent of the other rows: a matrix product would round them together."""
    found: Floats = rows.mean(axis=1) if weights is None else np.einsum("ij,j->i", rows, weights) / weights.sum()
    return found[:, np.newaxis]


@lru_cache(maxsize=256)
def _neighbours(length: int) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """For `length` sorted values: indices of the neighbours of each of PERCENTILES, and the fraction between them."""
    places = PERCENTILES * (length - 1)
    below = places.astype(np.intp)
    return below, np.minimum(below + 1, length - 1), places - below
