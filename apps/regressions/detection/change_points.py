"""Change points: where the level of a series changed. Pure: numbers in, numbers out.

Candidates come from kernel change points and a robust segmentation; each must pass a Welch test on winsorised
logarithms. docs/why/change-points.md has the effect of each choice on simulated and on labelled series.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import special

from apps.regressions.detection import noise as noises
from apps.regressions.detection.autocorrelation import Explained
from apps.regressions.detection.covariates import is_separable
from apps.regressions.detection.noise import Floats, SeriesNoise
from apps.regressions.detection.series import ALIKE, FEWEST_ASIDE, MOST_ASIDE, ChangePoint, Split, Window
from apps.regressions.detection.sessions import Sessions

CONFIDENCE = 0.95
WINSORISED = 2.5  # deviations
# Degrees of freedom that the shorter side borrows from the longer side's variance, at most (Smyth 2004).
BORROWED = 20
# Of KernelCPD, in units of its cost; runs of a segment.
PENALTY, SEGMENT = 5.0, 3
# Probability with which a change must lie within ALIKE runs of its place, near no release.
SURE = 0.9
# Runs on each side of a pilot's candidate, and of a level between two changes that may be a burst.
PILOT_ASIDE, SHORT = 6, 15


def search(window: Window, known: Collection[int] = ()) -> list[ChangePoint]:
    """Changes of a window at least two segments long. Those within ALIKE runs of `known` ones alone are not tried again
    beside noise that wanders."""
    places = candidates(window)
    tests = [_held(window, window.split(place, places)) for place in places]
    while tests:
        weakest = max(range(len(tests)), key=lambda number: tests[number].p)
        if tests[weakest].p < window.limits.significant:
            break
        del tests[weakest], places[weakest]
        # The neighbours of the dropped change have new neighbours.
        for number in {weakest - 1, weakest} & set(range(len(tests))):
            tests[number] = _held(window, window.split(places[number], places))
    tests = _lasting(window, tests)
    is_known = all(any(abs(test.index - place) <= ALIKE for place in known) for test in tests)
    return tests if is_known else _persistent(window, tests)


def _held(window: Window, split: Split) -> ChangePoint:
    """The test of a new change. p is 1 where a burst of odd runs or a change of machine looks the same: where fewer
    runs than are needed are at the level of their side, or no machine has runs on both sides; and where its place is
    not known yet."""
    tested = welch(window, split)
    if tested.p >= window.limits.significant:
        return tested
    left, right = (window.y[side] for side in split.sides)
    middle = (noises.median(left) + noises.median(right)) / 2
    is_up = tested.ratio > 1
    held = min(int(((left < middle) == is_up).sum()), int(((right > middle) == is_up).sum()))
    is_change = is_separable(window.machines, *split.sides)
    if window.is_near_release(split.at):
        return tested if is_change and held >= FEWEST_ASIDE else replace(tested, p=1.0)
    is_change &= held >= window.held and certainty(window, split) >= SURE
    if window.noise.between and window.sessions:
        is_change &= all(len(set(window.sessions.number[side].tolist())) > 1 for side in split.sides)
    return tested if is_change else replace(tested, p=1.0)


def certainty(window: Window, split: Split) -> float:
    """Probability that a change at `split.at` lies within ALIKE runs of there, were all places between its neighbours
    alike before: normal values at the levels of its sides, with their spread; the loss of an outlier is bounded. Too
    high, since the place was chosen by the same values."""
    noise, (left, right) = window.noise, split.sides
    y = window.y[left.start : right.stop]
    sides = [winsorise(window.y[side], noise) for side in (left, right)]
    own = math.sqrt(sum(side.var() * len(side) for side in sides) / len(y))
    before, after = (np.minimum(((y - side.mean()) / max(noise.scale, own)) ** 2, noises.ODD**2) for side in sides)
    losses = np.cumsum(before - after)[:-1]  # of a change at 1, 2, … to a constant
    weights = np.exp((losses.min() - losses) / (2 * noise.inflation))
    near = np.abs(np.arange(1, len(y)) - (split.at - left.start)) <= ALIKE
    return float(weights[near].sum() / weights.sum())


def _lasting(window: Window, tests: list[ChangePoint]) -> list[ChangePoint]:
    """Without the two ends of a level of fewer than SHORT runs after which the one before returned, near no release."""
    places = [test.index for test in tests]
    number = 0
    while number < len(places) - 1:
        first, second = places[number], places[number + 1]
        start = places[number - 1] if number else 0
        end = places[number + 2] if number + 2 < len(places) else len(window.y)
        before, own, after = (
            noises.median(window.y[begin:stop])
            for begin, stop in (
                (max(start, first - MOST_ASIDE), first),
                (first, second),
                (second, min(end, second + MOST_ASIDE)),
            )
        )
        has_returned = abs(after - before) < min(abs(own - before), abs(own - after)) / 2
        if second - first < SHORT and has_returned and not any(window.is_near_release(at) for at in (first, second)):
            del places[number : number + 2]
            number = max(number - 1, 0)
        else:
            number += 1
    if len(places) == len(tests):
        return tests
    again = [welch(window, window.split(place, places)) for place in places]
    return [test for test in again if test.p < window.limits.significant]


def _persistent(window: Window, tests: list[ChangePoint]) -> list[ChangePoint]:
    """Without those that noise which wanders, or a slope, explains as well."""
    places = [test.index for test in tests]
    if not places:
        return tests
    y, noise = window.y, window.noise
    bounds = [0, *places, len(y)]
    clipped = np.concatenate([winsorise(y[start:end], noise) for start, end in pairwise(bounds)])
    kept = Explained(clipped, places, window.sessions).kept(expected=window.is_near_release)
    return [welch(window, window.split(place, kept)) for place in kept] if len(kept) < len(places) else tests


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
    others = [0, *places, len(y)]
    more = [
        place
        for place in noise.bounds[1:-1]
        if min(abs(place - other) for other in others)
        >= (FEWEST_ASIDE if window.is_near_release(place) else PILOT_ASIDE)
    ]
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
    free = freedoms(len(left), len(right))
    if noise.between and window.sessions:
        parts, free = by_session(window.sessions, sides, split, noise)
    error = math.sqrt(sum(parts) * noise.inflation)
    k = freedom_of(parts, free)
    p = 2 * float(special.stdtr(k, -abs(shift) / error))
    if abs(math.expm1(noises.median(right) - noises.median(left))) < window.limits.smallest:
        p = 1.0
    half = float(special.stdtrit(k, (1 + CONFIDENCE) / 2)) * error
    ratio, low, high = (math.exp(each) for each in (shift, shift - half, shift + half))
    return ChangePoint(at, ratio, low, high, p, end - at, before=math.exp(float(sides[0].mean())))


def by_session(
    sessions: Sessions, sides: Sequence[Floats], split: Split, noise: SeriesNoise
) -> tuple[list[float], list[float]]:
    """Variances of the means of both sides (logarithms) within sessions, and of their difference by the sessions; with
    their degrees of freedom. A side's own runs count as BORROWED others at the series' noise within sessions."""
    parts, free, shared = list[float](), list[float](), 0.0
    for side, runs in zip(sides, split.sides, strict=True):
        own = sessions.part(runs.start, runs.stop)
        count = len(side) - len(own.starts)
        inner = float(((side - own.means(side)[own.number]) ** 2).sum())
        parts.append((inner + BORROWED * noise.within**2) / (count + BORROWED) / len(side))
        free.append(float(count + BORROWED))
        shared += own.of_mean * noise.between**2
    return [*parts, shared], [*free, noise.freedom]


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
