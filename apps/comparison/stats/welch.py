"""Comparison of two sides by their replicates: ratio, interval, verdict. Pure: numbers in, numbers out.

Welch's interval on logarithms, each side's variance shrunk towards that of earlier replicates of the same configuration
(Smyth 2004); Student's on the differences of matched pairs. A replicate is a session or a run (see replicates),
regardless of its length: a run's seconds are not independent of each other.
Simulation results for each choice are in docs/why/statistics.md.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from scipy import special

from apps.comparison.stats.power import (
    CONFIDENCE,
    FEWEST_RUNS,
    MARGIN,
    MOST_REPETITIONS,
    NoiseBasis,
    RunNoise,
    cautious,
    critical,
    repetitions_needed,
    satterthwaite,
    within_margin,
    would_detect,
)
from apps.comparison.stats.replicates import (
    FEWEST_HISTORY,
    FEWEST_SESSIONS,
    PAIRED,
    Replicated,
    Replicates,
    Sample,
    geometric_mean,
    replicates,
    session_means,
)
from apps.core.answers import Hidden, Name, Shown, Unbounded
from apps.core.units import NBSP

# Maximum of earlier runs, or sessions, used.
HISTORY_RUNS = 10
# Accepted share of false discoveries among all differences of a table.
DISCOVERY_RATE = 0.05


class Direction(StrEnum):
    HIGHER = "higher"
    LOWER = "lower"
    NEUTRAL = "neutral"


class Verdict(StrEnum):
    """Result of a side compared with the baseline."""

    HIGHER = "higher"
    LOWER = "lower"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"
    TOO_FEW = "too few repetitions"
    NO_RATIO = "no ratio"
    # Of throughput at a fixed rate.
    RATE_HELD = "rate held"
    RATE_NOT_HELD = "rate not held"
    # For a reason of the metric itself.
    NOT_JUDGED = "not judged"


# They compare nothing.
UNJUDGED = (Verdict.RATE_HELD, Verdict.RATE_NOT_HELD, Verdict.NOT_JUDGED)


@dataclass(frozen=True)
class Ratio:
    """A side over the baseline. `low` and `high` are None without an interval, for `reason`.

    `needed`: MOST_REPETITIONS + 1: more than the search covers. `delta`: share of pairs in which this side is higher
    minus share in which it is lower.
    """

    verdict: Annotated[Verdict, "by value; `words` of the cell takes the metric's direction into account"]
    value: Unbounded | None = None
    low: Annotated[Unbounded | None, "lower end of the 95 % interval; null: there is none"] = None
    high: Unbounded | None = None
    p: float | None = None
    cautious_p: Annotated[float | None, "p with fewer degrees of freedom, used for the table's correction"] = None
    adjusted_p: Annotated[float | None, "Benjamini-Hochberg over the table, of cautious_p"] = None
    delta: Annotated[float | None, "Cliff's delta, -1 to 1"] = None
    needed: Annotated[
        int | None, "runs (sessions, if they are the replicates) per side for a conclusive result at 80 % power; "
        "1001: more than 1,000",
    ] = None  # fmt: skip
    few_runs: Annotated[bool, "the spread of a side is estimated from fewer than ten replicates, none earlier"] = False
    reason: str = ""
    systematic: Annotated[float, "part of the interval's half width, of logarithms, that more runs do not reduce"] = 0.0
    replicates: Annotated[Replicates, "what the interval takes as one independent repetition"] = Replicates.RUNS
    counts: Annotated[tuple[int, int] | None, "replicates of the baseline and of this side"] = None
    freedom: Annotated[float | None, "degrees of freedom of the interval (Satterthwaite)"] = None
    upper_share: Annotated[float | None, "of errors: upper bound of the side's share of its transactions"] = None
    # Of errors: the interval of (errors + 1/2) per transaction, also where a run has none.
    smoothed: Hidden[tuple[float, float] | None] = None

    @property
    def is_small(self) -> Annotated[Shown[bool], Name("within_margin"), "the whole interval lies within ±2 %"]:
        return self.low is not None and self.high is not None and within_margin(self.low, self.high)


@dataclass(frozen=True)
class DraftRatio:
    """A ratio until it is corrected for the number of comparisons in its table. `basis`: None without an interval."""

    alone: Ratio
    basis: NoiseBasis | None = None


@dataclass(frozen=True)
class SideSummary:
    """Summary of a side's runs. `value` is the geometric mean, because ratios are computed on logarithms: the quotient
    of two sides' values is the ratio shown. Median if a value is not positive: there is no ratio.
    `variation`: run-to-run coefficient of variation; None with one run or a mean of zero."""

    count: int
    value: float
    kind: Annotated[str, "geometric mean; median if a run is not positive"]
    minimum: float
    maximum: float
    variation: Annotated[float | None, "run-to-run coefficient of variation"]


def summarise(values: Sequence[float], *, sessions: Sequence[int] = ()) -> SideSummary:
    """`sessions`: as in Sample; their means count alike, however many runs each has. Raises ValueError for no
    values."""
    if not values:
        raise ValueError("no values to summarise: give at least one run")
    array = np.asarray(values, dtype=np.float64)
    is_mean = bool((array > 0).all())
    mean = float(array.mean())
    return SideSummary(
        count=len(values),
        value=geometric_mean(session_means(values, sessions) if sessions else values)
        if is_mean
        else float(np.median(array)),
        kind="geometric mean" if is_mean else "median",
        minimum=float(array.min()),
        maximum=float(array.max()),
        variation=float(array.std(ddof=1)) / mean if len(values) > 1 and mean > 0 else None,
    )


def compare(baseline: Sample, side: Sample) -> Ratio:
    """The ratio of `side` to `baseline`, not corrected for other comparisons."""
    return draft(baseline, side).alone


def draft(baseline: Sample, side: Sample) -> DraftRatio:
    """The ratio of `side` to `baseline`, for moderation.moderated and multiple_testing.correct_for_many."""
    for name, sample in (("the baseline", baseline), ("this side", side)):
        if not sample.values:
            return DraftRatio(Ratio(Verdict.NO_RATIO, reason=f"{name} has no such value"))
        if not all(math.isfinite(value) for value in sample.values):
            return DraftRatio(Ratio(Verdict.NO_RATIO, reason=f"a run of {name} has no finite value"))
    delta = cliffs_delta(baseline.values, side.values)
    for name, sample in (("the baseline", baseline), ("this side", side)):
        if min(sample.values) <= 0:
            what = "zero" if min(sample.values) == 0 else "negative"
            reason = f"a run of {name} is {what}: no ratio exists"
            return DraftRatio(Ratio(Verdict.NO_RATIO, delta=delta, reason=reason))
    pair = replicates(baseline, side)
    difference = float(_logs(pair.side.values).mean() - _logs(pair.baseline.values).mean())
    counts = len(pair.baseline.values), len(pair.side.values)
    found = Ratio(Verdict.TOO_FEW, value=_exp(difference), delta=delta, replicates=pair.kind, counts=counts)
    noises = noises_of(pair)
    if noises is None:
        reason = f"an interval needs {FEWEST_RUNS} runs per side, or earlier runs of the same configuration"
        return DraftRatio(replace(found, needed=FEWEST_RUNS, few_runs=True, reason=reason))
    basis = NoiseBasis(noises, counts, difference, (pair.baseline.is_coarse, pair.side.is_coarse))
    return DraftRatio(_judge(found, basis), basis)


def judged_anew(found: DraftRatio, noises: tuple[RunNoise, RunNoise]) -> DraftRatio:
    """With other noises. Raises ValueError for a ratio that has none."""
    if found.basis is None:
        raise ValueError("a ratio without an interval has no noise")
    basis = replace(found.basis, noises=noises)
    seen = found.alone
    blank = Ratio(Verdict.TOO_FEW, seen.value, delta=seen.delta, replicates=seen.replicates, counts=seen.counts)
    return DraftRatio(_judge(blank, basis), basis)


def noises_of(pair: Replicated) -> tuple[RunNoise, RunNoise] | None:
    """Of the baseline and of the side; of matched pairs, of their differences and none. None: too few replicates."""
    if pair.kind in PAIRED:
        return _of_differences(pair), RunNoise(0.0, math.inf, 0)
    fewest = FEWEST_SESSIONS if pair.kind is Replicates.SESSIONS else FEWEST_RUNS
    both = pair.baseline, pair.side
    if any(runs < FEWEST_RUNS and len(own.history) < FEWEST_HISTORY for runs, own in zip(pair.runs, both, strict=True)):
        return None
    baseline, side = (noise(sample, fewest=fewest) for sample in both)
    if pair.kind is Replicates.SESSIONS and (baseline is None) != (side is None):
        # How sessions differ is known of one side only: taken as equal.
        known = baseline or side
        counts = len(pair.baseline.values), len(pair.side.values)
        return _shared(known, counts, first=baseline is not None) if known else None
    return None if baseline is None or side is None else (baseline, side)


def _of_differences(pair: Replicated) -> RunNoise:
    """Each side is rounded to its grid: half of the variance, and half of the rounding, is each side's."""
    differences = _logs(pair.side.values) - _logs(pair.baseline.values)
    variance = 0.0 if np.ptp(differences) == 0 else float(differences.var(ddof=1))
    resolution = max(pair.baseline.resolution, pair.side.resolution)
    half = _on_grid(RunNoise(variance / 2, len(differences) - 1, 0), resolution)
    return replace(half, variance=2 * half.variance, systematic=2 * half.systematic)


