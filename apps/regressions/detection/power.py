"""The smallest change that can be detected in a series, or why none can. Pure."""

import math
from dataclasses import dataclass

from scipy import special

from apps.core.units import NBSP
from apps.regressions.detection.change_points import freedom_of, freedoms
from apps.regressions.detection.series import LONGEST, MOST_ASIDE, SHORTEST, ResultSeries

POWER = 0.8
# Runs at a new level within which a change should be found.
AFTER = 10
# A series in which only larger changes are detectable is not worth monitoring.
TOO_COARSE = 0.25


@dataclass(frozen=True)
class Detectable:
    """`runs`: runs since the last reset that count. `variation`: run-to-run, as a share of the value. `effect`:
    smallest change, as a share of the value, that is found with 80 % power; None in a series that is too short.
    `reason`: why the series cannot be monitored; empty if it can."""

    runs: int
    variation: float | None = None
    effect: float | None = None
    reason: str = ""


def detectable(series: ResultSeries, *, after: int = AFTER) -> Detectable:
    """Smallest change detectable after `after` runs, by the variation of the runs since the last reset."""
    start, end = (series.stretches() or [(0, 0)])[-1]
    first = max(start, end - LONGEST)
    runs = end - first
    if runs < SHORTEST:
        since = " since hardware or configuration changed" if series.resets else ""
        return Detectable(runs, reason=f"too short: {runs} of the {SHORTEST} runs needed{since}")
    window = series.window(first, end)
    noise = window.noise
    left, right = min(runs, MOST_ASIDE), min(after, MOST_ASIDE)
    parts, free = [noise.scale**2 / left, noise.scale**2 / right], freedoms(left, right)
    if noise.between and window.sessions:
        # As long as those seen.
        length = window.sessions.of_mean * runs
        shared = noise.between**2 * (min(length / left, 1) + min(length / right, 1))
        parts = [noise.within**2 / left, noise.within**2 / right, shared]
        free = [*free, noise.freedom]
    freedom, error = freedom_of(parts, free), math.sqrt(sum(parts) * noise.inflation)
    reach = -float(special.stdtrit(freedom, series.limits.significant / 2)) + float(special.stdtrit(freedom, POWER))
    effect = max(math.expm1(reach * error), series.limits.smallest)
    reason = (
        f"too noisy: only changes of {effect * 100:.0f}{NBSP}% and more are detectable" if effect > TOO_COARSE else ""
    )
    return Detectable(runs, noise.scale, effect, reason)
