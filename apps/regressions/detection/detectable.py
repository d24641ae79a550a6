"""What a series could show: the smallest change that would be found, or why none would. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike
from scipy import special

from apps.core.text import counted
from apps.core.units import NBSP
from apps.regressions.detection import change_points
from apps.regressions.detection import noise as noises
from apps.regressions.detection.change_points import DEFAULT, ChangeLimits

POWER = 0.8
# Runs of a new level until which a change should have been found.
AFTER = 10
# A series that shows only larger changes watches nothing.
TOO_COARSE = 0.25


@dataclass(frozen=True)
class Sight:
    """`runs` of the stretch since the last reset that count. `variation`: from run to run, as a share of the value.
    `effect`: smallest change, as a share of the value, that is found with 80 % power; None in a series that is too
    short. `reason`: why the series is not fit to be watched; empty when it is."""

    runs: int
    variation: float | None = None
    effect: float | None = None
    reason: str = ""


def sight(
    values: ArrayLike, *, resets: Sequence[int] = (), after: int = AFTER, limits: ChangeLimits = DEFAULT
) -> Sight:
    """Of a series (runs,) as detect takes it, by what the runs since the last reset vary, for a change that has lasted
    `after` runs. Raises ValueError as detect does."""
    y = change_points.logarithms(values)
    bounds = change_points.stretches(len(y), resets)
    y = y[bounds[-2] if len(bounds) > 1 else 0 :][-change_points.LONGEST :]
    if len(y) < change_points.SHORTEST:
        since = " since hardware or configuration changed" if resets else ""
        runs = counted(len(y), "run")
        return Sight(len(y), reason=f"too short: {runs}{since}, {change_points.SHORTEST} are needed")
    noise = noises.estimate(y)
    left, right = min(len(y), change_points.MOST_ASIDE), min(after, change_points.MOST_ASIDE)
    freedom = change_points.freedom_of([1 / left, 1 / right], change_points.freedoms(left, right))
    error = noise.scale * math.sqrt(noise.inflation * (1 / left + 1 / right))
    reach = -float(special.stdtrit(freedom, limits.significant / 2)) + float(special.stdtrit(freedom, POWER))
    effect = max(math.expm1(reach * error), limits.smallest)
    reason = (
        f"too noisy: only changes of {effect * 100:.0f}{NBSP}% and more would be found" if effect > TOO_COARSE else ""
    )
    return Sight(len(y), noise.scale, effect, reason)