def _shared(known: RunNoise, counts: tuple[int, int], *, first: bool) -> tuple[RunNoise, RunNoise]:
    """One variance for both sides: with these degrees of freedom Satterthwaite's formula returns its own."""
    share = counts[1] / (counts[0] + counts[1])
    own = replace(known, freedom=known.freedom * (share**2 + (1 - share) ** 2))
    lent = replace(own, borrowed=True)
    return (own, lent) if first else (lent, own)


def is_few(runs: int, history: int) -> bool:
    """Whether the spread of a side rests on fewer runs than a full history has."""
    return not history and runs < HISTORY_RUNS


def noise(sample: Sample, *, fewest: int = FEWEST_RUNS) -> RunNoise | None:
    """Of positive values. None: fewer than `fewest` replicates, and no history."""
    if not has_noise(sample, fewest=fewest):
        return None
    count = len(sample.values)
    own = _variance(sample.values)
    earlier = _earlier(sample)
    if len(earlier) < FEWEST_HISTORY:
        return _on_grid(RunNoise(own, count - 1, 0), sample.resolution)
    known = len(earlier) - 1
    pooled = (known * _variance(earlier) + (count - 1) * own) / (known + count - 1)
    return _on_grid(RunNoise(max(own, pooled), known + count - 1, len(earlier)), sample.resolution)


