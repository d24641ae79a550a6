"""Looking at a comparison after every repetition without more false verdicts. Pure.

Group-sequential tests (Lan and DeMets, Biometrika 70, 1983): the error that looks may spend grows with the share of the
planned repetitions, by Pocock's function; the levels of the normal theory are applied to p (the significance-level
approach, Jennison and Turnbull 2000, section 4.4), and to the interval (their repeated confidence intervals).
Simulation results are in docs/howto/campaigns.md.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from apps.comparison.stats.power import CONFIDENCE, FEWEST_RUNS, critical, within_margin
from apps.comparison.stats.welch import Ratio

# Of 5 %: the levels of the normal theory spend a little more on a few repetitions, and more on a few sessions, whose
# variances are moderated.
SPENT, SPENT_ON_SESSIONS = 0.04, 0.03
POINTS = 801  # of the grid between the bounds
VERDICT = "verdict"


@dataclass(frozen=True)
class Score:
    """Density of the score of the trials that go on, at the points of a grid: `weights` sum to their share."""

    grid: NDArray[np.float64]
    weights: NDArray[np.float64]

    def beyond(self, edge: float, step: float) -> float:
        """Chance that the next score, a normal `step` away, lies outside ± `edge`."""
        return float(
            self.weights @ (special.ndtr((-edge - self.grid) / step) + special.ndtr((self.grid - edge) / step))
        )

    def bound(self, wanted: float, step: float) -> float:
        """The edge outside which the next score lies with the chance `wanted`."""
        low, high = 0.0, 12.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self.beyond(middle, step) > wanted else (low, middle)
        return high

    def within(self, edge: float, step: float) -> "Score":
        grid = np.linspace(-edge, edge, POINTS)
        density = (
            np.exp(-(((grid[:, None] - self.grid) / step) ** 2) / 2) @ self.weights / (step * math.sqrt(2 * math.pi))
        )
        simpson = np.full(POINTS, 2.0)
        simpson[1::2], simpson[0], simpson[-1] = 4.0, 1.0, 1.0
        return Score(grid, density * simpson * (grid[1] - grid[0]) / 3)


def pocock(share: float, alpha: float) -> float:
    """Error spent up to this share of the information."""
    return alpha * math.log1p((math.e - 1) * share)


@lru_cache(maxsize=256)
def levels(shares: tuple[float, ...], *, alpha: float = 1 - CONFIDENCE) -> tuple[float, ...]:
    """Two-sided significance level of each look, at ascending `shares` of the information (the last 1).

    By recursive integration of the score's density within the bounds (Armitage, McPherson and Rowe 1969)."""
    found: list[float] = []
    score = Score(np.zeros(1), np.ones(1))
    before = spent = 0.0
    for share in shares:
        step, wanted = math.sqrt(share - before), pocock(share, alpha) - spent
        bound = score.bound(wanted, step)
        found.append(float(2 * special.ndtr(-bound / math.sqrt(share))))
        spent, before = spent + wanted, share
        score = score.within(bound, step)
    return tuple(found)


def level_at(looked: int, most: int, *, cells: int, are_sessions: bool = False) -> float:
    """Significance level after `looked` of at most `most` repetitions (or sessions), with a look after each from
    FEWEST_RUNS on, for one of `cells` comparisons (Bonferroni)."""
    looks = tuple(each / most for each in range(FEWEST_RUNS, most + 1))
    return levels(looks, alpha=(SPENT_ON_SESSIONS if are_sessions else SPENT) / cells)[looked - FEWEST_RUNS]


def repeated_interval(ratio: Ratio, level: float) -> tuple[float, float] | None:
    """The ratio's interval at this level; None: it has none."""
    if ratio.value is None or not ratio.low or ratio.high is None or ratio.freedom is None:
        return None
    if not math.isfinite(ratio.high):
        return None
    half = (math.log(ratio.high) - math.log(ratio.low)) / 2 - ratio.systematic
    error = half / critical(ratio.freedom)
    wide = critical(ratio.freedom, level) * error + ratio.systematic
    middle = (math.log(ratio.high) + math.log(ratio.low)) / 2
    return math.exp(middle - wide), math.exp(middle + wide)


def is_enough(interval: tuple[float, float], until: str) -> bool:
    """Whether no more repetitions are wanted: VERDICT: it excludes 1, or lies within the margin; else it is at most as
    wide as ± `until` (a share)."""
    low, high = interval
    if until == VERDICT:
        return low > 1 or high < 1 or within_margin(low, high)
    return math.log(high / low) <= 2 * math.log1p(float(until))
