"""Histograms as counts on a grid of buckets: parsing of printed values, merging, percentiles. Pure.

Percentiles of several runs are those of their merged counts, never a mean of the runs' percentiles. Values are in ms.
"""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Annotated, Protocol

from apps.core.answers import Form, Hidden, Inline, Name, Rounded, Shown, component

# Percentiles reported for a distribution.
PERCENTILES = (50.0, 90.0, 95.0, 99.0, 99.9)
# Of the highest bucket there is none.
Bound = Annotated[Rounded, Form.UNBOUNDED]
# A larger grid is an error: HdrHistogram's with five digits over an hour of nanoseconds has fewer.
MOST_BUCKETS = 10_000_000


class UnknownGrid(ValueError):
    """No grid has this id."""


class OffGrid(ValueError):
    """Printed values that are not ascending values of the grid."""


class DifferentGrids(ValueError):
    """Counts on different grids cannot be added."""


class Grid(Protocol):
    """Buckets 0 to `size` - 1 in ascending order. `id` is stored with the data and never changes its meaning."""

    @property
    def id(self) -> str: ...

    @property
    def size(self) -> int: ...

    @property
    def resolution(self) -> float:
        """Largest relative step between neighbouring values."""

    def bucket(self, value: float) -> int:
        """The bucket in which the tool counts a value."""

    def bounds(self, bucket: int) -> tuple[float, float]:
        """The bucket's values: low <= value < high. The outer buckets include all values beyond them."""

    def value(self, bucket: int) -> float:
        """The value that the tool reports for the bucket."""


@dataclass(frozen=True)
class SysbenchGrid:
    """The grid of sysbench's sb_histogram.c: middles of buckets are equidistant in log(value)."""

    size: int = 1024
    lowest: float = 0.001
    highest: float = 100_000.0

    def __post_init__(self) -> None:
        if not (self.size > 1 and 0 < self.lowest < self.highest < math.inf):
            raise ValueError(f"no histogram has the grid {self.id}")

    @property
    def id(self) -> str:
        return f"sysbench:{self.size}:{self.lowest:.15g}:{self.highest:.15g}"

    @cached_property
    def _per_log(self) -> float:
        return (self.size - 1) / (math.log(self.highest) - math.log(self.lowest))

    @property
    def resolution(self) -> float:
        return math.expm1(1 / self._per_log)

    def _at(self, place: float) -> float:
        return math.exp(place / self._per_log + math.log(self.lowest))

    def bucket(self, value: float) -> int:
        if value <= self.lowest:
            return 0
        return min(math.floor((math.log(value) - math.log(self.lowest)) * self._per_log + 0.5), self.size - 1)

    def bounds(self, bucket: int) -> tuple[float, float]:
        low = self._at(bucket - 0.5) if bucket > 0 else 0.0
        return low, self._at(bucket + 0.5) if bucket < self.size - 1 else math.inf

    def value(self, bucket: int) -> float:
        """Rounded to three decimals, as sysbench prints it."""
        return round(self._at(bucket), 3)

    def printed(self, values: Sequence[float]) -> tuple[int, ...]:
        """Buckets of ascending values printed by sysbench. Raises OffGrid.

        Below 0.056 ms several buckets print the same value: the lowest unused one is taken, which is exact to the last
        printed digit.
        """
        found: list[int] = []
        for value in values:
            bucket = max(found[-1] + 1 if found else 0, self.bucket(value - 0.0005) - 1)
            while bucket < self.size and self.value(bucket) < value:
                bucket += 1
            if bucket >= self.size or self.value(bucket) != value:
                raise OffGrid(f"{value:.3f} ms is not a value of the grid {self.id} at its position")
            found.append(bucket)
        return tuple(found)


