"""Rounding for JSON: six significant digits, times to a millisecond; not observed is null."""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

DIGITS = 6
MILLISECONDS = 3
# Powers of ten that float64 represents exactly: multiplying or dividing an integer by one rounds only once.
_EXACT = 22
_POWERS = range(-_EXACT, _EXACT + 1)
# Factor and divisor, one of them 1, that shift the decimal point by `power` places.
_TIMES = np.array([float(f"1e{max(power, 0)}") for power in _POWERS])
_THROUGH = np.array([float(f"1e{max(-power, 0)}") for power in _POWERS])
_NEAR = 1e-6


def significant(value: float | None) -> float | None:
    """Six significant digits; None if not observed."""
    return float(f"{value:.{DIGITS}g}") if value is not None and math.isfinite(value) else None


def all_significant(values: Floats) -> Floats:
    """`significant` of an array, with NaN where nothing was observed."""
    with np.errstate(divide="ignore", invalid="ignore"):
        power = DIGITS - 1 - np.floor(np.log10(np.abs(values)))
        quick = np.abs(power) <= _EXACT  # False for NaN, 0 and infinity
        place = np.where(quick, power, 0).astype(np.intp) + _EXACT
        times, through = _TIMES[place], _THROUGH[place]
        digits = values * times / through
        whole = np.rint(digits)
        # Close to a tie, only the exact decimal digits decide the rounding.
        slow = np.abs(np.abs(digits - whole) - 0.5) < _NEAR
        rounded: Floats = whole / times * through + 0.0
    if not quick.all():
        finite = np.isfinite(values)
        rounded[~finite] = np.nan
        slow |= ~quick & finite & (values != 0)
    rounded[slow] = [significant(value) for value in values[slow].tolist()]
    return rounded


def to_milliseconds(at: Floats) -> Floats:
    return np.round(at, MILLISECONDS)
