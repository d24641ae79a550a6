"""Rank test of two sides where a run is zero, so that no ratio exists. Pure.

Mann and Whitney 1947, with mean ranks for ties; exact by permutation where feasible, since an approximation is invalid
for three or four runs.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from apps.comparison.stats import welch
from apps.comparison.stats.power import CONFIDENCE
from apps.comparison.stats.welch import Ratio, Verdict

SIGNIFICANT = 1 - CONFIDENCE
# With more permutations than this: normal approximation, corrected for ties.
MOST_WAYS = 20_000
# The fewest runs per side, both equal, that can give a significant result.
FEWEST_EACH = next(n for n in range(2, 20) if 2 / math.comb(2 * n, n) <= SIGNIFICANT)


def compare(baseline: Sequence[float], side: Sequence[float]) -> Ratio:
    """Verdict, p and Cliff's δ, without a ratio. Raises ValueError for a side without values."""
    if not baseline or not side:
        raise ValueError("ranks need a value on each side")
    delta = welch.cliffs_delta(baseline, side)
    if min(*baseline, *side) == max(*baseline, *side):
        return Ratio(Verdict.INCONCLUSIVE, p=1.0, delta=delta, reason="all runs have the same value")
    ways = math.comb(len(baseline) + len(side), len(side))
    if 2 / ways > SIGNIFICANT:
        too_few = f"the rank test needs {FEWEST_EACH} runs per side"
        reason = f"a run is {_what(baseline, side)}, and {too_few}"
        return Ratio(Verdict.TOO_FEW, delta=delta, needed=FEWEST_EACH, few_runs=True, reason=reason)
    p = _exact(baseline, side) if ways <= MOST_WAYS else _approximate(baseline, side)
    verdict = Verdict.INCONCLUSIVE
    if p <= SIGNIFICANT:
        verdict = Verdict.HIGHER if delta > 0 else Verdict.LOWER
    reason = f"by the rank test: a run is {_what(baseline, side)}, so no ratio exists"
    return Ratio(verdict, p=p, delta=delta, few_runs=welch.is_few(min(len(baseline), len(side)), 0), reason=reason)


def _what(baseline: Sequence[float], side: Sequence[float]) -> str:
    return "negative" if min(*baseline, *side) < 0 else "zero"


def _exact(baseline: Sequence[float], side: Sequence[float]) -> float:
    ranks = _ranked(side, baseline)
    sums = ranks[_ways(len(ranks), len(side))].sum(axis=1)
    expected = len(side) * (len(ranks) + 1) / 2
    found = abs(ranks[: len(side)].sum() - expected)
    return float(np.mean(np.abs(sums - expected) >= found - 1e-9))


def _ranked(side: Sequence[float], baseline: Sequence[float]) -> NDArray[np.float64]:
    """Mean ranks, those of `side` first."""
    values = np.array([*side, *baseline])
    ordered = np.sort(values)
    return (np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right") + 1) / 2


@lru_cache(maxsize=16)
def _ways(total: int, chosen: int) -> NDArray[np.intp]:
    return np.array(list(combinations(range(total), chosen)), np.intp)


def _approximate(baseline: Sequence[float], side: Sequence[float]) -> float:
    # Imported here: it takes a second, needed for many runs only.
    from scipy.stats import mannwhitneyu  # noqa: PLC0415

    return float(mannwhitneyu(side, baseline, method="asymptotic").pvalue)