def has_noise(sample: Sample, *, fewest: int = FEWEST_RUNS) -> bool:
    """Whether `noise` is known; zeros, which have no logarithm, are welcome."""
    return len(sample.values) >= fewest or len(_earlier(sample)) >= FEWEST_HISTORY


def _earlier(sample: Sample) -> list[float]:
    return [value for value in sample.history[:HISTORY_RUNS] if value > 0 and math.isfinite(value)]


def _on_grid(found: RunNoise, resolution: float) -> RunNoise:
    """Rounding adds its own variance (Sheppard: step² / 12). If runs vary by less than a step, all are rounded alike
    and their mean is off by up to half a step; noise of a whole step averages that out."""
    step = math.log1p(resolution)
    if step == 0:
        return found
    shared = max(0.0, 1 - math.sqrt(found.variance) / step)
    return replace(found, variance=max(found.variance, step**2 / 12), systematic=shared * step / 2)


@dataclass(frozen=True)
class Tested:
    """Of a difference of mean logarithms: its standard error, and what follows from it."""

    error: float
    freedom: float
    systematic: float
    low: float
    high: float
    p: float
    cautious_p: float


def tested(basis: NoiseBasis) -> Tested | None:
    """Welch's interval and test. None: there is no noise."""
    noises, counts, difference = basis.noises, basis.counts, basis.difference
    squares = noises[0].variance / counts[0], noises[1].variance / counts[1]
    error = math.sqrt(sum(squares))
    if error == 0:
        return None
    freedoms, priors = (noises[0].freedom, noises[1].freedom), (noises[0].prior, noises[1].prior)
    freedom, systematic = satterthwaite(squares, freedoms), noises[0].systematic + noises[1].systematic
    half = critical(freedom) * error + systematic
    away = -max(0.0, abs(difference) - systematic) / error
    return Tested(
        error=error,
        freedom=freedom,
        systematic=systematic,
        low=0.0 if basis.coarse[1] else _exp(difference - half),
        high=math.inf if basis.coarse[0] else _exp(difference + half),
        p=float(2 * special.stdtr(freedom, away)),
        cautious_p=float(2 * special.stdtr(cautious(freedom, freedoms, priors), away)),
    )


