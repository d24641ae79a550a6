"""Downsampling for charts that keeps gaps and extremes. Pure."""

from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tsdownsample import MinMaxDownsampler

from apps.runs.samples import kernels

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
# Bypasses the checks of arguments, which take longer than the downsampling.
_minmax: Any = MinMaxDownsampler
_downsample = _minmax().mod_single_core.downsample_f64
# Up to this number of samples per bin, the loop over many rows at once is faster.
SHORT = 16


def thin(values: Floats, points: int) -> Places:
    """Indices of about `points` samples to draw, ascending: the first and the last, and the minimum and maximum of each
    of `points` / 2 - 1 bins of observed samples. Of each gap (NaN), its first sample and both neighbours, so that its
    length is kept."""
    length = len(values)
    if length <= points:
        return np.arange(length)
    seen = ~np.isnan(values)
    if seen.all():
        return _shape(values, points)
    observed = np.flatnonzero(seen)
    starts = np.flatnonzero(~seen & np.concatenate(([True], seen[:-1])))
    ends = np.flatnonzero(~seen & np.concatenate((seen[1:], [True])))
    shape = observed[_shape(values[observed], points)]
    chosen = np.sort(np.concatenate((shape, starts, np.maximum(starts - 1, 0), np.minimum(ends + 1, length - 1))))
    return chosen[np.concatenate(([True], chosen[1:] > chosen[:-1]))]


def _shape(values: Floats, points: int) -> Places:
    """The indices for a series without gaps."""
    if len(values) <= points:
        return np.arange(len(values))
    stretches = _stretches(points)
    if len(values) <= stretches * SHORT:
        places, _, (_, end) = kernels.extremes(values[None], _edges(len(values), stretches))
        return places[:end]
    places = np.concatenate(([0], _downsample(values, stretches * 2), [len(values) - 1])).astype(np.intp)
    # A flat bin has one point.
    return places[np.concatenate(([True], places[1:] > places[:-1]))]


def thinned(at: Floats, rows: Floats, points: int) -> list[tuple[Floats, Floats]]:
    """Times and values of `rows` (row x time) after `thin`; rows have no gaps and are all sampled `at` the same
    times."""
    length = len(at)
    if length <= points or not len(rows):
        return [(at, row) for row in rows]
    if length > _stretches(points) * SHORT:
        shapes = [_shape(row, points) for row in rows]
        return [(at[places], row[places]) for row, places in zip(rows, shapes, strict=True)]
    places, values, ends = kernels.extremes(rows, _edges(length, _stretches(points)))
    times = at.take(places[: ends[-1]])
    return [(times[start:end], values[start:end]) for start, end in pairwise(ends)]


def _stretches(points: int) -> int:
    """Number of bins, with two points each; at least one."""
    return max(points // 2 - 1, 1)


@lru_cache(maxsize=64)
def _edges(length: int, stretches: int) -> Places:
    """Starts of the bins, and the end of the last one."""
    inner = ((length - 1) / stretches * np.arange(1, stretches)).astype(np.intp) + 1
    return np.concatenate(([0], inner, [length]))
