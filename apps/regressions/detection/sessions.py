"""What the runs of one session share, besides the level: an offset of the day, host or start of the server. Pure.

The mean of a level's runs is as sure as its sessions are many, not its runs (Kalibera & Jones 2013).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special

from apps.regressions.detection import noise as noises
from apps.regressions.detection.noise import Floats, SeriesNoise

# Fewest sessions that show how much they differ, and fewest pairs of neighbouring runs within them.
FEWEST, FEWEST_PAIRS = 8, 8
# p of the test whether they differ.
SURE = 1e-5
CONFIDENCE = 0.95


@dataclass(frozen=True)
class SessionSpread:
    """Standard deviations as shares of the value: `between` the offsets of this many `sessions`, with its 95 %
    interval, and `within` them."""

    between: float
    low: float
    high: float
    within: float
    sessions: int


@dataclass(frozen=True, eq=False)
class Sessions:
    """Consecutive runs of one session each: `starts` of them (sessions,), of `runs` runs in all."""

    starts: NDArray[np.intp]
    runs: int

    @classmethod
    def of(cls, numbers: Sequence[int]) -> "Sessions":
        """`numbers`: the session of each run."""
        return cls(np.flatnonzero(np.diff(np.array(numbers), prepend=np.nan)), len(numbers))

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """Runs of each (sessions,)."""
        return np.diff(self.starts, append=self.runs)

    @cached_property
    def number(self) -> NDArray[np.intp]:
        """Of the session of each run (runs,), from 0."""
        return np.repeat(np.arange(len(self.starts)), self.sizes)

    def part(self, first: int, end: int) -> "Sessions":
        return Sessions.of(self.number[first:end].tolist())

    def means(self, values: Floats) -> Floats:
        """Of `values` (runs, ...) by session (sessions, ...)."""
        sums: Floats = np.add.reduceat(values, self.starts, axis=0)
        return sums / self.sizes.reshape(-1, *([1] * (values.ndim - 1)))

    @property
    def of_mean(self) -> float:
        """Variance of the mean of all runs by the sessions' differences alone, of unit variance."""
        return float((self.sizes**2).sum()) / self.runs**2

    def _spread(self, y: Floats) -> tuple[float, float, float]:
        """Standard deviations between sessions and within them, and degrees of freedom of the first, by the residuals
        of their means from levels, as in the pilot segmentation. Zeros: too few sessions, or too few runs in them."""
        is_inner = np.diff(self.number) == 0
        if len(self.starts) < FEWEST or is_inner.sum() < FEWEST_PAIRS:
            return 0.0, 0.0, 0.0
        seen = noises.deviation(np.diff(y)[is_inner]) / math.sqrt(2)
        # Of values on a grid half of the differences may be zero.
        within = max(seen, noises.grid_step(y) / math.sqrt(12), noises.FLOOR)
        by_runs = within**2 * float((1 / self.sizes).mean())
        means = self.means(y)
        scale = max(noises.between_neighbours(means), math.sqrt(by_runs))
        bounds = noises.levels(means, scale)
        freedom = len(means) - len(bounds) + 1
        clipped = np.clip(noises.leveled(means, bounds), -noises.ODD * scale, noises.ODD * scale)
        between = math.sqrt(max(float((clipped**2).sum()) / max(freedom, 1) - by_runs, 0.0))
        return between, within, freedom

    def noise(self, y: Floats) -> SeriesNoise:
        """Of logarithms (runs,): where sessions differ, the correlation is that of their means."""
        between, within, freedom = self._spread(y)
        if not between:
            return noises.estimate(y)
        found = noises.estimate(y, least=float(np.hypot(between, within)))
        means = self.means(noises.leveled(y, found.bounds))
        correlation = noises.correlation(means, noises.deviation(means))
        return replace(found, correlation=correlation, between=between, within=within, freedom=freedom)

    def difference(self, residuals: Floats, *, levels: int) -> SessionSpread | None:
        """Whether sessions surely differ, by the residuals (runs,) of so many levels: one-way analysis of variance, the
        interval by that of F (Searle, Casella & McCulloch 1992, 3.6). None: not surely, or too few."""
        count, means = len(self.starts), self.means(residuals)
        first, second = count - levels, self.runs - count
        if count < FEWEST or second < FEWEST_PAIRS or first < 1:
            return None
        within = max(float(((residuals - means[self.number]) ** 2).sum()) / second, noises.FLOOR**2)
        ratio = float((self.sizes * means**2).sum()) / first / within
        if float(special.fdtrc(first, second, ratio)) >= SURE:
            return None
        ends = (special.fdtri(first, second, at) for at in ((1 + CONFIDENCE) / 2, (1 - CONFIDENCE) / 2))
        length = self.runs * (1 - self.of_mean) / (count - 1)
        between, low, high = (math.sqrt(max(ratio / float(end) - 1, 0.0) * within / length) for end in (1.0, *ends))
        return SessionSpread(between, low, high, math.sqrt(within), count)
