"""Values of a metric over time, on one node or several. Pure: arrays in, arrays out.

Every node has its own clock. On a common clock, a value that covers an interval (a rate) is taken as constant over it,
and each interval of the common clock gets the mean over its time, which keeps totals. A value of an instant (a gauge)
is that of the nearest sample.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from apps.catalog.pure import period_of
from apps.runs.samples import kernels
from apps.runs.samples import rates as samples_rates
from apps.runs.samples.columns import covers_interval
from apps.runs.samples.matrices import SeriesRows, SeriesTable
from apps.runs.samples.rates import COUNTER, FIRST_LENGTH, Described
from apps.runs.storage.codec import Column

Floats = NDArray[np.float64]
SUM, MEAN = "sum", "mean"
# Times closer than this are equal, s.
INSTANT = 1e-9
# A step without samples is a gap above both: a multiple of the median step, and a number of seconds. A step over times
# of the clock at which nothing was observed is one above the lower multiple: there a sample was due.
GAP_STEPS, SHORTEST_GAP, MISSED_STEPS = 2.5, 2.0, 1.5
_LARGEST = 2**63 - 1


@dataclass(frozen=True)
class TimeSeries:
    """`values` at `at` (s, ascending); NaN: not observed. `since`: starts of the intervals that end at `at`; None:
    values of instants. An interval may reach back over indices without a value. `resets`: times at which a counter
    fell. `parts`: number of nodes in each value; None: one.
    """

    at: Floats
    values: Floats
    since: Floats | None = None
    resets: tuple[float, ...] = field(default=())
    parts: NDArray[np.intp] | None = None

    def cut(self, places: "NDArray[np.intp] | NDArray[np.bool_] | slice") -> "TimeSeries":
        """The series at `places`."""
        return TimeSeries(
            at=self.at[places],
            values=self.values[places],
            since=None if self.since is None else self.since[places],
            resets=self.resets,
            parts=None if self.parts is None else self.parts[places],
        )


def of_column(metric: Described, clock: Floats, column: Column) -> TimeSeries:
    """A counter's rates; other metrics unchanged."""
    if metric.kind == COUNTER:
        rates = samples_rates.rates(clock, column)
        since: Floats = clock[:-1]
        if len(rates.at) < len(since):
            since = since.copy()
            since[np.searchsorted(clock, rates.at) - 1] = rates.since
        return TimeSeries(clock[1:], rates.on_clock(clock), since, tuple(rates.resets()))
    return TimeSeries(clock, column.as_float(), _starts(metric.key, clock, column.observed))


def _starts(key: str, clock: Floats, observed: NDArray[np.bool_]) -> Floats | None:
    """Starts of the intervals that values cover: a period before, or at the previous observed one. None: instants."""
    if not covers_interval(key):
        return None
    if period := period_of(key):
        return clock - period
    before = np.maximum.accumulate(np.where(observed, np.arange(len(clock)), -1))
    before = np.concatenate(([-1], before[:-1]))
    return np.where(before < 0, clock - FIRST_LENGTH, clock[before])


