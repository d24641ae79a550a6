"""Inner loops over samples, compiled by Numba: one pass through memory, where NumPy needs one per operation. What fits
the CPU's cache is left to NumPy.

Numba and the compiled loops are loaded on first use, since that takes half a second; they are compiled once per
machine. Pure.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Flags = NDArray[np.bool_]
# Values, of 8 bytes each.
_IN_CACHE = 16 * 1024


def rates(totals: "NDArray[np.int64] | Floats", seconds: Floats, found: Floats) -> Flags:
    """Writes to `found` the rates of `totals` (row x time) per second over the intervals `seconds` (one fewer). Returns
    which rows never fell and were never negative: differences of the others may exceed 64 bits."""
    if totals.size <= _IN_CACHE:
        steps = np.diff(totals, axis=1)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            np.divide(steps, seconds, out=found)
        return np.asarray((steps >= 0).all(axis=1) & (totals >= 0).all(axis=1))
    rising: Flags = np.ones(len(totals), np.bool_)
    _compiled().rates(totals, seconds, found, rising)
    return rising


def extremes(rows: Floats, edges: Places) -> tuple[Places, Floats, list[int]]:
    """For rows (row x time): the first and last index, and the indices of the first minimum and first maximum of each
    bin between `edges`, ascending and without duplicates. Returns indices and values of all rows, concatenated, and
    the rows' offsets in them (one more than rows)."""
    count, _ = rows.shape
    places: Places = np.empty(count * 2 * len(edges), np.intp)
    values: Floats = np.empty(len(places))
    ends: Places = np.zeros(count + 1, np.intp)
    _compiled().extremes(rows, edges, places, values, ends)
    return places, values, ends.tolist()


@lru_cache(maxsize=1)
def _compiled() -> Any:
    from apps.runs.samples import loops  # noqa: PLC0415  (Numba takes half a second to load)

    return loops
