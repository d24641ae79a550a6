"""Where a series of runs changed its level. Pure: numbers in, numbers out.

Kernel change points and a robust segmentation propose, a Welch test on winsorised logarithms disposes. What each
choice did on simulated and on labelled series is told in docs/why/change-points.md.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from apps.regressions.detection import noise as noises
from apps.regressions.detection.noise import Floats, SeriesNoise

CONFIDENCE = 0.95
# The past that counts, and the least that says anything, in runs.
LONGEST, SHORTEST = 500, 10
# A change is looked at once so many runs lie on each side of it, up to which more make it surer.
FEWEST_ASIDE, MOST_ASIDE = 4, 40
LEAST_SIGNIFICANT = 1e-4
WINSORISED = 2.5  # deviations
# Runs that the longer side's variance counts for, beside the shorter side's own (Smyth 2004).
BORROWED = 8
# Of KernelCPD, in units of its cost; runs of a segment.
PENALTY, SEGMENT = 5.0, 3
# Findings so many runs apart are one, unless both pass the test beside each other (follow).
ALIKE = 7


@dataclass(frozen=True)
class ChangeLimits:
    """What counts as a change. `smallest`: shift, as a share of the value; `significant`: p of the test, at most 1e-4,
    since less is asked where a look is spared and where a known change is kept (follow). Raises ValueError."""

    smallest: float = 0.005
    significant: float = 1e-6

    def __post_init__(self) -> None:
        if not 0 < self.smallest < 1:
            raise ValueError(f"the smallest shift is a share above 0 and below 1, not {self.smallest}")
        if not 0 < self.significant <= LEAST_SIGNIFICANT:
            raise ValueError(f"the p of a change is above 0 and at most {LEAST_SIGNIFICANT}, not {self.significant}")


DEFAULT = ChangeLimits()


@dataclass(frozen=True)
class ChangePoint:
    """From run `index` on (counted from 0 over the whole series) values are `ratio` times those before. `low` and
    `high` bound the ratio's approximate 95 % interval: approximate because the place was chosen by the same values.
    `p` is of the test that let it pass. `runs_after`: runs of the new level, up to the next change or the end.
    `before`: the level that `ratio` is of, in the values' unit; nan: not asked."""

    index: int
    ratio: float
    low: float
    high: float
    p: float
    runs_after: int
    before: float = field(default=math.nan, compare=False)


def detect(values: ArrayLike, *, resets: Sequence[int] = (), limits: ChangeLimits = DEFAULT) -> list[ChangePoint]:
    """Changes of level of a series (runs,), in its order, without runs that are excluded. Values are positive, of any
    unit. `resets`: runs from which on hardware or configuration was another; what changes there is no finding, and
    no stretch is compared with another. The last 500 runs of each stretch count; one with fewer than 10 has no change.

    Raises ValueError at a value without logarithm and at a reset outside the series.
    """
    y = logarithms(values)
    found: list[ChangePoint] = []
    for start, end in pairwise(stretches(len(y), resets)):
        first = max(start, end - LONGEST)
        if end - first >= SHORTEST:
            part = y[first:end]
            found += changes(part, noises.estimate(part), first=first, limits=limits)
    return found


