"""Attributes a new change to a release whose first run is near, unless the values contradict it. Pure.

By values alone a small change is located some runs off; if located before a release's first run, it would be
attributed to the previous release.
"""

import math

import numpy as np

from apps.regressions.detection import noise as noises
from apps.regressions.detection.change_points import welch, winsorise
from apps.regressions.detection.noise import Floats, SeriesNoise
from apps.regressions.detection.series import ALIKE, LEAST_SIGNIFICANT, Split, Window

# Prior odds of a change at the first run of a release against any one other run nearby (docs/why/change-points.md).
ODDS = 30.0


def place(window: Window, split: Split) -> int:
    """Where a change found at `split.at` is reported: at a release's first run, if that lies within ALIKE runs, the
    change is large enough there with p below 1e-4, and that run is more likely than all other runs within ALIKE
    together; else where it was found."""
    start, at, end = split
    near = [each for each in window.boundaries if each != at and abs(each - at) <= ALIKE and start < each < end]
    near = [each for each in near if welch(window, split._replace(at=each)).p < LEAST_SIGNIFICANT]
    if at in window.boundaries or not near:
        return at
    left, right = split.sides
    first, last = left.start, right.stop
    places = range(max(first + 1, at - ALIKE), min(last, at + ALIKE + 1))
    y, noise = window.y, window.noise
    losses = {each: _loss(y[first:each], noise) + _loss(y[each:last], noise) for each in places}
    least = min(losses.values())
    weights = {each: math.exp((least - loss) / (2 * noise.inflation)) for each, loss in losses.items()}
    best = max(near, key=lambda each: weights[each])
    return best if ODDS * weights[best] >= sum(weights[each] for each in places if each not in near) else at


def _loss(side: Floats, noise: SeriesNoise) -> float:
    """Twice the negative log-likelihood of one level; the loss of an outlier is bounded (biweight, as in the pilot)."""
    level = winsorise(side, noise).mean()
    return float(np.minimum(((side - level) / noise.scale) ** 2, noises.ODD**2).sum())
