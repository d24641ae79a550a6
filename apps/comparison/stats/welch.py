"""Comparison of two sides by their runs: ratio, interval, verdict. Pure: numbers in, numbers out.

Welch's interval on logarithms, each side's variance shrunk towards that of earlier runs of the same configuration
(Smyth 2004). A run is one replicate, regardless of its length: its seconds are not independent of each other.
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

from apps.core.answers import Unbounded
from apps.core.units import NBSP

CONFIDENCE = 0.95
POWER = 0.8
# Ratios between 1/(1 + MARGIN) and 1 + MARGIN make no practical difference.
MARGIN = 0.02
# Runs per side needed without history: the spread of two is meaningless.
FEWEST_RUNS = 3
# Maximum and minimum of earlier runs used.
HISTORY_RUNS = 10
FEWEST_HISTORY_RUNS = 3
# Limit of the search for the number of repetitions.
MOST_REPETITIONS = 1000
# Accepted share of false discoveries among all differences of a table.
DISCOVERY_RATE = 0.05
# "Equivalent" needs enough runs to find a difference of the margin even at this upper bound of their noise.
NOISE_CONFIDENCE = 0.9


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


@dataclass(frozen=True)
class Sample:
    """One side: a value per run, and the values of earlier runs of the same configuration, the newest first.

    `resolution`: relative step between neighbouring values read from a grid, such as percentiles of a histogram; 0: no
    grid.
    """

    values: tuple[float, ...]
    history: tuple[float, ...] = ()
    resolution: float = 0.0


@dataclass(frozen=True)
class RunNoise:
    """Variance of a run's logarithm, its degrees of freedom, and the number of earlier runs used. `systematic`: upper
    bound of the error of any mean of runs, since all are rounded alike to a grid."""

    variance: float
    freedom: float
    history: int
    systematic: float = 0.0


@dataclass(frozen=True)
class NoiseBasis:
    """Input for the repetitions needed: noise and number of runs of the baseline and of the side, and the difference of
    their mean logarithms."""

    noises: tuple[RunNoise, RunNoise]
    counts: tuple[int, int]
    difference: float


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
    needed: Annotated[int | None, "runs per side for a conclusive result at 80 % power; 1001: more than 1,000"] = None
    few_runs: Annotated[bool, "the spread of a side is estimated from fewer than ten runs, none of them earlier"] = (
        False
    )
    reason: str = ""
    systematic: Annotated[float, "part of the interval's half width, of logarithms, that more runs do not reduce"] = 0.0


@dataclass(frozen=True)
class DraftRatio:
    """A ratio until it is corrected for the number of comparisons in its table. `basis`: None without an interval."""

    alone: Ratio
    basis: NoiseBasis | None = None


@dataclass(frozen=True)
class SideSummary:
    """Summary of a side's runs. `value` is the geometric mean, because ratios are computed on logarithms: the quotient
    of two sides' values is the ratio shown. Median if a value is not positive, or each run holds one event.
    `variation`: run-to-run coefficient of variation; None with one run or a mean of zero."""

    count: int
    value: float
    kind: Annotated[str, "geometric mean; median of single events, or if a run is not positive"]
    minimum: float
    maximum: float
    variation: Annotated[float | None, "run-to-run coefficient of variation"]


def summarise(values: Sequence[float], *, single_events: bool = False) -> SideSummary:
    """Raises ValueError for no values."""
    if not values:
        raise ValueError("no values to summarise: give at least one run")
    array = np.asarray(values, dtype=np.float64)
    is_mean = bool((array > 0).all()) and not single_events
    mean = float(array.mean())
    return SideSummary(
        count=len(values),
        value=geometric_mean(values) if is_mean else float(np.median(array)),
        kind="geometric mean" if is_mean else "median",
        minimum=float(array.min()),
        maximum=float(array.max()),
        variation=float(array.std(ddof=1)) / mean if len(values) > 1 and mean > 0 else None,
    )


def geometric_mean(values: Sequence[float]) -> float:
    """Of positive values. Clipped to their range against rounding."""
    if min(values) == max(values):
        return float(values[0])
    return min(max(math.exp(float(_logs(values).mean())), min(values)), max(values))


def compare(baseline: Sample, side: Sample) -> Ratio:
    """The ratio of `side` to `baseline`, not corrected for other comparisons."""
    return draft(baseline, side).alone


def draft(baseline: Sample, side: Sample) -> DraftRatio:
    """The ratio of `side` to `baseline`, for multiple_testing.correct_for_many."""
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
    difference = float(_logs(side.values).mean() - _logs(baseline.values).mean())
    found = Ratio(Verdict.TOO_FEW, value=_exp(difference), delta=delta)
    noises = noise(baseline), noise(side)
    if noises[0] is None or noises[1] is None:
        reason = f"an interval needs {FEWEST_RUNS} runs per side, or earlier runs of the same configuration"
        return DraftRatio(replace(found, needed=FEWEST_RUNS, few_runs=True, reason=reason))
    basis = NoiseBasis((noises[0], noises[1]), (len(baseline.values), len(side.values)), difference)
    return DraftRatio(_judge(found, basis), basis)


def is_few(runs: int, history: int) -> bool:
    """Whether the spread of a side rests on fewer runs than a full history has."""
    return not history and runs < HISTORY_RUNS


def noise(sample: Sample) -> RunNoise | None:
    """None: too few runs for an estimate, and no history."""
    count = len(sample.values)
    own = _variance(sample.values)
    earlier = [value for value in sample.history[:HISTORY_RUNS] if value > 0 and math.isfinite(value)]
    if len(earlier) < FEWEST_HISTORY_RUNS:
        return _on_grid(RunNoise(own, count - 1, 0), sample.resolution) if count >= FEWEST_RUNS else None
    known = len(earlier) - 1
    pooled = (known * _variance(earlier) + (count - 1) * own) / (known + count - 1)
    return _on_grid(RunNoise(max(own, pooled), known + count - 1, len(earlier)), sample.resolution)


def _on_grid(found: RunNoise, resolution: float) -> RunNoise:
    """Rounding adds its own variance (Sheppard: step² / 12). If runs vary by less than a step, all are rounded alike
    and their mean is off by up to half a step; noise of a whole step averages that out."""
    step = math.log1p(resolution)
    if step == 0:
        return found
    shared = max(0.0, 1 - math.sqrt(found.variance) / step)
    return replace(found, variance=max(found.variance, step**2 / 12), systematic=shared * step / 2)


def _judge(found: Ratio, basis: NoiseBasis) -> Ratio:
    noises, counts, difference = basis.noises, basis.counts, basis.difference
    found = replace(
        found, few_runs=any(is_few(count, each.history) for count, each in zip(counts, noises, strict=True))
    )
    squares = noises[0].variance / counts[0], noises[1].variance / counts[1]
    error = math.sqrt(sum(squares))
    if error == 0:
        reason = "the runs of each side are identical, so their noise is unknown"
        return replace(found, reason=reason, needed=max(counts) + 1)
    freedoms = noises[0].freedom, noises[1].freedom
    freedom, systematic = satterthwaite(squares, freedoms), noises[0].systematic + noises[1].systematic
    half = _critical(freedom) * error + systematic
    low, high = _exp(difference - half), _exp(difference + half)
    verdict, reason = _verdict(low, high), ""
    if verdict is Verdict.EQUIVALENT and not _would_detect(error, freedom, math.log1p(MARGIN) - systematic):
        reason = (
            f"the interval lies within ±{MARGIN * 100:.0f}{NBSP}%, but this few runs can miss a difference of "
            f"{MARGIN * 100:.0f}{NBSP}%"
        )
        verdict = Verdict.INCONCLUSIVE
    away = -max(0.0, abs(difference) - systematic) / error
    judged = replace(
        found,
        verdict=verdict,
        low=low,
        high=high,
        p=float(2 * special.stdtr(freedom, away)),
        cautious_p=float(2 * special.stdtr(_cautious(freedom, freedoms), away)),
        reason=reason,
        systematic=systematic,
    )
    return with_needed(judged, basis, level=1 - CONFIDENCE)


def _would_detect(error: float, freedom: float, effect: float) -> bool:
    """Whether these runs would have found `effect` even at the upper bound of their noise (chi-squared)."""
    worst = error * math.sqrt(freedom / float(special.chdtri(freedom, NOISE_CONFIDENCE)))
    return effect > 0 and power(effect=effect, error=worst, freedom=freedom) >= POWER


def with_needed(ratio: Ratio, basis: NoiseBasis | None, *, level: float) -> Ratio:
    """If inconclusive, with the runs needed for a likely result with p at most `level`."""
    if ratio.verdict is not Verdict.INCONCLUSIVE or basis is None:
        return ratio
    needed, reason = repetitions_needed(basis, level=level), ratio.reason
    if needed > MOST_REPETITIONS and ratio.systematic:
        reason = "the values are read from a grid too coarse for this difference: more runs do not help"
    return replace(ratio, needed=needed, reason=reason)


def _verdict(low: float, high: float) -> Verdict:
    if low > 1:
        return Verdict.HIGHER
    if high < 1:
        return Verdict.LOWER
    if low >= 1 / (1 + MARGIN) and high <= 1 + MARGIN:
        return Verdict.EQUIVALENT
    return Verdict.INCONCLUSIVE


def words(verdict: Verdict, direction: Direction) -> str:
    """The verdict as shown: higher throughput is better, higher latency is worse."""
    if verdict not in (Verdict.HIGHER, Verdict.LOWER) or direction is Direction.NEUTRAL:
        return verdict.value
    return "better" if verdict.value == direction.value else "worse"


def satterthwaite(squares: tuple[float, float], freedoms: tuple[float, float]) -> float:
    """Degrees of freedom of a difference whose squared standard error is the sum of `squares` (not both zero)."""
    share = squares[0] / (squares[0] + squares[1])
    return 1 / (share**2 / freedoms[0] + (1 - share) ** 2 / freedoms[1])


def _likely_variance(known: RunNoise, count: int) -> float:
    """Expected variance estimate of `count` runs: with history the larger of their own and the pooled, so above the
    true one on average (by the mean of the positive part of their difference, taken as normal)."""
    if not known.history:
        return known.variance
    earlier, own = known.history - 1, count - 1
    above = math.sqrt((2 / earlier + 2 / own) / (2 * math.pi)) * earlier / (earlier + own)
    return known.variance * (1 + above)


def _likely_freedom(squares: tuple[float, float], freedoms: tuple[float, float]) -> float:
    """Expected result of Satterthwaite's formula for future runs: few runs seldom have equal spread on both sides, even
    if the sides do, so it is below that of the true `squares`."""
    own = [square**2 * (1 + 2 / freedom) for square, freedom in zip(squares, freedoms, strict=True)]
    return (sum(own) + 2 * squares[0] * squares[1]) / (own[0] / freedoms[0] + own[1] / freedoms[1])


def power(*, effect: float, error: float, freedom: float, level: float = 1 - CONFIDENCE) -> float:
    """Chance that p of a true difference `effect` (of logarithms) is at most `level`."""
    critical, shift = _critical(freedom, level), effect / error
    # This far out the chance is 1 to all digits, and nctdtr's series breaks down into nan.
    if shift > 8 * critical:
        return 1.0
    lower_tail = special.nctdtr(freedom, shift, -critical) if shift < critical else 0.0
    return float(1 - special.nctdtr(freedom, shift, critical) + lower_tail)


def repetitions_needed(seen: NoiseBasis, *, level: float) -> int:
    """Smallest number of runs per side, above the present one, that is likely (80 %) to give an answer: to find the
    difference seen, with p (the cautious one) at most `level`. A difference below the margin may be none: then to find
    the margin if the sides differ by it, and equivalence if they do not differ."""
    margin, difference = math.log1p(MARGIN), abs(seen.difference)
    effect = max(difference, margin) - sum(each.systematic for each in seen.noises)

    def suffices(count: int) -> bool:
        squares = _likely_variance(seen.noises[0], count) / count, _likely_variance(seen.noises[1], count) / count
        freedoms = _freedom_at(seen.noises[0], count), _freedom_at(seen.noises[1], count)
        error, freedom = math.sqrt(sum(squares)), _likely_freedom(squares, freedoms)
        if power(effect=effect, error=error, freedom=_cautious(freedom, freedoms), level=level) < POWER:
            return False
        return difference >= margin or _shows_equivalence(error, freedom, effect)

    if effect <= 0:
        return MOST_REPETITIONS + 1
    low = max(*seen.counts, FEWEST_RUNS - 1)
    high = low + 1
    while not suffices(high):
        if high > MOST_REPETITIONS:
            return MOST_REPETITIONS + 1
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return min(high, MOST_REPETITIONS + 1)


def _shows_equivalence(error: float, freedom: float, margin: float) -> bool:
    """Whether equal sides are likely found equivalent: the observed noise must be low enough, and the means close
    enough; each with probability √.8, so both with .8."""
    chance = math.sqrt(POWER)
    seeming = error * math.sqrt(float(special.chdtri(freedom, 1 - chance)) / freedom)
    reach = float(special.ndtri((1 + chance) / 2)) * error
    return _would_detect(seeming, freedom, margin) and reach + _critical(freedom) * seeming <= margin


def smallest_effect(*, variation: float, count: int) -> float:
    """Smallest relative difference found with 80 % power by `count` runs per side, both with this run-to-run
    coefficient of variation and no history."""
    variance = math.log1p(variation**2)
    error, freedom = math.sqrt(2 * variance / count), 2.0 * (count - 1)
    low, high = 0.0, 100 * error
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if power(effect=middle, error=error, freedom=freedom) >= POWER else (middle, high)
    return math.expm1(high)


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


def _critical(freedom: float, level: float = 1 - CONFIDENCE) -> float:
    return float(special.stdtrit(freedom, 1 - level / 2))


def _cautious(freedom: float, freedoms: tuple[float, float]) -> float:
    """Welch's far tails are too thin if the noisier side has few runs: geometric mean with the least."""
    return math.sqrt(freedom * min(freedoms))


def _freedom_at(known: RunNoise, count: int) -> float:
    """Degrees of freedom with `count` runs."""
    return count - 1 + max(known.history - 1, 0)
