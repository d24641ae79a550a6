"""Fewer points for a chart, with every gap and every extreme kept. Pure."""

from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tsdownsample import MinMaxDownsampler

from apps.runs.samples import kernels

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
# Without the checks of what it is given, which take longer than itself.
_minmax: Any = MinMaxDownsampler
_downsample = _minmax().mod_single_core.downsample_f64
# Stretches of up to so many samples are faster gone through one by one, in many rows at once.
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
    stretches = _stretches(points)
    if len(values) <= stretches * SHORT:
        places, _, (_, end) = kernels.extremes(values[None], _edges(len(values), stretches))
        return places[:end]
    places = np.concatenate(([0], _downsample(values, stretches * 2), [len(values) - 1])).astype(np.intp)
    # A stretch that is flat has one point.
    return places[np.concatenate(([True], places[1:] > places[:-1]))]


def thinned(at: Floats, rows: Floats, points: int) -> list[tuple[Floats, Floats]]:
    """`rows` (row x time), without gaps and all sampled `at` the same times: of each what `thin` says, times and
    values."""
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
    """At least one; a stretch has two points."""
    return max(points // 2 - 1, 1)


@lru_cache(maxsize=64)
def _edges(length: int, stretches: int) -> Places:
    """Where each stretch starts, and where the last one ends."""
    inner = ((length - 1) / stretches * np.arange(1, stretches)).astype(np.intp) + 1
    return np.concatenate(([0], inner, [length]))
