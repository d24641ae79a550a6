"""Power of a comparison, and the replicates that it needs. Pure.

Simulation results for each choice are in docs/why/statistics.md.
"""

import math
from dataclasses import dataclass

from scipy import special

CONFIDENCE = 0.95
POWER = 0.8
# Ratios between 1/(1 + MARGIN) and 1 + MARGIN make no practical difference.
MARGIN = 0.02
# Runs per side needed without history: the spread of two is meaningless.
FEWEST_RUNS = 3
# Limit of the search for the number of repetitions.
MOST_REPETITIONS = 1000
# "Equivalent" needs enough runs to find a difference of the margin even at this upper bound of their noise.
NOISE_CONFIDENCE = 0.9


@dataclass(frozen=True)
class RunNoise:
    """Variance of a replicate's logarithm, its degrees of freedom, and the number of earlier ones used. `systematic`:
    upper bound of the error of any mean of runs, since all are rounded alike to a grid. `prior`: degrees of freedom
    that come from like cells. `borrowed`: the variance is the other side's."""

    variance: float
    freedom: float
    history: int
    systematic: float = 0.0
    prior: float = 0.0
    borrowed: bool = False


@dataclass(frozen=True)
class NoiseBasis:
    """Input for the repetitions needed: noise and number of replicates of the baseline and of the side, and the
    difference of their mean logarithms. Of matched pairs the first noise is that of their differences, and the second
    is none. `coarse`: of the baseline and of the side, as in Sample."""

    noises: tuple[RunNoise, RunNoise]
    counts: tuple[int, int]
    difference: float
    coarse: tuple[bool, bool] = (False, False)


def within_margin(low: float, high: float, margin: float = MARGIN) -> bool:
    """Whether an interval of a ratio lies wholly where it makes no practical difference."""
    return low >= 1 / (1 + margin) and high <= 1 + margin


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
    limit, shift = critical(freedom, level), effect / error
    # This far out the chance is 1 to all digits, and nctdtr's series breaks down into nan.
    if shift > 8 * limit:
        return 1.0
    lower_tail = special.nctdtr(freedom, shift, -limit) if shift < limit else 0.0
    return float(1 - special.nctdtr(freedom, shift, limit) + lower_tail)


def repetitions_needed(seen: NoiseBasis, *, level: float) -> int:
    """Smallest number of replicates per side, above the present one, that is likely (80 %) to give an answer: to find
    the difference seen, with p (the cautious one) at most `level`. A difference below the margin may be none: then to
    find the margin if the sides differ by it, and equivalence if they do not differ."""
    margin, difference = math.log1p(MARGIN), abs(seen.difference)
    effect = max(difference, margin) - sum(each.systematic for each in seen.noises)

    def suffices(count: int) -> bool:
        squares = _likely_variance(seen.noises[0], count) / count, _likely_variance(seen.noises[1], count) / count
        freedoms = _freedom_at(seen.noises[0], count), _freedom_at(seen.noises[1], count)
        error, freedom = math.sqrt(sum(squares)), _likely_freedom(squares, freedoms)
        priors = seen.noises[0].prior, seen.noises[1].prior
        if power(effect=effect, error=error, freedom=cautious(freedom, freedoms, priors), level=level) < POWER:
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
    return would_detect(seeming, freedom, margin) and reach + critical(freedom) * seeming <= margin


def would_detect(error: float, freedom: float, effect: float) -> bool:
    """Whether these runs would have found `effect` even at the upper bound of their noise (chi-squared)."""
    worst = error * math.sqrt(freedom / float(special.chdtri(freedom, NOISE_CONFIDENCE)))
    return effect > 0 and power(effect=effect, error=worst, freedom=freedom) >= POWER


def sessions_needed(*, effect: float, between: float) -> int:
    """Sessions per side that find `effect` with 80 % power, if the logarithms of their means differ by the standard
    deviation `between`."""
    for count in range(2, MOST_REPETITIONS):
        if power(effect=effect, error=between * math.sqrt(2 / count), freedom=2.0 * (count - 1)) >= POWER:
            return count
    return MOST_REPETITIONS + 1


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


def critical(freedom: float, level: float = 1 - CONFIDENCE) -> float:
    return float(special.stdtrit(freedom, 1 - level / 2))


def cautious(freedom: float, freedoms: tuple[float, float], priors: tuple[float, float] = (0.0, 0.0)) -> float:
    """Welch's far tails are too thin if the noisier side has few runs: geometric mean with the least. What comes from
    like cells counts three quarters: their variances are not exactly draws from one distribution."""
    least = min(own - prior / 4 for own, prior in zip(freedoms, priors, strict=True))
    return math.sqrt(freedom * min(least, freedom))


def _freedom_at(known: RunNoise, count: int) -> float:
    """Degrees of freedom with `count` replicates."""
    return known.freedom if math.isinf(known.freedom) else count - 1 + max(known.history - 1, 0) + known.prior
