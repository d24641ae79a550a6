"""Fewer points for a chart, with every gap and every extreme kept. Pure."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from tsdownsample import MinMaxDownsampler

Floats = NDArray[np.float64]
# Without the checks of what it is given, which take longer than itself.
_minmax: Any = MinMaxDownsampler
_downsample = _minmax().mod_single_core.downsample_f64


def thin(values: Floats, points: int) -> NDArray[np.intp]:
    """Which samples to draw, about `points` of them, in order: the first and the last, and the lowest and highest of
    each of `points` / 2 - 1 stretches of what was observed. Of each gap (NaN) its first sample and both neighbours, so
    that it stays a gap of the same length."""
    length = len(values)
    if length <= points:
        return np.arange(length)
    # A sum is NaN when a sample is; it costs less than a mask.
    if not np.isnan(values.sum()):
        return _shape(values, points)
    seen = ~np.isnan(values)
    observed = np.flatnonzero(seen)
    # A gap begins where the sample before was observed, and ends where the next one is.
    starts = np.flatnonzero(~seen & np.concatenate(([True], seen[:-1])))
    ends = np.flatnonzero(~seen & np.concatenate((seen[1:], [True])))
    shape = observed[_shape(values[observed], points)] if len(observed) else observed
    return np.unique(np.concatenate((shape, starts, np.maximum(starts - 1, 0), np.minimum(ends + 1, length - 1))))


def _shape(values: Floats, points: int) -> NDArray[np.intp]:
    """Of values without gaps; a stretch that is flat has one point."""
    last = len(values) - 1
    if last < points:
        return np.arange(last + 1)
    # At least one stretch; a stretch has two points.
    picked = _downsample(np.ascontiguousarray(values), max(points // 2 - 1, 1) * 2)
    chosen: NDArray[np.intp] = np.empty(len(picked) + 2, np.intp)
    chosen[0], chosen[1:-1], chosen[-1] = 0, picked, last
    return chosen[np.concatenate(([True], chosen[1:] > chosen[:-1]))]
