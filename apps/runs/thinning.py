"""Fewer points for a chart, with every gap and every extreme kept. Pure."""

from collections.abc import Sequence
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
    return thin_all([values], points)[0]


def thin_all(rows: Sequence[Floats], points: int) -> list[NDArray[np.intp]]:
    """The same for each of `rows`, which are of one length."""
    # A sum is NaN when a sample is; it costs less than a mask.
    gaps = [np.isnan(row.sum()) for row in rows]
    shapes = iter(_shapes([row for row, gap in zip(rows, gaps, strict=True) if not gap], points))
    return [_with_gaps(row, points) if gap else next(shapes) for row, gap in zip(rows, gaps, strict=True)]


def _with_gaps(values: Floats, points: int) -> NDArray[np.intp]:
    length = len(values)
    if length <= points:
        return np.arange(length)
    seen = ~np.isnan(values)
    observed = np.flatnonzero(seen)
    # A gap begins where the sample before was observed, and ends where the next one is.
    starts = np.flatnonzero(~seen & np.concatenate(([True], seen[:-1])))
    ends = np.flatnonzero(~seen & np.concatenate((seen[1:], [True])))
    shape = observed[_shapes([values[observed]], points)[0]]
    chosen = np.sort(np.concatenate((shape, starts, np.maximum(starts - 1, 0), np.minimum(ends + 1, length - 1))))
    return chosen[np.concatenate(([True], chosen[1:] > chosen[:-1]))]


def _shapes(rows: Sequence[Floats], points: int) -> list[NDArray[np.intp]]:
    """Of rows of one length without gaps; a stretch that is flat has one point."""
    if not rows or len(rows[0]) <= points:
        return [np.arange(len(row)) for row in rows]
    # At least one stretch; a stretch has two points.
    picked = max(points // 2 - 1, 1) * 2
    chosen: NDArray[np.intp] = np.zeros((len(rows), picked + 2), np.intp)
    for row, values in enumerate(rows):
        chosen[row, 1:-1] = _downsample(np.ascontiguousarray(values), picked)
    chosen[:, -1] = len(rows[0]) - 1
    new = np.ones(chosen.shape, np.bool_)
    np.greater(chosen[:, 1:], chosen[:, :-1], out=new[:, 1:])
    every: NDArray[np.bool_] = np.asarray(new.all(axis=1))
    return [chosen[row] if every[row] else chosen[row, new[row]] for row in range(len(rows))]
