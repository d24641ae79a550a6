"""A side's load levels as one object: where it saturates, collapses, and how far it holds an objective. Pure.

A ladder is climbed as fast as it goes: levels at a fixed rate are no part of it, since their rate says what comes out.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy import special

from apps.comparison.stats import usl, welch
from apps.comparison.stats.usl import Estimate, Fit, NoFit
from apps.comparison.stats.welch import CONFIDENCE, FEWEST_RUNS, Ratio, Sample

PERCENTILES = (50.0, 95.0, 99.0)
# A collapse is looked for between every two levels: the chance to see one that is not there, over all of them.
FALSE_COLLAPSES = 0.05


@dataclass(frozen=True)
class LevelQuantile:
    """A latency percentile at a load level, ms. `runs`: that of each run; `value`: that of all their requests together,
    from merged histograms, in a bucket from `low` to `high`; None: the tool printed percentiles alone, which are never
    averaged. `step`: relative width of the grid that the runs' values are read from; 0: of none."""

    percent: float
    runs: tuple[float, ...]
    value: float | None = None
    low: float | None = None
    high: float | None = None
    step: float = 0.0


@dataclass(frozen=True)
class LoadLevelData:
    """A side at one load level: a value per run. `response`: mean response time, ms."""

    level: int
    threads: int
    throughput: tuple[float, ...]
    response: tuple[float, ...] = ()
    quantiles: tuple[LevelQuantile, ...] = ()

    def quantile(self, percent: float) -> LevelQuantile | None:
        return next((each for each in self.quantiles if each.percent == percent), None)


@dataclass(frozen=True)
class SideLevels:
    """A side's rungs by threads. `by_littles_law`: the tool told no mean response time, so that it is threads over
    throughput (Little 1961), right where no thread waits between its requests."""

    side: str
    rungs: tuple[LoadLevelData, ...]
    by_littles_law: bool = False


@dataclass(frozen=True)
class Saturation:
    """Mean response time at a level over that at `base_threads`."""

    level: int
    threads: int
    base_threads: int
    ratio: Ratio


@dataclass(frozen=True)
class Collapse:
    """Throughput at the `best` level, and at the level above it where it is lowest for certain."""

    best_threads: int
    threads: int
    ratio: Estimate
    p: float


class ObjectiveState(StrEnum):
    """Whether a level keeps an objective."""

    WITHIN = "within"
    BEYOND = "beyond"
    NOT_TOLD = "not told apart"
    TOO_FEW = "too few repetitions"
    UNKNOWN = "not observed"


@dataclass(frozen=True)
class Rested:
    """A level under an objective. `interval`: of a typical run's percentile, ms; None: too few runs, or no spread."""

    level: int
    threads: int
    held: ObjectiveState
    value: float | None
    interval: Estimate | None


@dataclass(frozen=True)
class Reach:
    """How far a side keeps `limit` ms at a percentile. `last_within`: threads of the last level up to which every level
    is surely within it; `first_beyond`: of the first that surely is not. None: there is none."""

    percent: float
    limit: float
    levels: tuple[Rested, ...]
    last_within: int | None
    first_beyond: int | None


@dataclass(frozen=True)
class Ladder:
    """`best_threads`: the level with the highest throughput measured. `collapse`: None: none is certain."""

    side: str
    fit: Fit | NoFit
    best_threads: int | None
    collapse: Collapse | None
    saturation: tuple[Saturation, ...]
    by_littles_law: bool
    reach: Reach | None


def ladder(climb: SideLevels, *, percent: float, limit: float | None) -> Ladder:
    """`limit`: objective in ms at this percentile; None: there is none."""
    rungs = [rung for rung in climb.rungs if rung.throughput]
    best = max(rungs, key=lambda rung: _typical(rung.throughput), default=None)
    return Ladder(
        side=climb.side,
        fit=usl.fit({rung.threads: rung.throughput for rung in rungs}),
        best_threads=best.threads if best else None,
        collapse=collapse(rungs),
        saturation=saturation(climb.rungs),
        by_littles_law=climb.by_littles_law,
        reach=None if limit is None else reach(climb.rungs, percent=percent, limit=limit),
    )


def saturation(rungs: Sequence[LoadLevelData]) -> tuple[Saturation, ...]:
    """Of each level above the lowest."""
    told = [rung for rung in rungs if rung.response]
    return tuple(
        Saturation(
            rung.level, rung.threads, told[0].threads, welch.compare(Sample(told[0].response), Sample(rung.response))
        )
        for rung in told[1:]
    )


