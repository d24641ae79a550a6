"""Rank test of two sides where a run is zero, so that no ratio exists. Pure.

Mann and Whitney 1947, with mean ranks for ties; exact by permutation where feasible, since an approximation is invalid
for three or four values. Runs of a session are not exchangeable with those of another: its mean is one value.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from apps.comparison.stats import welch
from apps.comparison.stats.power import CONFIDENCE
from apps.comparison.stats.replicates import FEWEST_SESSIONS, Replicates
from apps.comparison.stats.welch import Ratio, Verdict

SIGNIFICANT = 1 - CONFIDENCE
# With more permutations than this: normal approximation, corrected for ties.
MOST_WAYS = 20_000
# The fewest values per side, both equal, that can give a significant result.
FEWEST_EACH = next(n for n in range(2, 20) if 2 / math.comb(2 * n, n) <= SIGNIFICANT)


def compare(
    baseline: Sequence[float],
    side: Sequence[float],
    *,
    sessions: tuple[Sequence[int], Sequence[int]] = ((), ()),
) -> Ratio:
    """Verdict, p and Cliff's δ of the runs, without a ratio. `sessions`: of each side's runs; where a side has several,
    their means are ranked. Raises ValueError for a side without values."""
    if not baseline or not side:
        raise ValueError("ranks need a value on each side")
    what = "negative" if min(*baseline, *side) < 0 else "zero"
    kind, (one, other) = _replicates((baseline, side), sessions)
    found = Ratio(
        Verdict.INCONCLUSIVE,
        delta=welch.cliffs_delta(baseline, side),
        replicates=kind,
        counts=(len(one), len(other)),
        few_runs=welch.is_few(min(len(one), len(other)), 0),
    )
    if min(*baseline, *side) == max(*baseline, *side):
        return replace(found, p=1.0, few_runs=False, reason="all runs have the same value")
    ways = math.comb(len(one) + len(other), len(other))
    if 2 / ways > SIGNIFICANT:
        unit = "session" if kind is Replicates.SESSIONS else "run"
        reason = f"a run is {what}, and the rank test needs {FEWEST_EACH} {unit}s per side"
        return replace(found, verdict=Verdict.TOO_FEW, needed=FEWEST_EACH, few_runs=True, reason=reason)
    p = _exact(one, other) if ways <= MOST_WAYS else _approximate(one, other)
    if p <= SIGNIFICANT:
        verdict = Verdict.HIGHER if welch.cliffs_delta(one, other) > 0 else Verdict.LOWER
        found = replace(found, verdict=verdict)
    within = "; within one session of each side" * (kind is Replicates.ONE_SESSION)
    return replace(found, p=p, reason=f"by the rank test: a run is {what}, so no ratio exists{within}")


def _replicates(
    values: tuple[Sequence[float], Sequence[float]], sessions: tuple[Sequence[int], Sequence[int]]
) -> tuple[Replicates, tuple[Sequence[float], Sequence[float]]]:
    """What repeats, and one value of each on both sides: arithmetic means, as zeros have no logarithm."""
    if not all(sessions):
        return Replicates.RUNS, values
    if all(len(set(own)) < FEWEST_SESSIONS for own in sessions):
        return Replicates.ONE_SESSION, values
    return Replicates.SESSIONS, (_means(values[0], sessions[0]), _means(values[1], sessions[1]))


def _means(values: Sequence[float], sessions: Sequence[int]) -> list[float]:
    members: dict[int, list[float]] = defaultdict(list)
    for value, session in zip(values, sessions, strict=True):
        members[session].append(value)
    return [float(np.mean(own)) for own in members.values()]


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
