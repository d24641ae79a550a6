"""Errors of two sides, as a share of their transactions; a run may have none. Pure.

Compared on the empirical log rate, log((count + 1/2) / transactions) (Haldane 1956, Anscombe 1956), with Welch's
interval over replicates. Runs that happen to agree do not make rare events certain: the variance of a replicate is at
least that of counting (Poisson). Simulation results are in docs/why/statistics.md.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from scipy import special

from apps.comparison.stats import welch
from apps.comparison.stats.power import CONFIDENCE, FEWEST_RUNS, RunNoise, cautious, critical, satterthwaite
from apps.comparison.stats.replicates import PAIRED, Replicated, Replicates, Sample, replicates
from apps.comparison.stats.welch import DraftRatio, Ratio, Verdict

# Errors in fewer transactions than this share, on both sides, make no practical difference.
NEGLIGIBLE = 1e-4
# The variance of counting is not estimated from the runs: worth so many times their degrees of freedom, from three on.
KNOWN = 4
HALF = 0.5


@dataclass(frozen=True)
class Counted:
    """One side: events and transactions of each run; `sessions` and `blocks` as in Sample."""

    events: tuple[float, ...]
    transactions: tuple[float, ...]
    sessions: tuple[int, ...] = ()
    blocks: tuple[str, ...] = ()

    @property
    def total(self) -> float:
        return sum(self.events)

    @property
    def sample(self) -> Sample:
        values = ((count + HALF) / of for count, of in zip(self.events, self.transactions, strict=True))
        return Sample(tuple(values), sessions=self.sessions, blocks=self.blocks)

    def variance(self, kind: Replicates) -> float:
        """Of a replicate's log rate, by counting alone: the mean over the replicates."""
        members: dict[object, list[float]] = defaultdict(list)
        is_session = kind in (Replicates.SESSIONS, Replicates.PAIRED_SESSIONS)
        for place, count in enumerate(self.events):
            members[self.sessions[place] if is_session else place].append(1 / (count + HALF))
        return sum(sum(own) / len(own) ** 2 for own in members.values()) / len(members)


def draft(baseline: Counted, side: Counted) -> DraftRatio:
    """The ratio of the error shares, not corrected for other comparisons. Without a ratio, but with a verdict, where a
    run has no error; `upper_share` is the bound of the side's share. Transactions must be positive."""
    for name, counted in (("the baseline", baseline), ("this side", side)):
        if not counted.events:
            return DraftRatio(Ratio(Verdict.NO_RATIO, reason=f"{name} has no such value"))
    if not baseline.total and not side.total:
        return DraftRatio(Ratio(Verdict.NO_RATIO, delta=0.0, reason="no errors on either side"))
    samples = baseline.sample, side.sample
    pair = replicates(*samples)
    delta = welch.cliffs_delta(*(_rates(counted) for counted in (baseline, side)))
    counts = len(pair.baseline.values), len(pair.side.values)
    blank = Ratio(Verdict.TOO_FEW, delta=delta, replicates=pair.kind, counts=counts)
    noises = welch.noises_of(pair)
    if noises is None:
        reason = f"an interval needs {FEWEST_RUNS} runs per side"
        return DraftRatio(replace(blank, needed=FEWEST_RUNS, few_runs=True, reason=reason))
    floors = baseline.variance(pair.kind), side.variance(pair.kind)
    if pair.kind in PAIRED:
        noises = _at_least(noises[0], sum(floors), counts[0]), noises[1]
    else:
        one, other = (_at_least(own, floor, n) for own, floor, n in zip(noises, floors, counts, strict=True))
        noises = one, other
    return DraftRatio(_judged(blank, pair, noises, (baseline, side)))


def _rates(counted: Counted) -> list[float]:
    return [count / of for count, of in zip(counted.events, counted.transactions, strict=True)]


def _by_chance(baseline: Counted, side: Counted) -> float:
    """p of the totals if errors came by chance alone: exact, given their sum (Przyborowski and Wilenski 1940). One half
    more in each run is a large share of few transactions: no verdict rests on that."""
    own, both = round(side.total), round(baseline.total + side.total)
    share = sum(side.transactions) / (sum(side.transactions) + sum(baseline.transactions))
    below, above = float(special.bdtr(own, both, share)), float(special.bdtrc(own - 1, both, share)) if own else 1.0
    return min(1.0, 2 * min(below, above))


def _at_least(noise: RunNoise, floor: float, count: int) -> RunNoise:
    if noise.variance >= floor:
        return noise
    worth = KNOWN if count >= FEWEST_RUNS else 1
    return replace(noise, variance=floor, freedom=worth * noise.freedom)


def _judged(blank: Ratio, pair: Replicated, noises: tuple[RunNoise, RunNoise], sides: tuple[Counted, Counted]) -> Ratio:
    means = [sum(map(math.log, each.values)) / len(each.values) for each in (pair.baseline, pair.side)]
    counts = len(pair.baseline.values), len(pair.side.values)
    squares = noises[0].variance / counts[0], noises[1].variance / counts[1]
    freedoms = noises[0].freedom, noises[1].freedom
    error, freedom = math.sqrt(sum(squares)), satterthwaite(squares, freedoms)
    difference = means[1] - means[0]
    half = critical(freedom) * error
    low, high = math.exp(difference - half), math.exp(difference + half)
    own = [critical(free) * math.sqrt(square) for free, square in zip(freedoms, squares, strict=True)]
    uppers = [math.exp(mean + (half if pair.kind in PAIRED else of)) for mean, of in zip(means, own, strict=True)]
    chance = _by_chance(*sides)
    verdict = Verdict.HIGHER if low > 1 else Verdict.LOWER if high < 1 else Verdict.INCONCLUSIVE
    if chance > 1 - CONFIDENCE:
        verdict = Verdict.INCONCLUSIVE
    reason = _counted(sides)
    if max(uppers) < NEGLIGIBLE:
        verdict, reason = Verdict.EQUIVALENT, f"in fewer than {NEGLIGIBLE:.2%} of the transactions on both sides"
    found = replace(
        blank,
        verdict=verdict,
        p=max(chance, float(2 * special.stdtr(freedom, -abs(difference) / error))),
        cautious_p=max(chance, float(2 * special.stdtr(cautious(freedom, freedoms), -abs(difference) / error))),
        freedom=freedom,
        reason=reason,
        few_runs=any(welch.is_few(count, 0) for count in counts),
        upper_share=min(uppers[1], 1.0),
        smoothed=(low, high),
    )
    if min(*sides[0].events, *sides[1].events) == 0:
        return found
    return replace(found, value=math.exp(difference), low=low, high=high)


def _counted(sides: Sequence[Counted]) -> str:
    """“280 errors of 91,000 transactions in 3 of 3 runs, 0 of 93,000 in the baseline's 3”."""
    baseline, side = sides
    return (
        f"{side.total:,.0f} errors of {sum(side.transactions):,.0f} transactions, in {sum(map(bool, side.events))} of "
        f"{len(side.events)} runs; of the baseline {baseline.total:,.0f} of {sum(baseline.transactions):,.0f}, in "
        f"{sum(map(bool, baseline.events))} of {len(baseline.events)}"
    )
