"""Numbers as JSON shows them: six significant digits, times to a millisecond; what was not observed is null."""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

DIGITS = 6
MILLISECONDS = 3
# Powers of ten that float64 holds exactly: a whole number times or through one of them is rounded only once.
_POWERS = np.array([float(f"1e{power}") for power in range(23)])
_NEAR = 1e-6


def significant(value: float | None) -> float | None:
    """Six significant digits; None for what is not observed."""
    return float(f"{value:.{DIGITS}g}") if value is not None and math.isfinite(value) else None


def all_significant(values: Floats) -> list[float]:
    """`significant` of each at once, but NaN where nothing was observed."""
    with np.errstate(divide="ignore", invalid="ignore"):
        power = DIGITS - 1 - np.floor(np.log10(np.abs(values)))
    quick = np.abs(power) < len(_POWERS)  # False for NaN, 0 and infinity
    rounded = np.where(np.isfinite(values), values, np.nan)
    chosen, upwards = values[quick], power[quick] >= 0
    scale = _POWERS[np.abs(power[quick]).astype(np.intp)]
    digits = np.where(upwards, chosen * scale, chosen / scale)
    whole = np.rint(digits)
    rounded[quick] = np.where(upwards, whole / scale, whole * scale)
    # Near the middle between two, only the decimal digits themselves say which is nearer.
    slow = ~quick & np.isfinite(values) & (values != 0)
    slow[quick] = np.abs(np.abs(digits - whole) - 0.5) < _NEAR
    rounded[slow] = [significant(value) for value in values[slow].tolist()]
    found: list[float] = (rounded + 0.0).tolist()
    return found


def times(at: Floats) -> list[float]:
    found: list[float] = np.round(at, MILLISECONDS).tolist()
    return found
