"""Noise of a series of runs: its variation without changes of level. Pure: numbers in, numbers out.

Chosen by simulation (docs/why/change-points.md): neither changes of level nor single outliers may count as noise.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

TO_SIGMA = 1.4826  # from a median absolute deviation
FLOOR = 2e-4  # of a logarithm: the resolution of a load tool's decimals
# Pilot segmentation: residuals beyond ODD deviations are outliers; a change costs PENALTY * ln(runs).
ODD, PENALTY = 2.5, 3.0
# Limit of the factor by which the pilot's residuals raise the estimate: beyond it they contain levels it did not split.
MOST_RAISED = 3.0
MOST_CORRELATION = 0.7
# Number of candidate levels of the pilot.
MOST_LEVELS = 120


@dataclass(frozen=True)
class SeriesNoise:
    """`scale`: standard deviation of a run's logarithm. `correlation`: of neighbouring runs, or of sessions where these
    differ, 0 to .7. `bounds`: of the stretches of one level each at that scale, from 0 to the number of runs.
    `between`, `within`: standard deviations between sessions, of so many degrees of `freedom`, and within them; 0: not
    known."""

    scale: float
    correlation: float
    bounds: tuple[int, ...]
    between: float = 0.0
    within: float = 0.0
    freedom: float = 0.0

    @property
    def inflation(self) -> float:
        """Factor by which the variance of a mean exceeds that of independent runs (first-order autoregression)."""
        return (1 + self.correlation) / (1 - self.correlation)


def estimate(y: Floats, *, least: float = FLOOR) -> SeriesNoise:
    """Noise of at least three logarithms (runs,). Differences of neighbours are unaffected by levels, but too small if
    neighbouring runs are correlated; the residuals of a pilot segmentation account for that. `least`: of the scale."""
    rough = max(between_neighbours(y), least)
    bounds = levels(y, rough)
    residuals = leveled(y, bounds)
    scale = max(rough, min(deviation(residuals), MOST_RAISED * rough))
    bounds = levels(y, scale) if scale > rough else bounds
    return SeriesNoise(scale, correlation(residuals, scale), tuple(bounds))


def leveled(y: Floats, bounds: Sequence[int]) -> Floats:
    """Logarithms (runs,) without the medians of the levels."""
    return np.concatenate([y[start:end] - np.median(y[start:end]) for start, end in pairwise(bounds)])


def of_level(y: Floats) -> SeriesNoise:
    """Noise of runs that are assumed to have one level, in a tenth of the time."""
    rough, residuals = max(between_neighbours(y), FLOOR), y - median(y)
    scale = max(rough, min(deviation(residuals), MOST_RAISED * rough))
    return SeriesNoise(scale, correlation(residuals, scale), (0, len(y)))


def correlation(residuals: Floats, scale: float) -> float:
    """Correlation of neighbouring residuals, with outliers clipped."""
    clipped = np.clip(residuals, -ODD * scale, ODD * scale)
    total = float(clipped @ clipped)
    lag = float(clipped[1:] @ clipped[:-1]) / total if total else 0.0
    return min(max(lag, 0.0), MOST_CORRELATION)


def between_neighbours(y: Floats) -> float:
    """Standard deviation from the differences of neighbours (runs - 1,), robust against outliers. Of values on a grid
    half of the differences may be zero; rounding alone has step² / 12 (Sheppard 1898)."""
    return max(deviation(y[1:] - y[:-1]) / math.sqrt(2), grid_step(y) / math.sqrt(12))


def grid_step(y: Floats) -> float:
    """Median gap of the distinct values, if fewer than half are distinct; else 0: they lie on no coarse grid."""
    distinct = np.unique(y)
    return median(np.diff(distinct)) if 1 < len(distinct) < len(y) / 2 else 0.0


def deviation(values: Floats) -> float:
    """Median absolute deviation, as a standard deviation."""
    return TO_SIGMA * median(np.abs(values - median(values)))


def median(values: Floats) -> float:
    """numpy.median takes five times as long on so few values."""
    ordered, half = np.sort(values), len(values) // 2
    return float(ordered[half]) if len(ordered) % 2 else float(ordered[half - 1] + ordered[half]) / 2


def levels(y: Floats, scale: float) -> Sequence[int]:
    """Bounds of stretches of one level each, from 0 to the number of runs.

    Least sum of min(((y − level)/scale)², ODD²) + PENALTY·ln(runs) a change (biweight loss: Fearnhead & Rigaill, J. Am.
    Stat. Assoc. 114, 2019), exact among levels that are quantiles of the series.
    """
    runs, penalty = len(y), PENALTY * np.log(len(y))
    among = np.quantile(y, np.linspace(0, 1, min(runs, MOST_LEVELS)))
    losses = np.minimum(((y[:, None] - among) / scale) ** 2, ODD**2)
    best, jumps = losses[0].copy(), np.zeros(losses.shape, np.bool_)
    before = np.zeros(runs, np.intp)
    for run in range(1, runs):
        before[run] = best.argmin()
        jump = best[before[run]] + penalty
        np.greater(best, jump, out=jumps[run])
        np.minimum(best, jump, out=best)
        best += losses[run]
    level, bounds = int(best.argmin()), [runs]
    for run in range(runs - 1, 0, -1):
        if jumps[run, level]:
            bounds.append(run)
            level = int(before[run])
    return [0, *bounds[::-1]]
