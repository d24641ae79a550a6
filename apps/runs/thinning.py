"""Fewer points for a chart, with every gap and every extreme kept. Pure."""

from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tsdownsample import MinMaxDownsampler

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
# Without the checks of what it is given, which take longer than itself.
_minmax: Any = MinMaxDownsampler
_downsample = _minmax().mod_single_core.downsample_f64
# Stretches of up to so many samples are faster compared sample by sample, all at once.
SHORT = 16


def thin(values: Floats, points: int) -> Places:
    """Which samples to draw, about `points` of them, in order: the first and the last, and the lowest and highest of
    each of `points` / 2 - 1 stretches of what was observed. Of each gap (NaN) its first sample and both neighbours, so
    that it stays a gap of the same length."""
    length = len(values)
    if length <= points:
        return np.arange(length)
    seen = ~np.isnan(values)
    if seen.all():
        return _shape(values, points)
    observed = np.flatnonzero(seen)
    # A gap begins where the sample before was observed, and ends where the next one is.
    starts = np.flatnonzero(~seen & np.concatenate(([True], seen[:-1])))
    ends = np.flatnonzero(~seen & np.concatenate((seen[1:], [True])))
    shape = observed[_shape(values[observed], points)]
    chosen = np.sort(np.concatenate((shape, starts, np.maximum(starts - 1, 0), np.minimum(ends + 1, length - 1))))
    return chosen[np.concatenate(([True], chosen[1:] > chosen[:-1]))]


def _shape(values: Floats, points: int) -> Places:
    """Of one series without gaps."""
    if len(values) <= points:
        return np.arange(len(values))
    chosen, new = _shapes(values[None], points)
    return chosen[new]


def thinned(at: Floats, rows: Floats, points: int) -> list[tuple[Floats, Floats]]:
    """`rows` (row x time), without gaps and all sampled `at` the same times: of each what `thin` says, times and
    values."""
    if len(at) <= points or not len(rows):
        return [(at, row) for row in rows]
    values = np.ascontiguousarray(rows)
    chosen, new = _shapes(values, points)
    times = at[chosen[new]]
    # From here on places in the rows one behind the other.
    begins = np.arange(len(rows) + 1) * len(at)
    chosen += begins[:-1, None]
    places = chosen[new]
    kept = values.ravel()[places]
    edges: list[int] = np.searchsorted(places, begins).tolist()
    return [(times[start:end], kept[start:end]) for start, end in pairwise(edges)]


def _shapes(rows: Floats, points: int) -> tuple[Places, NDArray[np.bool_]]:
    """Of rows (row x time) of over `points` samples without gaps; False: the same as the place before, since a stretch
    that is flat has one point."""
    count, length = rows.shape
    # At least one stretch; a stretch has two points.
    stretches = max(points // 2 - 1, 1)
    chosen: Places = np.zeros((count, stretches * 2 + 2), np.intp)
    if length <= stretches * SHORT:
        _of_short(rows, stretches, chosen[:, 1:-1])
    else:
        for row, values in enumerate(rows):
            chosen[row, 1:-1] = _downsample(values, stretches * 2)
    chosen[:, -1] = length - 1
    new = np.ones(chosen.shape, np.bool_)
    np.greater(chosen[:, 1:], chosen[:, :-1], out=new[:, 1:])
    return chosen, new


def _of_short(rows: Floats, stretches: int, chosen: Places) -> None:
    """Puts the places of the lowest and highest of each stretch into `chosen`, in order."""
    starts, places = _cut(rows.shape[1], stretches)
    each = rows[:, places]
    lowest = highest = each[:, 0]
    low: NDArray[np.int8] = np.zeros(lowest.shape, np.int8)
    high = low.copy()
    for place in range(1, places.shape[0]):
        value, here = each[:, place], np.int8(place)
        np.maximum(low, (value < lowest) * here, out=low)
        np.maximum(high, (value > highest) * here, out=high)
        lowest, highest = np.minimum(lowest, value), np.maximum(highest, value)
    np.add(starts, np.minimum(low, high), out=chosen[:, ::2])
    np.add(starts, np.maximum(low, high), out=chosen[:, 1::2])


@lru_cache(maxsize=64)
def _cut(length: int, stretches: int) -> tuple[Places, Places]:
    """Where each stretch starts, and its places (place in the stretch x stretch): a shorter one has its last twice."""
    inner = ((length - 1) / stretches * np.arange(1, stretches)).astype(np.intp) + 1
    edges = np.concatenate(([0], inner, [length]))
    longest = int(np.diff(edges).max())
    return edges[:-1], np.minimum(edges[:-1] + np.arange(longest)[:, None], edges[1:] - 1)
