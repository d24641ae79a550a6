"""Correction for multiple testing over all comparisons of one table. Pure.

Benjamini and Hochberg 1995. Simulation results for the corrected verdicts and the repetitions needed are in
docs/why/statistics.md.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from apps.comparison.stats.welch import DISCOVERY_RATE, DraftRatio, Ratio, Verdict, with_needed


def false_discovery_control(ps: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's adjusted p-values, in the given order."""
    array = np.asarray(ps, dtype=np.float64)
    order = np.argsort(array)[::-1]
    ranks = np.arange(len(array), 0, -1)
    adjusted = np.empty_like(array)
    adjusted[order] = np.minimum(np.minimum.accumulate(array[order] * len(array) / ranks), 1)
    return [float(value) for value in adjusted]


def correct_for_many(drafts: Sequence[DraftRatio]) -> list[Ratio]:
    """All ratios of one table, corrected together: a difference that is no discovery among them becomes inconclusive,
    with the reason. No metric is exempt: a primary metric at six load levels would have six chances of a false result.

    Repetitions needed refer to this table: with the rest unchanged, one more comparison is a discovery once its p is at
    most DISCOVERY_RATE * (discoveries + 1) / tests."""
    tested = [_among_many(draft.alone) for draft in drafts]
    adjusted = false_discovery_control([p for p in tested if p is not None])
    found = sum(p <= DISCOVERY_RATE for p in adjusted)
    level = DISCOVERY_RATE * min((found + 1) / max(len(adjusted), 1), 1)
    remaining = iter(adjusted)
    corrected = [
        draft.alone if p is None else _corrected(draft.alone, next(remaining), len(adjusted))
        for draft, p in zip(drafts, tested, strict=True)
    ]
    return [with_needed(ratio, draft.basis, level=level) for ratio, draft in zip(corrected, drafts, strict=True)]


def _among_many(ratio: Ratio) -> float | None:
    return ratio.p if ratio.cautious_p is None else ratio.cautious_p


def _corrected(ratio: Ratio, adjusted_p: float, tests: int) -> Ratio:
    ratio = replace(ratio, adjusted_p=adjusted_p)
    if ratio.verdict not in (Verdict.HIGHER, Verdict.LOWER) or adjusted_p <= DISCOVERY_RATE:
        return ratio
    reason = f"{ratio.verdict.value} alone, but not after correction for {tests} comparisons"
    return replace(ratio, verdict=Verdict.INCONCLUSIVE, reason=reason)
