"""What was measured of the host beside each run, such as the CPU time of a fixed piece of work. Pure.

Its effect on the values is estimated within levels, and taken out before changes of level are looked for.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import special

from apps.regressions.detection import noise as noises
from apps.regressions.detection.covariates import SURE, Effect, effect_of
from apps.regressions.detection.noise import Floats

# Runs with a known value, and the share of these that have the same: below and above it nothing is estimated.
FEWEST, MOST_ALIKE = 20, 0.5
ROUNDS = 3
# Runs on each side of the first of another kind that are compared.
BESIDE = 5
# Of the logarithm of the CPU time that a fixed piece of work takes: a tenth more.
CANARY_STEP = math.log(1.1)


@dataclass(frozen=True, eq=False)
class HostMeasure:
    """`values` (runs,) in steps for each of which an effect is given, nan: not known. `kinds`: only values of one kind
    are comparable, empty: all. `sign`: of any effect that it can have, -1: the series falls where it grows."""

    name: str
    values: Floats
    sign: int
    kinds: Sequence[str] = ()

    def part(self, first: int, end: int) -> "HostMeasure":
        return HostMeasure(self.name, self.values[first:end], self.sign, self.kinds[first:end])

    @property
    def centred(self) -> Floats:
        """Around the median; unknown values are 0. Values of another kind begin where those before them end."""
        found = self.values.copy()
        kinds = np.array(self.kinds or [""] * len(found))
        known = np.flatnonzero(np.isfinite(found))
        for kind in list(dict.fromkeys(kinds[known].tolist()))[1:]:
            own = known[kinds[known] == kind]
            before = known[known < own[0]][-BESIDE:]
            found[own] += noises.median(found[before]) - noises.median(found[own[:BESIDE]])
        if len(known):
            found -= noises.median(found[known])
        return np.nan_to_num(found)


@dataclass(frozen=True, eq=False)
class _Fit:
    slopes: Floats
    errors: Floats
    freedom: int
    loss: float


def effects(y: Floats, measures: Sequence[HostMeasure]) -> tuple[Floats, tuple[tuple[str, Effect], ...]]:
    """Logarithms (runs,) without the effects of these measures, and each one's for a step, where it is sure."""
    used = [each for each in measures if _varies(each)]
    while used:
        plain = np.column_stack([each.centred for each in used])
        # A measure varies by itself, too: where the values follow its levels only, these tell its speed better.
        tried = [(x, start) for x in (plain, _levelled(plain)) for start in _starts(y, x)]
        x, fit = min(((x, _fitted(y, x, start)) for x, start in tried), key=lambda each: each[1].loss)
        t = fit.slopes / np.maximum(fit.errors, noises.FLOOR**2)
        p = 2 * special.stdtr(fit.freedom, -np.abs(t))
        sure = [place for place, each in enumerate(used) if p[place] < SURE and fit.slopes[place] * each.sign > 0]
        if len(sure) == len(used):
            sized = zip(used, fit.slopes, fit.errors, strict=True)
            found = tuple(
                (each.name, effect_of(float(slope), float(error), fit.freedom)) for each, slope, error in sized
            )
            return y - x @ fit.slopes, found
        used = [used[place] for place in sure]
    return y, ()


def _varies(measure: HostMeasure) -> bool:
    known = measure.values[np.isfinite(measure.values)]
    return len(known) >= FEWEST and np.unique(known, return_counts=True)[1].max() <= MOST_ALIKE * len(known)


def _levelled(x: Floats) -> Floats:
    """The medians of its own levels."""
    found = x.copy()
    for column in found.T:
        for start, end in pairwise(noises.estimate(column).bounds):
            column[start:end] = noises.median(column[start:end])
    return found


def _starts(y: Floats, x: Floats) -> list[Floats]:
    """No effect; that on the differences of neighbours, which no level disturbs; that on all runs as of one level."""
    between = np.linalg.lstsq(np.diff(x, axis=0), np.diff(y), rcond=None)[0]
    return [np.zeros(x.shape[1]), between, np.linalg.lstsq(x, y - y.mean(), rcond=None)[0]]


def _fitted(y: Floats, x: Floats, slopes: Floats) -> _Fit:
    """Least squares within the levels of what an effect leaves, outliers clipped; then its levels again."""
    common = max(noises.between_neighbours(y), noises.FLOOR)
    for _ in range(ROUNDS):
        rest = y - x @ slopes
        noise = noises.estimate(rest)
        levels = np.repeat(np.arange(len(noise.bounds) - 1), np.diff(noise.bounds))
        middles = np.array([noises.median(rest[start:end]) for start, end in pairwise(noise.bounds)])[levels]
        reach = noises.ODD * noise.scale
        clipped = middles + np.clip(rest - middles, -reach, reach) + x @ slopes
        own, other = _within(x, levels), _within(clipped[:, None], levels)[:, 0]
        slopes = np.asarray(np.linalg.lstsq(own, other, rcond=None)[0], np.float64)
    residuals = other - own @ slopes
    freedom = max(len(y) - int(levels[-1]) - 1 - x.shape[1], 1)
    variance = max(float(residuals @ residuals) / freedom, noises.FLOOR**2) * noise.inflation
    errors = np.sqrt(variance * np.diag(np.linalg.pinv(own.T @ own)))
    lost = np.minimum((residuals / common) ** 2, noises.ODD**2).sum()
    return _Fit(slopes, errors, freedom, float(lost) + noises.PENALTY * np.log(len(y)) * int(levels[-1]))


def _within(values: Floats, levels: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Floats:
    """Without the mean of each level."""
    counts = np.bincount(levels)
    means = np.column_stack([np.bincount(levels, column) / counts for column in values.T])
    found: Floats = values - means[levels]
    return found
