"""Power of a comparison that is planned as sessions of repetitions, by the verdict's own rule. Pure.

The rule (Welch on the means of sessions, variances moderated over the load levels, p corrected for the table) is
applied to drawn variances; given these, the chance that the difference of the means passes is that of a normal
distribution. tests/comparison/stats/test_session_power.py compares it with simulated verdicts.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from apps.comparison.stats.moderation import DIFFERENT, FEWEST_VARIANCES, OF_BOTH, fitted
from apps.comparison.stats.power import CONFIDENCE, FEWEST_RUNS
from apps.comparison.stats.replicates import FEWEST_SESSIONS

# Assumed of a system that was measured in too few sessions; standard deviations of logarithms.
ASSUMED = 0.02
DRAWS = 2000
# Load levels differ in noise log-normally by this, as in the simulations of docs/why/statistics.md.
UNLIKE = 0.2
SEED = 20
Array = NDArray[np.float64]


@dataclass(frozen=True)
class SessionNoise:
    """Standard deviations of the logarithms: `between` sessions, and `within` one from run to run. `sessions`: seen at
    the least; 0: assumed."""

    between: float = ASSUMED
    within: float = ASSUMED
    sessions: int = 0

    def of_mean(self, repetitions: int) -> float:
        """Standard deviation of a session's mean."""
        return math.sqrt(self.between**2 + self.within**2 / repetitions)


@dataclass(frozen=True)
class DrawnLimits:
    """By draw: the difference that is found, and the standard error of the difference, where a session's mean has the
    standard deviation 1."""

    found: Array
    error: Array

    def chance(self, effect: float) -> float:
        return float(special.ndtr((effect - self.found) / self.error).mean())


def chance(*, effect: float, noise: float, sessions: int, repetitions: int, levels: int, comparisons: int) -> float:
    """Chance that a difference `effect` (of logarithms) at one load level is found, `noise` being SessionNoise.of_mean.
    `levels` of the table; `comparisons`: levels times sides other than the first, all others equal."""
    if not suffices(sessions, repetitions):
        return 0.0
    return _limits(sessions, levels, comparisons).chance(effect / noise)


def suffices(sessions: int, repetitions: int) -> bool:
    """Whether there is a verdict over sessions at all."""
    return sessions >= FEWEST_SESSIONS and sessions * repetitions >= FEWEST_RUNS


@lru_cache(maxsize=1024)
def least_effect(*, sessions: int, levels: int, comparisons: int, power: float) -> float:
    """Smallest difference found with this power, in standard deviations of a session's mean."""
    limits = _limits(sessions, levels, comparisons)
    low, high = 0.0, 1.0
    while limits.chance(high) < power:
        high *= 2
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if limits.chance(middle) >= power else (middle, high)
    return high


@lru_cache(maxsize=256)
def _limits(sessions: int, levels: int, comparisons: int) -> DrawnLimits:
    random, own = np.random.default_rng(SEED), sessions - 1
    scale = np.exp(random.normal(0, UNLIKE, (DRAWS, 1, levels)))
    seen = scale**2 * random.chisquare(own, (DRAWS, 2, levels)) / own
    variance, freedom = _moderated(seen, own)
    squares = variance / sessions
    share = squares[:, 0] / squares.sum(axis=1)
    welch = 1 / (share**2 / freedom[:, 0] + (1 - share) ** 2 / freedom[:, 1])
    least = np.minimum((freedom - (freedom - own) / 4).min(axis=1), welch)
    alone = special.stdtrit(welch, (1 + CONFIDENCE) / 2)
    corrected = special.stdtrit(np.sqrt(welch * least), 1 - (1 - CONFIDENCE) / (2 * comparisons))
    limit = np.maximum(alone, corrected) * np.sqrt(squares.sum(axis=1))
    return DrawnLimits(limit, scale[:, 0, 0] * math.sqrt(2 / sessions))


def _moderated(seen: Array, own: int) -> tuple[Array, Array]:
    """Variances and degrees of freedom of both sides at the first level: moderation.moderated, for all draws."""
    levels, half = seen.shape[2], own / 2
    logs = np.log(seen) - special.digamma(half) + math.log(half)
    trigamma = float(special.polygamma(1, half))
    first = seen[:, :, 0]

    def applied(of: Array, most: float) -> tuple[Array, Array]:
        """Of the cells in rows, to the first level of both sides."""
        if of.shape[-1] < FEWEST_VARIANCES:
            return first, np.full_like(first, own)
        variance, freedom = (np.broadcast_to(each.reshape(len(each), -1), first.shape) for each in fitted(of, trigamma))
        total = np.maximum(np.minimum(own + freedom, most * own * of.shape[-1]), own)
        weight = 1 - own / (own + freedom)
        return weight * variance + (1 - weight) * first, total

    together = applied(logs.reshape(len(logs), -1), OF_BOTH)
    if levels < FEWEST_SESSIONS:
        return together
    error = np.sqrt((logs.var(axis=2, ddof=1) / levels).sum(axis=1))
    differ = np.abs(logs.mean(axis=2) @ np.array([1.0, -1.0])) > DIFFERENT * error
    apart = applied(logs, 1)
    variance, freedom = (np.where(differ[:, None], one, other) for one, other in zip(apart, together, strict=True))
    return variance, freedom
