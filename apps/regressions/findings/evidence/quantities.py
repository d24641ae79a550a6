"""Quantities of the runs before and after a change: means, ratio with its interval, verdict. Pure."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from apps.comparison.pure import FEWEST_RUNS, Cell, ComparedMetric, Ratio, Verdict, geometric_mean, with_interval
from apps.core.answers import Hidden, Rounded, component

# Metrics, and run -> key -> value; the cells of one table, corrected for their number.
Judge = Callable[[Sequence[ComparedMetric], Mapping[int, Mapping[str, float]]], tuple[Cell, ...]]
# Runs before, and after.
Sides = tuple[Sequence[int], Sequence[int]]
# Differences of at least a tenth are reported.
LEAST = math.log(1.1)


@component("QuantityDifference")
@dataclass(frozen=True)
class QuantityDifference:
    """`words`: as in a comparison's cell, of a quantity without a direction: higher, lower, inconclusive, … `size`: of
    the logarithm of after / before, each with the floor added, so that next to nothing is no multiple of nothing."""

    before: Rounded
    after: Rounded
    ratio: Annotated[Rounded | None, "after / before; null: one of them is zero"]
    low: Annotated[Rounded | None, "of its 95 % interval"]
    high: Rounded | None
    words: Annotated[str, "higher, lower, inconclusive, too few repetitions, …"]
    size: Hidden[float]

    @property
    def is_sure(self) -> bool:
        """Whether the repetitions show it, and it is large enough to be reported."""
        return self.words in ("higher", "lower") and abs(self.size) >= LEAST

    @property
    def shown(self) -> str:
        """ "41.2 × [38.0, 44.6]", the verdict behind it unless the repetitions show a difference."""
        ratio = Ratio(Verdict.HIGHER, self.ratio, self.low, self.high)
        known = self.ratio is not None and self.low is not None
        return ", ".join(
            [*([with_interval(ratio)] if known else []), *([] if known and self.is_sure else [self.words])]
        )

    @property
    def rose(self) -> bool:
        return self.is_sure and self.words == "higher"


def compared(
    metrics: Sequence[ComparedMetric],
    floors: Mapping[str, float],
    values: Mapping[int, Mapping[str, float]],
    sides: Sides,
    judge: Judge,
) -> dict[str, QuantityDifference]:
    """Quantities that both sides have. `values` may hold earlier runs too, for the judge. Where a run has none of a
    quantity, all are judged with the floor as their least. If the runs of each side are equal, the interval is the
    ratio."""
    own = {
        metric.key: [[values[run][metric.key] for run in side if metric.key in values.get(run, {})] for side in sides]
        for metric in metrics
    }
    with_zero = {key for key, pair in own.items() if any(value <= 0 for side in pair for value in side)}
    judged = {
        run: {
            key: max(value, floors[key]) if key in with_zero else value
            for key, value in known.items()
            if all(own.get(key, ()))
        }
        for run, known in values.items()
    }
    found = {}
    for cell in judge([metric for metric in metrics if all(own[metric.key])], judged):
        if cell.ratio is None or not all(own[cell.metric]):
            continue
        means = [_mean(side) for side in own[cell.metric]]
        ratio = None if cell.metric in with_zero else cell.ratio
        # Rows of one plan: all runs of a side are equal, so that no interval exists, and none is needed.
        is_exact = all(len(side) >= FEWEST_RUNS and len(set(side)) == 1 for side in own[cell.metric])
        exact = ratio.value if ratio and is_exact else None
        floor = floors[cell.metric]
        found[cell.metric] = QuantityDifference(
            before=means[0],
            after=means[1],
            ratio=ratio.value if ratio else None,
            low=exact or (ratio.low if ratio else None),
            high=exact or (ratio.high if ratio else None),
            words=("higher" if means[1] > means[0] else "lower") if is_exact and means[0] != means[1] else cell.words,
            size=math.log((means[1] + floor) / (means[0] + floor)),
        )
    return found


def _mean(values: Sequence[float]) -> float:
    """As in a comparison's summary, so that after / before is the ratio."""
    return geometric_mean(values) if min(values) > 0 else sum(values) / len(values)
