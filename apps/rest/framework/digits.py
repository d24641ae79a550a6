"""Numbers as JSON shows them: six significant digits, times to a millisecond; what was not observed is null."""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

DIGITS = 6
MILLISECONDS = 3
# Powers of ten that float64 holds exactly: a whole number times or through one of them is rounded only once.
_EXACT = 22
_POWERS = range(-_EXACT, _EXACT + 1)
# What to multiply by and what to divide by, one of them 1, to shift the decimal point by so many places.
_TIMES = np.array([float(f"1e{max(power, 0)}") for power in _POWERS])
_THROUGH = np.array([float(f"1e{max(-power, 0)}") for power in _POWERS])
_NEAR = 1e-6


def significant(value: float | None) -> float | None:
    """Six significant digits; None for what is not observed."""
    return float(f"{value:.{DIGITS}g}") if value is not None and math.isfinite(value) else None


def all_significant(values: Floats) -> Floats:
    """`significant` of each at once, but NaN where nothing was observed."""
    with np.errstate(divide="ignore", invalid="ignore"):
        power = DIGITS - 1 - np.floor(np.log10(np.abs(values)))
        quick = np.abs(power) <= _EXACT  # False for NaN, 0 and infinity
        place = np.where(quick, power, 0).astype(np.intp) + _EXACT
        times, through = _TIMES[place], _THROUGH[place]
        digits = values * times / through
        whole = np.rint(digits)
        # Near the middle between two, only the decimal digits themselves say which is nearer.
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