def collapse(rungs: Sequence[LoadLevelData]) -> Collapse | None:
    """The deepest fall below the best level that is none by chance: every pair of levels could have shown one, so p is
    multiplied by their number (Bonferroni). A level's variance is its own, or that of all levels together if that is
    more: three runs alone would find a fall of 10 % at 2 % noise in 39 of 100 ladders, so they find it in 96."""
    told = [rung for rung in rungs if rung.throughput]
    if len(told) < 2 or min(min(rung.throughput) for rung in told) <= 0:
        return None
    best = max(told, key=lambda rung: _typical(rung.throughput))
    pairs = len(told) * (len(told) - 1) / 2
    noise = _Noise.of(told)
    above = [rung for rung in told[told.index(best) + 1 :] if len(rung.throughput) >= FEWEST_RUNS]
    if noise is None or len(best.throughput) < FEWEST_RUNS:
        return None
    falls = [Collapse(best.threads, rung.threads, *noise.fall(best, rung)) for rung in above]
    found = [each for each in falls if each.p * pairs <= FALSE_COLLAPSES]
    return min(found, key=lambda each: each.ratio.value, default=None)


@dataclass(frozen=True)
class _Noise:
    """Variance of the logarithms within all levels together, and its degrees of freedom."""

    variance: float
    freedom: int

    @classmethod
    def of(cls, rungs: Sequence[LoadLevelData]) -> "_Noise | None":
        """None: no level's runs differ."""
        logs = [np.log(rung.throughput) for rung in rungs]
        freedom = sum(len(each) - 1 for each in logs)
        squares = float(sum(((each - each.mean()) ** 2).sum() for each in logs))
        return cls(squares / freedom, freedom) if squares > 0 else None

    def fall(self, best: LoadLevelData, rung: LoadLevelData) -> tuple[Estimate, float]:
        """Throughput over that of the best level with its interval, and p."""
        means, square = [], 0.0
        for each in (rung, best):
            logs = np.log(each.throughput)
            means.append(float(logs.mean()))
            square += max(float(logs.var(ddof=1)), self.variance) / len(logs)
        difference, error = means[0] - means[1], math.sqrt(square)
        half = float(special.stdtrit(self.freedom, (1 + CONFIDENCE) / 2)) * error
        p = float(2 * special.stdtr(self.freedom, -abs(difference) / error))
        return Estimate(math.exp(difference), math.exp(difference - half), math.exp(difference + half)), p


def reach(rungs: Sequence[LoadLevelData], *, percent: float, limit: float) -> Reach:
    """Level by level from below: the first that is not surely within ends the search, so that looking at many levels
    makes no false claim likelier (fixed sequence)."""
    levels = tuple(_rested(rung, percent, limit) for rung in rungs)
    within = None
    for each in levels:
        if each.held is not ObjectiveState.WITHIN:
            break
        within = each.threads
    beyond = next((each.threads for each in levels if each.held is ObjectiveState.BEYOND), None)
    return Reach(percent, limit, levels, within, beyond)


def _rested(rung: LoadLevelData, percent: float, limit: float) -> Rested:
    quantile = rung.quantile(percent)
    if quantile is None or not quantile.runs:
        return Rested(rung.level, rung.threads, ObjectiveState.UNKNOWN, None, None)
    value = quantile.value if quantile.value is not None else _typical(quantile.runs)
    interval = typical_run(quantile.runs, step=quantile.step)
    if interval is None:
        held = ObjectiveState.TOO_FEW
    elif max(interval.high, quantile.high or 0) <= limit:
        held = ObjectiveState.WITHIN
    else:
        held = ObjectiveState.BEYOND if min(interval.low, value) > limit else ObjectiveState.NOT_TOLD
    return Rested(rung.level, rung.threads, held, value, interval)


def typical_run(values: Sequence[float], *, step: float = 0.0) -> Estimate | None:
    """Geometric mean of the runs with its 95 % interval (Student's, on logarithms); None where they do not tell it.
    `step`: as Sample.resolution."""
    if min(values, default=0) <= 0:
        return None
    noise = welch.noise(Sample(tuple(values), (), step))
    if noise is None or noise.variance == 0:
        return None
    middle = float(np.log(values).mean())
    critical = float(special.stdtrit(noise.freedom, (1 + CONFIDENCE) / 2))
    half = critical * math.sqrt(noise.variance / len(values)) + noise.systematic
    return Estimate(math.exp(middle), math.exp(middle - half), math.exp(middle + half))


def _typical(values: Sequence[float]) -> float:
    return welch.geometric_mean(values) if min(values) > 0 else float(np.median(values))
