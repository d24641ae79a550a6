"""Where a change that is new is told when a release's first run is near: there, unless the values say otherwise. Pure.

A detector that knows values alone puts a small change some runs off; before the first run of a release it would blame
the release before.
"""

import math
from collections.abc import Sequence

import numpy as np

from apps.regressions.detection import change_points
from apps.regressions.detection import noise as noises
from apps.regressions.detection.change_points import ALIKE, LEAST_SIGNIFICANT, MOST_ASIDE, ChangeLimits
from apps.regressions.detection.noise import Floats, SeriesNoise

# So much likelier is a change of level at a release's first run than at any one other near it
# (docs/why/change-points.md).
ODDS = 30.0


def place(
    y: Floats, start: int, at: int, end: int, *, boundaries: Sequence[int], noise: SeriesNoise, limits: ChangeLimits
) -> int:
    """Of a change that was found `at` a run between its neighbours `start` and `end` in logarithms (runs,). One of the
    `boundaries`, runs with which a release begins, if it lies within ALIKE runs, the change is large enough there and
    its p below 1e-4 (that it is one was told where the values show it best), and it is likelier there than at all
    other runs as near, taken together; else `at`."""
    near = [each for each in boundaries if each != at and abs(each - at) <= ALIKE and start < each < end]
    near = [
        each
        for each in near
        if change_points.test(y, start, each, end, noise=noise, limits=limits).p < LEAST_SIGNIFICANT
    ]
    if at in boundaries or not near:
        return at
    first, last = max(start, at - MOST_ASIDE), min(end, at + MOST_ASIDE)
    places = range(max(first + 1, at - ALIKE), min(last, at + ALIKE + 1))
    losses = {each: _loss(y[first:each], noise) + _loss(y[each:last], noise) for each in places}
    least = min(losses.values())
    weights = {each: math.exp((least - loss) / (2 * noise.inflation)) for each, loss in losses.items()}
    best = max(near, key=lambda each: weights[each])
    return best if ODDS * weights[best] >= sum(weights[each] for each in places if each not in near) else at


def _loss(side: Floats, noise: SeriesNoise) -> float:
    """Twice the negative logarithm of how likely such runs are of one level; an odd run counts no more than others that
    are odd (biweight, as of the pilot)."""
    level = change_points.winsorised(side, noise).mean()
    return float(np.minimum(((side - level) / noise.scale) ** 2, noises.ODD**2).sum())