def logarithms(values: ArrayLike, *, first: int = 0) -> Floats:
    """Raises ValueError at what is no series of positive numbers, and names the run, counted from `first`."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"a series has one dimension, not {array.ndim}")
    fine = np.isfinite(array) & (array > 0)
    if not fine.all():
        run = int(np.argmin(fine))
        raise ValueError(
            f"run {first + run} is {array[run]}: leave out runs without a positive value, a ratio has no other"
        )
    logs: Floats = np.log(array)
    return logs


def stretches(runs: int, resets: Sequence[int]) -> list[int]:
    """Bounds from 0 to `runs`. Raises ValueError at a reset outside."""
    if any(not 0 <= reset <= runs for reset in resets):
        raise ValueError(f"resets {list(resets)} are not all within the series of {runs} runs")
    return sorted({0, *resets, runs})


def changes(y: Floats, noise: SeriesNoise, *, first: int = 0, limits: ChangeLimits = DEFAULT) -> list[ChangePoint]:
    """Of one stretch of logarithms (runs,), at least two segments long. `first`: the run it begins with."""
    bounds = [0, *candidates(y, noise), len(y)]
    found = [_tested(y, bounds, place, noise, limits) for place in range(1, len(bounds) - 1)]
    while found:
        weakest = max(range(len(found)), key=lambda number: found[number].p)
        if found[weakest].p < limits.significant:
            break
        del found[weakest], bounds[weakest + 1]
        # Those beside it have other neighbours now.
        for number in {weakest - 1, weakest} & set(range(len(found))):
            found[number] = _tested(y, bounds, number + 1, noise, limits)
    return [change_of(test, first=first) for test in found]


def candidates(y: Floats, noise: SeriesNoise) -> list[int]:
    """Places where a segment begins, by KernelCPD("rbf") of ruptures with the penalty 5·√f (Truong et al. 2020), and by
    the pilot segmentation of the noise where the kernel, which is bounded, sees none: it finds large changes sooner."""
    # Its import takes as long as the analysis of a hundred series: only who looks pays for it.
    from ruptures.detection import KernelCPD  # noqa: PLC0415

    rough = max(noises.between_neighbours(y), noises.FLOOR)
    scaled = ((y - noises.median(y)) / rough).reshape(-1, 1)
    search = KernelCPD("rbf", min_size=SEGMENT).fit(scaled)
    found: list[Any] = search.predict(pen=PENALTY * math.sqrt(noise.inflation))
    places = [int(place) for place in found[:-1]]
    more = [place for place in noise.bounds[1:-1] if all(abs(place - other) >= FEWEST_ASIDE for other in places)]
    return sorted([*places, *more])


@dataclass(frozen=True)
class Tested:
    """Two neighbouring segments. `shift`: difference of their logarithms; `half`: of its interval. p is 1 where the
    shift is too small to matter or has too few runs on a side. `before`: mean logarithm of the first."""

    index: int
    shift: float
    half: float
    p: float
    runs_after: int
    before: float = math.nan


def test(
    y: Floats,
    start: int,
    at: int,
    end: int,
    *,
    noise: SeriesNoise,
    limits: ChangeLimits,
    whole: tuple[int, int] = (0, 0),  # noqa: PT028  it is no test of pytest's
) -> Tested:
    """Welch's test of y[start:at] against y[at:end] (Welch 1947; Yuen 1974 for winsorised values), of the up to 40 runs
    nearest to the change, standard error times √f. Runs of y[whole] are not winsorised."""
    left, right = y[max(start, at - MOST_ASIDE) : at], y[at : min(end, at + MOST_ASIDE)]
    if min(len(left), len(right)) < FEWEST_ASIDE:
        return Tested(at, 0.0, math.inf, 1.0, end - at)
    sides = [winsorised(left, noise), winsorised(right, noise)]
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
    if abs(math.expm1(noises.median(right) - noises.median(left))) < limits.smallest:
        p = 1.0
    half = float(special.stdtrit(k, (1 + CONFIDENCE) / 2)) * error
    return Tested(at, shift, half, p, end - at, before=float(sides[0].mean()))


def freedoms(left: int, right: int) -> list[float]:
    """Of both sides' variances, from so many runs; the shorter one borrows."""
    own = [left - 1.0, right - 1.0]
    short, long = (0, 1) if left < right else (1, 0)
    own[short] += min(BORROWED, own[long])
    return own


def freedom_of(parts: Sequence[float], freedoms: Sequence[float]) -> float:
    """Of a sum of variances (Satterthwaite 1946)."""
    return sum(parts) ** 2 / sum(part**2 / freedom for part, freedom in zip(parts, freedoms, strict=True))


def _tested(y: Floats, bounds: Sequence[int], place: int, noise: SeriesNoise, limits: ChangeLimits) -> Tested:
    return test(y, bounds[place - 1], bounds[place], bounds[place + 1], noise=noise, limits=limits)


def winsorised(side: Floats, noise: SeriesNoise) -> Floats:
    middle = noises.median(side)
    reach = WINSORISED * max(noises.TO_SIGMA * noises.median(np.abs(side - middle)), noise.scale)
    clipped: Floats = np.clip(side, middle - reach, middle + reach)
    return clipped


def change_of(test: Tested, *, first: int) -> ChangePoint:
    return ChangePoint(
        index=first + test.index,
        ratio=math.exp(test.shift),
        low=math.exp(test.shift - test.half),
        high=math.exp(test.shift + test.half),
        p=test.p,
        runs_after=test.runs_after,
        before=math.exp(test.before),
    )