def _judge(found: Ratio, basis: NoiseBasis) -> Ratio:
    few = any(is_few(count, each.history) for count, each in zip(basis.counts, basis.noises, strict=True))
    found, test = replace(found, few_runs=few), tested(basis)
    if test is None:
        reason = "the runs of each side are identical: the difference is exact, and more runs show no noise"
        return replace(found, reason=reason)
    verdict, reason = _verdict(test.low, test.high), ""
    may_miss = not would_detect(test.error, test.freedom, math.log1p(MARGIN) - test.systematic)
    if verdict is Verdict.EQUIVALENT and may_miss:
        reason = (
            f"the interval lies within ±{MARGIN * 100:.0f}{NBSP}%, but this few runs can miss a difference of "
            f"{MARGIN * 100:.0f}{NBSP}%"
        )
        verdict = Verdict.INCONCLUSIVE
    judged = replace(
        found,
        verdict=verdict,
        low=test.low,
        high=test.high,
        p=test.p,
        cautious_p=test.cautious_p,
        freedom=test.freedom,
        reason=reason,
        systematic=test.systematic,
    )
    return with_needed(judged, basis, level=1 - CONFIDENCE)


def with_needed(ratio: Ratio, basis: NoiseBasis | None, *, level: float) -> Ratio:
    """If inconclusive, with the runs needed for a likely result with p at most `level`."""
    if ratio.verdict is not Verdict.INCONCLUSIVE or basis is None:
        return ratio
    needed, reason = repetitions_needed(basis, level=level), ratio.reason
    if any(basis.coarse):
        needed = MOST_REPETITIONS + 1
    if needed > MOST_REPETITIONS and (ratio.systematic or any(basis.coarse)):
        reason = "the values are read from a grid too coarse for this difference: more runs do not help"
    return replace(ratio, needed=needed, reason=reason)


def _verdict(low: float, high: float) -> Verdict:
    if low > 1:
        return Verdict.HIGHER
    if high < 1:
        return Verdict.LOWER
    if within_margin(low, high):
        return Verdict.EQUIVALENT
    return Verdict.INCONCLUSIVE


def words(verdict: Verdict, direction: Direction) -> str:
    """The verdict as shown: higher throughput is better, higher latency is worse."""
    if verdict not in (Verdict.HIGHER, Verdict.LOWER) or direction is Direction.NEUTRAL:
        return verdict.value
    return "better" if verdict.value == direction.value else "worse"


def cliffs_delta(baseline: Sequence[float], side: Sequence[float]) -> float:
    """From -1 (every run of `side` is lower) to 1 (every run is higher)."""
    ordered = np.sort(np.asarray(baseline))
    higher = np.searchsorted(ordered, side, side="left").sum()
    lower = len(ordered) * len(side) - np.searchsorted(ordered, side, side="right").sum()
    return float(higher - lower) / (len(ordered) * len(side))


def _logs(values: Sequence[float]) -> NDArray[np.float64]:
    return np.log(np.asarray(values, dtype=np.float64))


def _exp(logarithm: float) -> float:
    """Infinity where math.exp raises OverflowError."""
    return math.exp(logarithm) if logarithm < 709 else math.inf


def _variance(values: Sequence[float]) -> float:
    """Variance of the logarithms; 0 for one value. Equal values give exactly 0, without rounding errors."""
    return 0.0 if min(values) == max(values) else float(_logs(values).var(ddof=1))
