"""Inner loops over samples, compiled by Numba: NumPy makes a pass through memory of each step, these make one of all.

Numba and the compiled loops are loaded when first needed, since that takes half a second; compiling itself happens
once on a machine. `warm` does it ahead of time. Pure.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Flags = NDArray[np.bool_]


def rates(totals: "NDArray[np.int64] | Floats", seconds: Floats, found: Floats) -> Flags:
    """Puts into `found` what `totals` (row x time) increase per second over each of `seconds` (one fewer). Which rows
    never fell, nor were below 0: the others' differences may be beyond 64 bits."""
    rising: Flags = np.ones(len(totals), np.bool_)
    _compiled().rates(totals, seconds, found, rising)
    return rising


def extremes(rows: Floats, edges: Places) -> tuple[Places, Floats, list[int]]:
    """Of rows (row x time) the first and the last place, and where the lowest and the highest first stand in each of
    the stretches between `edges`, in order and each place once: places and their values, of all rows one behind the
    other, and where each row begins there (one more than rows)."""
    count, _ = rows.shape
    places: Places = np.empty(count * 2 * len(edges), np.intp)
    values: Floats = np.empty(len(places))
    ends: Places = np.zeros(count + 1, np.intp)
    _compiled().extremes(rows, edges, places, values, ends)
    return places, values, ends.tolist()


def warm() -> None:
    """Loads or compiles the loops for all that they are used for."""
    for totals in (np.arange(4).reshape(1, 4), np.arange(4.0).reshape(1, 4)):
        found = np.empty((1, 3))
        rates(totals, np.ones(3), found)
    extremes(found, np.array([0, 3]))


@lru_cache(maxsize=1)
def _compiled() -> Any:
    from apps.runs.samples import loops  # noqa: PLC0415  (Numba takes half a second to load)

    return loops
