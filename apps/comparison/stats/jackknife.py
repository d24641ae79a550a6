"""Percentiles of merged histograms, as one value per run whose spread is that of the merged percentile. Pure.

A percentile of all transactions of a side is no mean of its runs', so its error is found by leaving out one session at
a time (Quenouille, Biometrika 43, 1956; Tukey's pseudo-values, Miller, Biometrika 61, 1974). A bootstrap over the two
to five sessions of a side draws its variance too small: coverage of both is in docs/why/statistics.md.
"""

import math
from collections.abc import Sequence

from apps.runs.pure import HistogramCounts, merge

# Values above a percentile, of a side: with fewer it depends on a handful of them.
FEWEST_BEYOND = 20


def pseudo_values(
    found: Sequence[HistogramCounts], sessions: Sequence[int], percents: Sequence[float]
) -> dict[float, tuple[float, ...]]:
    """Percentile -> one value per histogram, in its unit and equal within a session: their geometric mean over the
    sessions is the percentile of all values together, their spread the jackknife's.

    With fewer than two sessions each histogram is left out by itself. Without percentiles above which too few values
    are. Raises DifferentGrids, and ValueError for no histograms.
    """
    merged = merge(found)
    groups = list(sessions) if len(set(sessions)) > 1 else list(range(len(found)))
    rests = {
        group: merge([each for own, each in zip(groups, found, strict=True) if own != group])
        for group in (dict.fromkeys(groups) if len(found) > 1 else ())
    }
    return {
        percent: _values(merged.percentile(percent).value, rests, groups, percent)
        for percent in percents
        if merged.count * (100 - percent) / 100 >= FEWEST_BEYOND
    }


def _values(
    whole: float, rests: dict[int, HistogramCounts], groups: Sequence[int], percent: float
) -> tuple[float, ...]:
    """`rests`: group -> what is left without it."""
    if whole <= 0 or not rests:
        return (whole,) * len(groups)
    without = {group: math.log(rest.interpolated(percent)) for group, rest in rests.items()}
    mean = sum(without.values()) / len(without)
    return tuple(whole * math.exp((len(without) - 1) * (mean - without[group])) for group in groups)
