"""The loops of `kernels`, compiled by Numba; they write to arrays of the caller."""

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

Loop = TypeVar("Loop", bound=Callable[..., None])
_njit: Any = njit(cache=True, nogil=True, error_model="numpy")


def compiled(loop: Loop) -> Loop:
    found: Loop = _njit(loop)
    return found


@compiled
def rates(totals: Any, seconds: Any, found: Any, rising: Any) -> None:
    for row in range(found.shape[0]):
        if not found.shape[1]:
            continue
        lowest_step = lowest = totals[row, 1] - totals[row, 1]  # 0 of their type
        for place in range(found.shape[1]):
            step = totals[row, place + 1] - totals[row, place]
            lowest_step = min(lowest_step, step)
            lowest = min(lowest, totals[row, place])
            found[row, place] = step / seconds[place]
        rising[row] = lowest_step >= 0 and lowest >= 0


@compiled
def extremes(rows: Any, edges: Any, places: Any, values: Any, ends: Any) -> None:
    last, filled = rows.shape[1] - 1, 0
    for row in range(rows.shape[0]):
        line = rows[row]
        places[filled], values[filled] = 0, line[0]
        before = 0
        filled += 1
        for stretch in range(len(edges) - 1):
            low = high = edges[stretch]
            lowest = highest = line[low]
            for place in range(low + 1, edges[stretch + 1]):
                value = line[place]
                if value < lowest:
                    lowest, low = value, place
                if value > highest:
                    highest, high = value, place
            for place in (min(low, high), max(low, high)):
                if place > before:
                    places[filled], values[filled] = place, line[place]
                    before = place
                    filled += 1
        if last > before:
            places[filled], values[filled] = last, line[last]
            filled += 1
        ends[row + 1] = filled
