"""Errors of two sides as a share of their transactions, or seconds in dips as a share of the time; a run may have none.
Pure.

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
from apps.comparison.stats.power import CONFIDENCE, FEWEST_RUNS, NoiseBasis, RunNoise, critical
from apps.comparison.stats.replicates import PAIRED, Replicates, Sample, replicates
from apps.comparison.stats.welch import DraftRatio, Ratio, Tested, Verdict
from apps.core.units import NBSP

# Errors in fewer transactions than this share, on both sides, make no practical difference.
NEGLIGIBLE = 1e-4
# The variance of counting is not estimated from the runs: worth so many times their degrees of freedom, from three on.
KNOWN = 4
HALF = 0.5


@dataclass(frozen=True)
class Counted:
    """One side: events and transactions of each run (or seconds, of all seconds); `sessions` and `blocks` as in Sample.
    `what`, `of`, `whole`: their names."""

    events: tuple[float, ...]
    transactions: tuple[float, ...]
    sessions: tuple[int, ...] = ()
    blocks: tuple[str, ...] = ()
    what: str = "errors"
    of: str = "transactions"
    whole: str = "transactions"

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
    """The verdict on the error shares, not corrected for other comparisons; `upper_share` bounds that of the side.
    Without a ratio: that of shares is not the quotient of the errors a second that are shown. Transactions must be
    positive."""
    for name, counted in (("the baseline", baseline), ("this side", side)):
        if not counted.events:
            return DraftRatio(Ratio(Verdict.NO_RATIO, reason=f"{name} has no such value"))
    if not baseline.total and not side.total:
        return DraftRatio(Ratio(Verdict.NO_RATIO, reason=f"no {side.what} on either side"))
    pair = replicates(baseline.sample, side.sample)
    counts = len(pair.baseline.values), len(pair.side.values)
    blank = Ratio(Verdict.TOO_FEW, replicates=pair.kind, counts=counts)
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
    means = [sum(map(math.log, each.values)) / len(each.values) for each in (pair.baseline, pair.side)]
    test = welch.tested(NoiseBasis(noises, counts, means[1] - means[0]))
    assert test is not None, "counting has a variance"  # noqa: S101
    uppers = _upper_shares(means, noises, counts, of_pairs=test.error if pair.kind in PAIRED else 0.0)
    return DraftRatio(_judged(blank, test, uppers, (baseline, side)))


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


def _upper_shares(
    means: Sequence[float], noises: Sequence[RunNoise], counts: Sequence[int], *, of_pairs: float
) -> list[float]:
    """Upper ends of the sides' shares, 95 %. `of_pairs`: the error of their differences, if only that is known."""
    found = []
    for mean, noise, count in zip(means, noises, counts, strict=True):
        known = noises[0] if of_pairs else noise
        error = of_pairs or math.sqrt(noise.variance / count)
        found.append(min(1.0, math.exp(mean + critical(known.freedom) * error)))
    return found


def _judged(blank: Ratio, test: Tested, uppers: Sequence[float], sides: tuple[Counted, Counted]) -> Ratio:
    chance = _by_chance(*sides)
    verdict, reason = Verdict.INCONCLUSIVE, _counted(sides, test, uppers[1])
    if max(uppers) < NEGLIGIBLE:
        verdict, reason = Verdict.EQUIVALENT, f"in fewer than {NEGLIGIBLE:.2%} of the {sides[1].whole} on both sides"
    elif chance <= 1 - CONFIDENCE and not test.low <= 1 <= test.high:
        verdict = Verdict.HIGHER if test.low > 1 else Verdict.LOWER
    return replace(
        blank,
        verdict=verdict,
        p=max(chance, test.p),
        cautious_p=max(chance, test.cautious_p),
        freedom=test.freedom,
        reason=reason,
        few_runs=any(welch.is_few(count, 0) for count in blank.counts or ()),
        upper_share=uppers[1],
        smoothed=(test.low, test.high),
    )


def _counted(sides: Sequence[Counted], test: Tested, upper: float) -> str:
    """“280 errors of 91,000 transactions, in 3 of 3 runs; of the baseline 140 of 93,000, in 3 of 3; 2.04 × the share
    (95 % interval 1.6 to 2.6)”."""
    baseline, side = sides
    counts = (
        f"{side.total:,.0f} {side.what} of {sum(side.transactions):,.0f} {side.of}, in {_with(side)} runs; "
        f"of the baseline {baseline.total:,.0f} of {sum(baseline.transactions):,.0f}, in {_with(baseline)}"
    )
    if min(*baseline.events, *side.events) == 0:
        return f"{counts}; at most {100 * upper:.3g}{NBSP}% of the {side.whole}"
    ratio = f"{math.sqrt(test.low * test.high):.3g}{NBSP}× the share"
    return f"{counts}; {ratio} (95{NBSP}% interval {test.low:.3g} to {test.high:.3g})"


def _with(side: Counted) -> str:
    return f"{sum(map(bool, side.events))} of {len(side.events)}"