def spaced(at: Floats, seen: NDArray[np.bool_]) -> tuple[Floats, NDArray[np.intp]] | None:
    """A series at its own interval, for charts: its times, and their places in `at`; place -1: a gap without samples.
    None: it is so already. `seen`: where it was observed.

    A series that is sampled more slowly than its node's clock has no value at most times, which are no gaps: they are
    left out, and those of gaps are kept.
    """
    is_whole = bool(seen.all())
    if len(at) < 3 or (is_whole and np.diff(at).max() <= SHORTEST_GAP):
        return None
    observed = np.flatnonzero(seen)
    if len(observed) < 3:
        return None
    steps = np.diff(at[observed])
    # The lower median: of few steps, half may be gaps.
    usual = float(np.sort(steps)[(len(steps) - 1) // 2])
    is_missed = np.diff(observed) > 1
    is_gap = steps > np.where(is_missed, MISSED_STEPS * usual, max(GAP_STEPS * usual, SHORTEST_GAP))
    first, last = at[observed[0]] - at[0], at[-1] - at[observed[-1]]
    # Before the first observed value, between each two, and after the last one.
    kept = np.concatenate(([first > MISSED_STEPS * usual], is_gap, [last > MISSED_STEPS * usual]))
    places = np.flatnonzero(seen | kept[np.searchsorted(observed, np.arange(len(at)))])
    after = observed[1:][is_gap & ~is_missed]
    if len(places) == len(at) and not len(after):
        return None
    where = np.searchsorted(places, after)
    return np.insert(at[places], where, at[after] - usual), np.insert(places, where, -1)


def with_gaps(line: TimeSeries) -> TimeSeries:
    """`line` at its own interval, with NaN where nothing was sampled for long: see `spaced`."""
    found = spaced(line.at, ~np.isnan(line.values))
    if found is None:
        return line
    at, places = found
    cut, lost = line.cut(places), places < 0
    return TimeSeries(
        at=at,
        values=np.where(lost, np.nan, cut.values),
        since=cut.since,
        resets=line.resets,
        parts=None if cut.parts is None else np.where(lost, 0, cut.parts),
    )


def at_own_interval(line: TimeSeries) -> TimeSeries:
    """`line` without the times between its samples, unless they are gaps: see `spaced`."""
    found = spaced(line.at, ~np.isnan(line.values))
    return line if found is None else line.cut(found[1][found[1] >= 0])


@dataclass(frozen=True)
class SteadyRates:
    """Rates of counters without gaps and resets: one row of `values` per key."""

    keys: list[str]
    at: Floats
    since: Floats
    values: Floats

    def lines(self) -> dict[str, TimeSeries]:
        return {key: TimeSeries(self.at, self.values[row], self.since) for row, key in enumerate(self.keys)}


def of_steady(clock: Floats, columns: Mapping[str, Column], keys: Collection[str]) -> SteadyRates:
    """Rates of the steady counters among `keys`, at a fraction of the cost of one by one."""
    at, since = clock[1:], clock[:-1]
    seconds = at - since
    tables = list(columns.tables(keys) if isinstance(columns, SeriesRows) else _stacked(columns, keys))
    names = [key for table in tables for key in table.keys]
    values: Floats = np.empty((len(names), len(seconds)))
    rising = np.ones(len(names), np.bool_)
    row = 0
    for table in tables:
        part = slice(row, row := row + len(table.keys))
        rising[part] = _rates(table, seconds, values[part])
    if not rising.all():
        names, values = [key for key, kept in zip(names, rising, strict=True) if kept], values[rising]
    return SteadyRates(names, at, since, values)


def _stacked(columns: Mapping[str, Column], keys: Collection[str]) -> Iterator[SeriesTable]:
    for dtype in (np.int64, np.float64):
        found = [key for key in keys if columns[key].whole and columns[key].values.dtype == dtype]
        if found:
            yield SeriesTable(found, np.array([columns[key].values for key in found]), [0] * len(found))


def _rates(table: SeriesTable, seconds: Floats, found: Floats) -> NDArray[np.bool_]:
    """Writes rates to `found`; returns which rows never fell. Differences of 64-bit integers from 0 on fit 64 bits;
    rows with others are computed one by one."""
    rising = kernels.rates(table.values, seconds, found)
    if table.values.dtype == np.int64 and len(seconds):
        greatest = table.values[:, -1].tolist()
        fits = [0 <= base <= _LARGEST - last for base, last in zip(table.bases, greatest, strict=True)]
        rising &= np.array(fits, np.bool_)
    return rising


def common_clock(clocks: Sequence[Floats]) -> Floats:
    """The clock with the most samples, extended by the others' samples more than a step before or after it."""
    longest = max(clocks, key=len)
    if not len(longest):
        return longest
    edges = (clock for clock in clocks if clock is not longest and len(clock))
    more = [clock[(clock < longest[0] - step(clock)) | (clock > longest[-1] + step(clock))] for clock in edges]
    return np.union1d(longest, np.concatenate(more)) if any(map(len, more)) else longest


def step(clock: Floats) -> float:
    """The median time between two samples, s."""
    return float(np.median(np.diff(clock))) if len(clock) > 1 else FIRST_LENGTH


def over_nodes(lines: Sequence[TimeSeries], how: str) -> TimeSeries:
    """Sum or mean (`how`) of `lines` on a common clock. All cover intervals, or none does.

    A node takes part from its first observed value to its last: it may join late or leave early. In between, a missing
    value of one node makes the result missing, because a sum without it would show a drop that never happened.
    """
    if len(lines) == 1:
        return lines[0]
    lines = [at_own_interval(line) for line in lines]
    if all(np.array_equal(line.at, lines[0].at) for line in lines):
        at, since = lines[0].at, lines[0].since
        rows, there = [line.values for line in lines], [alive(line.values) for line in lines]
    else:
        grid = grid_of(lines)
        at, since = (grid, None) if lines[0].since is None else (grid[1:], grid[:-1])
        placed = [on_grid(line, grid) for line in lines]
        rows, there = [values for values, _ in placed], [takes_part for _, takes_part in placed]
    values, parts = total(np.stack(rows), np.stack(there))
    if how == MEAN:
        values = values / np.maximum(parts, 1)
    resets = sorted({reset for line in lines for reset in line.resets})
    return TimeSeries(at, values, since, tuple(resets), parts)


def total(rows: NDArray[np.float64], there: NDArray[np.bool_]) -> tuple[Floats, NDArray[np.intp]]:
    """Sum of the rows (row x time) that are `there`, and their number; NaN where none is, or where one of them was not
    observed."""
    parts = there.sum(axis=0)
    values: Floats = np.where(there, rows, 0.0).sum(axis=0)
    return np.where(parts > 0, values, np.nan), parts


def grid_of(lines: Sequence[TimeSeries]) -> Floats:
    """The common clock of `lines`; for intervals, with the start of the first one."""
    grid = common_clock([line.at for line in lines])
    starts = [line.since[0] for line in lines if line.since is not None and len(line.since)]
    return np.concatenate(([min(*starts, grid[0] - INSTANT)], grid)) if starts else grid


def on_grid(line: TimeSeries, grid: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Values of `line` on `grid`, and where it takes part; for intervals, one value per interval of the grid."""
    seen = np.flatnonzero(~np.isnan(line.values))
    if not len(seen):
        length = len(grid) - (line.since is not None)
        return np.full(length, np.nan), np.zeros(length, np.bool_)
    line = line.cut(slice(seen[0], seen[-1] + 1))
    return _moments(line, grid) if line.since is None else _held(line, line.since, grid)


def alive(values: Floats) -> NDArray[np.bool_]:
    """True from the first observed value to the last."""
    there = np.zeros(len(values), np.bool_)
    seen = np.flatnonzero(~np.isnan(values))
    if len(seen):
        there[seen[0] : seen[-1] + 1] = True
    return there


def _moments(line: TimeSeries, grid: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """The nearest sample, if within a step; the line takes no part beyond its ends."""
    after = np.clip(np.searchsorted(line.at, grid), 1, max(len(line.at) - 1, 1))
    before = after - 1
    after = np.minimum(after, len(line.at) - 1)
    nearest = np.where(grid - line.at[before] <= line.at[after] - grid, before, after)
    near = np.abs(line.at[nearest] - grid) <= step(line.at)
    inside = (grid >= line.at[0]) & (grid <= line.at[-1])
    return np.where(near, line.values[nearest], np.nan), near | inside


def _held(line: TimeSeries, since: Floats, grid: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Mean over the covered time of each interval of the grid; NaN where a part was not observed."""
    edges = np.concatenate((since[:1], line.at))
    seconds = np.diff(edges)
    lost = np.isnan(line.values)
    amount = np.concatenate(([0.0], np.cumsum(np.where(lost, 0.0, line.values) * seconds)))
    gap = np.concatenate(([0.0], np.cumsum(np.where(lost, seconds, 0.0))))
    start, end = np.clip(grid[:-1], edges[0], edges[-1]), np.clip(grid[1:], edges[0], edges[-1])
    covered = end - start
    there = covered > INSTANT
    unseen = np.interp(end, edges, gap) - np.interp(start, edges, gap) > INSTANT
    within = np.interp(end, edges, amount) - np.interp(start, edges, amount)
    values = np.full(len(covered), np.nan)
    np.divide(within, covered, out=values, where=there & ~unseen)
    return values, there