@dataclass(frozen=True)
class HdrGrid:
    """HdrHistogram's grid: whole numbers of `unit` from `lowest` to `highest`, to `digits` significant digits."""

    lowest: int
    highest: int
    digits: int
    unit: str

    PER_MS = {"ns": 1_000_000, "us": 1000, "ms": 1}

    def __post_init__(self) -> None:
        if not (1 <= self.lowest <= self.highest // 2 and 1 <= self.digits <= 5 and self.unit in self.PER_MS):
            raise ValueError(f"no histogram has the grid {self.id}")

    @property
    def id(self) -> str:
        return f"hdr:{self.lowest}:{self.highest}:{self.digits}:{self.unit}"

    @cached_property
    def _half(self) -> int:
        """log2 of half the number of buckets of one width."""
        return int(2 * 10**self.digits - 1).bit_length() - 1

    @cached_property
    def _step(self) -> int:
        """log2 of the narrowest bucket's width."""
        return self.lowest.bit_length() - 1

    @cached_property
    def size(self) -> int:
        return self._index(self.highest) + 1

    @property
    def resolution(self) -> float:
        return 1 / (1 << self._half)

    def _index(self, number: int) -> int:
        doublings = max(number.bit_length() - self._step - self._half - 1, 0)
        return (doublings << self._half) + (number >> (doublings + self._step))

    def _range(self, bucket: int) -> tuple[int, int]:
        doublings = max((bucket >> self._half) - 1, 0)
        width = 1 << (doublings + self._step)
        low = (bucket - (doublings << self._half)) * width
        return low, low + width

    def bucket(self, value: float) -> int:
        # Rounded, because 1.001 × 1000 is slightly less than 1001 in float64.
        number = math.floor(round(value * self.PER_MS[self.unit], 6))
        return self._index(min(max(number, 0), self.highest))

    def bounds(self, bucket: int) -> tuple[float, float]:
        low, high = self._range(bucket)
        per_ms = self.PER_MS[self.unit]
        return low / per_ms, high / per_ms if bucket < self.size - 1 else math.inf

    def value(self, bucket: int) -> float:
        """The bucket's highest whole number, as HdrHistogram reports it."""
        return (self._range(bucket)[1] - 1) / self.PER_MS[self.unit]


@dataclass(frozen=True)
class FioGrid(HdrGrid):
    """fio's grid of its stat.c, in ns: 64 buckets to each power of two, reported by their middles."""

    lowest: int = 1
    highest: int = (1 << 34) - 1  # of 29 groups; longer times are in the last bucket
    digits: int = 2
    unit: str = "ns"

    @property
    def id(self) -> str:
        return "fio"

    @cached_property
    def _half(self) -> int:
        return 6

    def value(self, bucket: int) -> float:
        low, high = self._range(bucket)
        return (low + (high - low) // 2) / self.PER_MS[self.unit]

    def printed(self, values: Sequence[int]) -> tuple[int, ...]:
        """Buckets of ascending values in ns as fio prints them. Raises OffGrid."""
        found = tuple(self._index(min(value, self.highest)) for value in values)
        for value, bucket in zip(values, found, strict=True):
            low, high = self._range(bucket)
            if value != low + (high - low) // 2:
                raise OffGrid(f"{value} ns is not the middle of a bucket of fio's")
        return found


SYSBENCH = SysbenchGrid()
FIO = FioGrid()


@lru_cache
def grid_of(text: str) -> Grid:
    """The grid with this id. Raises UnknownGrid."""
    kind, *parts = text.split(":")
    try:
        if kind == "sysbench":
            size, lowest, highest = parts
            grid: Grid = SysbenchGrid(int(size), float(lowest), float(highest))
        elif kind == "hdr":
            low, high, digits, unit = parts
            grid = HdrGrid(int(low), int(high), int(digits), unit)
        elif text == FIO.id:
            grid = FIO
        else:
            raise UnknownGrid(f"{text[:80]!r} is not a grid's id")
    except ValueError as error:
        raise UnknownGrid(f"{text[:80]!r} is not a grid's id") from error
    if grid.id != text or grid.size > MOST_BUCKETS:
        raise UnknownGrid(f"{text[:80]!r} is not a grid's id")
    return grid


def place_of(percent: float, reached: Sequence[int]) -> int:
    """Index of a percentile's bucket, by sysbench's rule: the first at which the cumulative count reaches the share,
    rounded to whole values.

    `reached[k]`: cumulative count up to and including the k-th bucket.
    """
    return min(bisect_left(reached, math.floor(reached[-1] * percent / 100 + 0.5)), len(reached) - 1)


@dataclass(frozen=True)
class Quantile:
    """`value`: reported by the tool for the bucket [`low`, `high`). `beyond`: number of values in higher buckets."""

    value: Annotated[float, "as the tool reports its bucket"]
    low: Annotated[Rounded, "the value lies between low and high"]
    high: Bound
    beyond: Annotated[int, "how many are in higher buckets"]


@component("Quantile")
@dataclass(frozen=True)
class Percentile:
    percentile: Annotated[float, "100: the highest bucket"]
    quantile: Annotated[Quantile, Inline()]


@component(text="Columns, one entry per non-empty bucket, in rising order.")
@dataclass(frozen=True)
class Buckets:
    index: Annotated[tuple[int, ...], "place on the grid"]
    low: Annotated[list[Rounded], "low <= value < high"]
    high: Annotated[list[Bound], "null: no bound"]
    value: Annotated[list[float], "as the tool reports it"]
    count: tuple[int, ...]


@dataclass(frozen=True)
class HistogramCounts:
    """`counts[k]` values in bucket `buckets[k]` of `grid`; buckets ascend, counts are at least 1."""

    grid: Hidden[Grid]
    buckets: Hidden[tuple[int, ...]]
    counts: Hidden[tuple[int, ...]]

    def __post_init__(self) -> None:
        if len(self.buckets) != len(self.counts) or not self.counts:
            raise ValueError(f"{len(self.buckets)} buckets with {len(self.counts)} counts")
        if self.buckets[0] < 0 or self.buckets[-1] >= self.grid.size or min(self.counts) < 1:
            raise ValueError(f"a bucket outside the grid {self.grid.id}, or one without a count")
        if tuple(sorted(set(self.buckets))) != self.buckets:
            raise ValueError("buckets do not rise")

    @cached_property
    def reached(self) -> tuple[int, ...]:
        """Cumulative counts."""
        return tuple(accumulate(self.counts))

    @property
    def count(self) -> Shown[int]:
        return self.reached[-1]

    @property
    def grid_id(self) -> Annotated[Shown[str], Name("grid"), "only counts on the same grid may be added"]:
        return self.grid.id

    @property
    def columns(self) -> Annotated[Shown[Buckets], Name("buckets")]:
        bounds = [self.grid.bounds(bucket) for bucket in self.buckets]
        values = [self.grid.value(bucket) for bucket in self.buckets]
        return Buckets(self.buckets, [low for low, _ in bounds], [high for _, high in bounds], values, self.counts)

    @property
    def quantiles(self) -> Shown[tuple[Percentile, ...]]:
        found = [Percentile(percent, self.percentile(percent)) for percent in PERCENTILES]
        return (*found, Percentile(100.0, self.maximum))

    def percentile(self, percent: float) -> Quantile:
        """The percentile, by `place_of`."""
        return self._quantile(place_of(percent, self.reached))

    def interpolated(self, percent: float) -> float:
        """The percentile by rank within its bucket, on the scale of logarithms; for differences smaller than a step."""
        wanted = self.count * percent / 100
        place = min(bisect_left(self.reached, wanted), len(self.buckets) - 1)
        low, high = self.grid.bounds(self.buckets[place])
        if not 0 < low < high < math.inf:
            return self.grid.value(self.buckets[place]) or high
        share = 1 - (self.reached[place] - wanted) / self.counts[place]
        return low * math.pow(high / low, min(max(share, 0.0), 1.0))

    @property
    def maximum(self) -> Quantile:
        return self._quantile(len(self.buckets) - 1)

    def share_above(self, threshold: float) -> float:
        """Share of values in buckets reported higher than `threshold`, in ms; exact to one bucket."""
        above = sum(
            count
            for bucket, count in zip(self.buckets, self.counts, strict=True)
            if self.grid.value(bucket) > threshold
        )
        return above / self.count

    def _quantile(self, place: int) -> Quantile:
        bucket = self.buckets[place]
        low, high = self.grid.bounds(bucket)
        return Quantile(self.grid.value(bucket), low, high, self.count - self.reached[place])


def merge(distributions: Sequence[HistogramCounts]) -> HistogramCounts:
    """The exact histogram of all values together. Raises DifferentGrids, and ValueError for no distributions."""
    if not distributions:
        raise ValueError("nothing to merge")
    grids = sorted({distribution.grid.id for distribution in distributions})
    if len(grids) > 1:
        raise DifferentGrids(f"counts on the grids {' and '.join(grids)} cannot be added")
    total: Counter[int] = Counter()
    for distribution in distributions:
        for bucket, count in zip(distribution.buckets, distribution.counts, strict=True):
            total[bucket] += count
    buckets = tuple(sorted(total))
    return HistogramCounts(distributions[0].grid, buckets, tuple(total[bucket] for bucket in buckets))
