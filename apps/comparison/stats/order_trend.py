"""Whether repetitions change with their order, over all groups of runs under the same conditions. Pure.

Least squares with one slope and a level of each group (analysis of covariance): runs of a system that had not settled,
or of a machine that warms up, are no independent repetitions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy import special

from apps.comparison.stats.power import CONFIDENCE

# Chance of a trend where there is none.
LEVEL = 0.01
FEWEST_FREEDOM = 4


@dataclass(frozen=True)
class OrderTrend:
    """Change per repetition, as a share, with its 95 % interval."""

    change: Annotated[float, "share per repetition; -0.03: each has 3 % less than the one before"]
    low: float
    high: float
    p: float


def order_trend(groups: Sequence[Sequence[float]]) -> OrderTrend | None:
    """`groups`: values of runs in order of time, each under the same conditions within one session. None: not certain,
    too few runs, or a value is not positive."""
    known = [np.log(group) for group in groups if len(group) > 1 and min(group) > 0]
    if not known:
        return None
    places = [np.arange(len(group)) - (len(group) - 1) / 2 for group in known]
    freedom = sum(map(len, known)) - len(known) - 1
    squares = float(sum((place**2).sum() for place in places))
    if freedom < FEWEST_FREEDOM:
        return None
    slope = float(sum((place * group).sum() for place, group in zip(places, known, strict=True))) / squares
    rest = sum(
        float(((group - group.mean() - slope * place) ** 2).sum()) for place, group in zip(places, known, strict=True)
    )
    error = float(np.sqrt(rest / freedom / squares))
    if error == 0:
        return None
    p = float(2 * special.stdtr(freedom, -abs(slope) / error))
    half = float(special.stdtrit(freedom, (1 + CONFIDENCE) / 2)) * error
    change, low, high = (float(np.expm1(each)) for each in (slope, slope - half, slope + half))
    found = OrderTrend(change, low, high, p)
    return found if p < LEVEL else None
