"""Fewer points for a chart, with every gap and the extremes kept. Pure."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from tsdownsample import MinMaxLTTBDownsampler

Floats = NDArray[np.float64]


def thin(at: Floats, values: Floats, points: int) -> NDArray[np.intp]:
    """Which samples to draw, about `points` of them: MinMaxLTTB of what was observed, its lowest and highest value,
    and of each gap (NaN) its first sample and both neighbours, so that it stays a gap of the same length."""
    if len(at) <= points:
        return np.arange(len(at))
    seen = ~np.isnan(values)
    observed = np.flatnonzero(seen)
    chosen = [_shape(at[observed], values[observed], points, observed)] if len(observed) else []
    # A gap begins where the sample before was observed, and ends where the next one is.
    starts = np.flatnonzero(~seen & np.concatenate(([True], seen[:-1])))
    ends = np.flatnonzero(~seen & np.concatenate((seen[1:], [True])))
    chosen += [starts, np.maximum(starts - 1, 0), np.minimum(ends + 1, len(at) - 1)]
    return np.unique(np.concatenate(chosen)).astype(np.intp)


def _shape(at: Floats, values: Floats, points: int, places: NDArray[np.intp]) -> NDArray[np.intp]:
    if len(values) <= points:
        return places
    downsampler: Any = MinMaxLTTBDownsampler
    picked = downsampler().downsample(np.ascontiguousarray(at), np.ascontiguousarray(values), n_out=max(points - 2, 3))
    chosen: NDArray[np.intp] = places[np.concatenate((picked.astype(np.intp), [values.argmin(), values.argmax()]))]
    return chosen
