"""Change points: where the level of a series changed. Pure: numbers in, numbers out.

Candidates come from kernel change points and a robust segmentation; each must pass a Welch test on winsorised
logarithms. docs/why/change-points.md has the effect of each choice on simulated and on labelled series.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import special

from apps.regressions.detection import noise as noises
from apps.regressions.detection.noise import Floats, SeriesNoise
from apps.regressions.detection.series import FEWEST_ASIDE, ChangePoint, Split, Window

CONFIDENCE = 0.95
WINSORISED = 2.5  # deviations
# Degrees of freedom that the shorter side borrows from the longer side's variance, at most (Smyth 2004).
BORROWED = 8
# Of KernelCPD, in units of its cost; runs of a segment.
PENALTY, SEGMENT = 5.0, 3


def search(window: Window) -> list[ChangePoint]:
    """Changes of a window at least two segments long."""
    places = candidates(window)
    tests = [welch(window, window.split(place, places)) for place in places]
    while tests:
        weakest = max(range(len(tests)), key=lambda number: tests[number].p)
        if tests[weakest].p < window.limits.significant:
            break
        del tests[weakest], places[weakest]
        # The neighbours of the dropped change have new neighbours.
        for number in {weakest - 1, weakest} & set(range(len(tests))):
            tests[number] = welch(window, window.split(places[number], places))
    return tests


def candidates(window: Window) -> list[int]:
    """Indices where a segment begins, by KernelCPD("rbf") of ruptures with the penalty 5·√f (Truong et al. 2020), and
    by the pilot segmentation of the noise where the kernel finds none: the kernel is bounded, and finds large changes
    later."""
    # Imported here: the import takes as long as the analysis of a hundred series.
    from ruptures.detection import KernelCPD  # noqa: PLC0415

    y, noise = window.y, window.noise
    rough = max(noises.between_neighbours(y), noises.FLOOR)
    scaled = ((y - noises.median(y)) / rough).reshape(-1, 1)
    kernel = KernelCPD("rbf", min_size=SEGMENT).fit(scaled)
    found: list[Any] = kernel.predict(pen=PENALTY * math.sqrt(noise.inflation))
    places = [int(place) for place in found[:-1]]
    more = [place for place in noise.bounds[1:-1] if all(abs(place - other) >= FEWEST_ASIDE for other in places)]
    return sorted([*places, *more])


def welch(window: Window, split: Split, *, whole: tuple[int, int] = (0, 0)) -> ChangePoint:
    """Welch's test of the sides of a split (Welch 1947; Yuen 1974 for winsorised values), standard error times √f. Runs
    within `whole` are not winsorised. p is 1 if the shift is below the smallest that counts, or if a side has too few
    runs (then `high` is inf)."""
    y, noise, (_, at, end) = window.y, window.noise, split
    left, right = (y[side] for side in split.sides)
    if min(len(left), len(right)) < FEWEST_ASIDE:
        return ChangePoint(at, 1.0, 0.0, math.inf, 1.0, end - at)
    sides = [winsorise(left, noise), winsorise(right, noise)]
    for side, first in zip(sides, (at - len(left), at), strict=True):
        begin, stop = (min(max(place - first, 0), len(side)) for place in whole)
        side[begin:stop] = y[first + begin : first + stop]
    shift = float(sides[1].mean() - sides[0].mean())
    variances = [float(side.var(ddof=1)) for side in sides]
    short, long = (0, 1) if len(left) < len(right) else (1, 0)
    own = len(sides[short]) - 1
    variances[short] = (BORROWED * variances[long] + own * variances[short]) / (BORROWED + own)
    parts = [max(variance, noises.FLOOR**2) / len(side) for variance, side in zip(variances, sides, strict=True)]
    error = math.sqrt(sum(parts) * noise.inflation)
    k = freedom_of(parts, freedoms(len(left), len(right)))
    p = 2 * float(special.stdtr(k, -abs(shift) / error))
    if abs(math.expm1(noises.median(right) - noises.median(left))) < window.limits.smallest:
        p = 1.0
    half = float(special.stdtrit(k, (1 + CONFIDENCE) / 2)) * error
    ratio, low, high = (math.exp(each) for each in (shift, shift - half, shift + half))
    return ChangePoint(at, ratio, low, high, p, end - at, before=math.exp(float(sides[0].mean())))


def freedoms(left: int, right: int) -> list[float]:
    """Degrees of freedom of both sides' variances, by their numbers of runs; the shorter side borrows."""
    own = [left - 1.0, right - 1.0]
    short, long = (0, 1) if left < right else (1, 0)
    own[short] += min(BORROWED, own[long])
    return own


def freedom_of(parts: Sequence[float], freedoms: Sequence[float]) -> float:
    """Degrees of freedom of a sum of variances (Satterthwaite 1946)."""
    return sum(parts) ** 2 / sum(part**2 / freedom for part, freedom in zip(parts, freedoms, strict=True))


def winsorise(side: Floats, noise: SeriesNoise) -> Floats:
    middle = noises.median(side)
    reach = WINSORISED * max(noises.TO_SIGMA * noises.median(np.abs(side - middle)), noise.scale)
    clipped: Floats = np.clip(side, middle - reach, middle + reach)
    return clipped
