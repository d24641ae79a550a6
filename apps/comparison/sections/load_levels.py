"""A side over its load levels: saturation, collapse, and how far it meets an objective. Pure.

Every level runs unthrottled: levels at a fixed rate are left out, since the rate determines their throughput.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import numpy as np
from scipy import special

from apps.comparison.stats import usl, welch
from apps.comparison.stats.power import CONFIDENCE, FEWEST_RUNS
from apps.comparison.stats.replicates import (
    FEWEST_SESSIONS,
    WITHIN_ONE,
    Replicates,
    Sample,
    geometric_mean,
    session_means,
)
from apps.comparison.stats.usl import Estimate, Fit, NoFit
from apps.comparison.stats.welch import Ratio
from apps.core.answers import Hidden, Name, Shown, Unbounded

PERCENTILES = (50.0, 95.0, 99.0)
# A collapse is searched between every two levels: chance of a false one over all of them.
FALSE_COLLAPSES = 0.05


@dataclass(frozen=True)
class LevelQuantile:
    """A latency percentile at a load level, ms. `runs`: one value per run; `value`: over all their requests, from
    merged histograms, in a bucket from `low` to `high`; None: the tool printed percentiles only, which are never
    averaged. `step`: relative width of the grid of the runs' values; 0: no grid. `sessions`: of each run, as in
    Sample."""

    percent: float
    runs: Annotated[tuple[float, ...], "value of each run, ms"]
    value: Annotated[float | None, "ms, over all requests; null: no histograms"] = None
    low: Annotated[float | None, "lower bound of its bucket"] = None
    high: Unbounded | None = None
    step: Hidden[float] = 0.0
    sessions: Hidden[tuple[int, ...]] = ()


@dataclass(frozen=True)
class LoadLevelData:
    """A side at one load level: one value per run."""

    level: Annotated[int, "id of a load level"]
    threads: int
    throughput: Annotated[tuple[float, ...], "of each run"]
    response: Annotated[tuple[float, ...], "mean response time of each run, ms"] = ()
    quantiles: tuple[LevelQuantile, ...] = ()

    def quantile(self, percent: float) -> LevelQuantile | None:
        return next((each for each in self.quantiles if each.percent == percent), None)


@dataclass(frozen=True)
class SideLevels:
    """Load levels of a side by threads. `by_littles_law`: the tool printed no mean response time, so it is threads over
    throughput (Little 1961), correct if no thread waits between its requests."""

    side: str
    levels: tuple[LoadLevelData, ...]
    by_littles_law: bool = False


@dataclass(frozen=True)
class Saturation:
    """Ratio of mean response time at a level to that at `base_threads`."""

    level: Hidden[int]
    threads: int
    base_threads: int
    ratio: Annotated[Ratio, "mean response time over that at `base_threads`"]


@dataclass(frozen=True)
class Collapse:
    """Ratio of throughput at `threads` to the `best` level: the deepest significant fall above it."""

    best_threads: int
    threads: int
    ratio: Annotated[Estimate, "throughput over that of the best level"]
    p: Annotated[float, "before it is multiplied by the number of pairs of levels"]


class ObjectiveState(StrEnum):
    """Whether a level meets an objective."""

    WITHIN = "within"
    BEYOND = "beyond"
    INCONCLUSIVE = "inconclusive"
    TOO_FEW = "too few repetitions"
    UNKNOWN = "not observed"


@dataclass(frozen=True)
class Rested:
    """Whether one level meets the objective. `interval`: None: too few runs, or no spread."""

    level: Hidden[int]
    threads: int
    held: ObjectiveState
    value: float | None
    interval: Annotated[Estimate | None, "geometric mean of the runs' percentiles, or of the sessions' means, ms"]
    replicates: Annotated[Replicates, "what the interval takes as one independent repetition"] = Replicates.RUNS

    @property
    def is_within_one(self) -> bool:
        """Whether the answer holds for one session alone."""
        return self.replicates in WITHIN_ONE and self.held in (ObjectiveState.WITHIN, ObjectiveState.BEYOND)


@dataclass(frozen=True)
class Reach:
    """Load levels at which a side keeps a percentile within `limit`."""

    percent: float
    limit: Annotated[float, "ms"]
    levels: tuple[Rested, ...]
    last_within: Annotated[int | None, "threads of the last level up to which all are significantly within the limit"]
    first_beyond: Annotated[int | None, "threads of the first level significantly beyond it"]


@dataclass(frozen=True)
class LoadLevelAnalysis:
    """Analysis of a side's load levels. `best_threads`: level of highest measured throughput. `collapse`: None: none is
    significant."""

    side: str
    fit: Hidden[Fit | NoFit]
    best_threads: int | None
    collapse: Annotated[Collapse | None, "null: none is certain"]
    saturation: tuple[Saturation, ...]
    by_littles_law: Annotated[bool, "mean response times are threads over throughput"]
    reach: Annotated[Reach | None, "null: no objective was given"]

    @property
    def scalability(
        self,
    ) -> Annotated[Shown[Fit | None], Name("fit"), "Universal Scalability Law; null: see `refused`"]:
        return self.fit if isinstance(self.fit, Fit) else None

    @property
    def refused(self) -> Annotated[Shown[str], "why there is no fit"]:
        return self.fit.reason if isinstance(self.fit, NoFit) else ""


def load_level_analysis(ramp: SideLevels, *, percent: float, limit: float | None) -> LoadLevelAnalysis:
    """`limit`: objective at this percentile, ms; None: no objective."""
    loads = [load for load in ramp.levels if load.throughput]
    best = max(loads, key=lambda load: _typical(load.throughput), default=None)
    return LoadLevelAnalysis(
        side=ramp.side,
        fit=usl.fit({load.threads: load.throughput for load in loads}),
        best_threads=best.threads if best else None,
        collapse=collapse(loads),
        saturation=saturation(ramp.levels),
        by_littles_law=ramp.by_littles_law,
        reach=None if limit is None else reach(ramp.levels, percent=percent, limit=limit),
    )


def saturation(loads: Sequence[LoadLevelData]) -> tuple[Saturation, ...]:
    """For each level above the lowest."""
    known = [load for load in loads if load.response]
    return tuple(
        Saturation(
            load.level, load.threads, known[0].threads, welch.compare(Sample(known[0].response), Sample(load.response))
        )
        for load in known[1:]
    )


def collapse(loads: Sequence[LoadLevelData]) -> Collapse | None:
    """The deepest significant fall below the best level: every pair of levels could have shown one, so p is multiplied
    by their number (Bonferroni). A level's variance is the greater of its own and that of all levels pooled: with three
    runs per level alone, a fall of 10 % at 2 % noise is found in 39 of 100 cases, with pooling in 96."""
    known = [load for load in loads if load.throughput]
    if len(known) < 2 or min(min(load.throughput) for load in known) <= 0:
        return None
    best = max(known, key=lambda load: _typical(load.throughput))
    pairs = len(known) * (len(known) - 1) / 2
    noise = _Noise.of(known)
    above = [load for load in known[known.index(best) + 1 :] if len(load.throughput) >= FEWEST_RUNS]
    if noise is None or len(best.throughput) < FEWEST_RUNS:
        return None
    falls = [Collapse(best.threads, load.threads, *noise.fall(best, load)) for load in above]
    found = [each for each in falls if each.p * pairs <= FALSE_COLLAPSES]
    return min(found, key=lambda each: each.ratio.value, default=None)


@dataclass(frozen=True)
class _Noise:
    """Pooled variance of the logarithms within levels, and its degrees of freedom."""

    variance: float
    freedom: int

    @classmethod
    def of(cls, loads: Sequence[LoadLevelData]) -> "_Noise | None":
        """None: the runs of each level are equal."""
        logs = [np.log(load.throughput) for load in loads]
        freedom = sum(len(each) - 1 for each in logs)
        squares = float(sum(((each - each.mean()) ** 2).sum() for each in logs))
        return cls(squares / freedom, freedom) if squares > 0 else None

    def fall(self, best: LoadLevelData, load: LoadLevelData) -> tuple[Estimate, float]:
        """Ratio of throughput to the best level with its interval, and p."""
        means, square = [], 0.0
        for each in (load, best):
            logs = np.log(each.throughput)
            means.append(float(logs.mean()))
            square += max(float(logs.var(ddof=1)), self.variance) / len(logs)
        difference, error = means[0] - means[1], math.sqrt(square)
        half = float(special.stdtrit(self.freedom, (1 + CONFIDENCE) / 2)) * error
        p = float(2 * special.stdtr(self.freedom, -abs(difference) / error))
        return Estimate(math.exp(difference), math.exp(difference - half), math.exp(difference + half)), p


def reach(loads: Sequence[LoadLevelData], *, percent: float, limit: float) -> Reach:
    """Levels are tested in ascending order and the search ends at the first that is not certainly within, so that many
    levels do not raise the chance of a false claim (fixed sequence)."""
    levels = tuple(_rested(load, percent, limit) for load in loads)
    within = None
    for each in levels:
        if each.held is not ObjectiveState.WITHIN:
            break
        within = each.threads
    beyond = next((each.threads for each in levels if each.held is ObjectiveState.BEYOND), None)
    return Reach(percent, limit, levels, within, beyond)


def _rested(load: LoadLevelData, percent: float, limit: float) -> Rested:
    quantile = load.quantile(percent)
    if quantile is None or not quantile.runs:
        return Rested(load.level, load.threads, ObjectiveState.UNKNOWN, None, None)
    kind, values = _replicates(quantile.runs, quantile.sessions)
    value = quantile.value if quantile.value is not None else _typical(values)
    fewest = FEWEST_SESSIONS if kind is Replicates.SESSIONS else FEWEST_RUNS
    interval = typical_run(values, step=quantile.step, fewest=fewest)
    if interval is None:
        held = ObjectiveState.TOO_FEW
    elif max(interval.high, quantile.high or 0) <= limit:
        held = ObjectiveState.WITHIN
    else:
        held = ObjectiveState.BEYOND if min(interval.low, value) > limit else ObjectiveState.INCONCLUSIVE
    return Rested(load.level, load.threads, held, value, interval, kind)


def _replicates(runs: Sequence[float], sessions: Sequence[int]) -> tuple[Replicates, tuple[float, ...]]:
    """What the interval takes as independent, with its values: means of sessions, if how they differ is known."""
    if not sessions or min(runs) <= 0:
        return Replicates.RUNS, tuple(runs)
    if len(set(sessions)) < FEWEST_SESSIONS or len(runs) < FEWEST_RUNS:
        return Replicates.ONE_SESSION, tuple(runs)
    return Replicates.SESSIONS, session_means(runs, sessions)


def typical_run(values: Sequence[float], *, step: float = 0.0, fewest: int = FEWEST_RUNS) -> Estimate | None:
    """Geometric mean of runs, or of sessions' means, with its 95 % interval (Student's, on logarithms); None: no
    estimate from these, or fewer than `fewest`. `step`: as Sample.resolution."""
    if min(values, default=0) <= 0:
        return None
    noise = welch.noise(Sample(tuple(values), (), step), fewest=fewest)
    if noise is None or noise.variance == 0:
        return None
    middle = float(np.log(values).mean())
    critical = float(special.stdtrit(noise.freedom, (1 + CONFIDENCE) / 2))
    half = critical * math.sqrt(noise.variance / len(values)) + noise.systematic
    return Estimate(math.exp(middle), math.exp(middle - half), math.exp(middle + half))


def _typical(values: Sequence[float]) -> float:
    return geometric_mean(values) if min(values) > 0 else float(np.median(values))
