"""Steadiness of one run, from its throughput per second. Pure: arrays in, numbers out."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from apps.runs.pure import Phase, interval_middles

Floats = NDArray[np.float64]
# A dip (`hiccups`, the term of the articles) is a value below this share of the run's median above zero.
DIP_SHARE = 0.5
# With fewer values neither spread nor share is meaningful.
FEWEST_VALUES = 5
# Interval lengths within this share of each other count as equal: tools print a little early or late.
SAME_LENGTH = 0.2


@dataclass(frozen=True)
class Box:
    """Quantiles of the values of one run, or of all runs of a side: 0, 5, 25, 50, 75, 95 and 100 %."""

    least: float
    p5: float
    p25: float
    p50: float
    p75: float
    p95: float
    greatest: float


@dataclass(frozen=True)
class DipSpan:
    """[`start`, `end`) s from the start of the measured phase."""

    start: Annotated[float, "s from the start of the measured phase"]
    end: float

    @property
    def length(self) -> float:
        return self.end - self.start


@dataclass(frozen=True)
class Steadiness:
    """Of one run's measured phase. `variation` to `worst` are None for a run in which nothing was done."""

    step: Annotated[float, "usual length of an interval, s"]
    count: Annotated[int, "intervals"]
    observed: Annotated[float, "their total length, s"]
    box: Annotated[Box, "quantiles of their values"]
    mean: float
    variation: Annotated[float | None, "coefficient of variation; 1 is 100 %"]
    hiccups: Annotated[
        float | None,
        "share of the time in intervals below half the median of those with work; null: nothing was done",
    ]
    longest: Annotated[DipSpan | None, "longest run of such intervals"]
    worst: Annotated[float | None, "lowest value / that median"]
    worst_at: Annotated[float, "end of that interval, s from the start of the measured phase"]


def steadiness(at: Floats, values: Floats, phase: Phase) -> Steadiness | None:
    """`values`: means over the time since the previous sample, as load tools print them; `at`: their ends, s, rising;
    NaN: not observed. A value belongs to the phase that holds its middle. None: fewer than FEWEST_VALUES in the phase.
    """
    at, values, lengths, usual = _within(at, values, phase)
    if len(at) < FEWEST_VALUES:
        return None
    mean = float(np.average(values, weights=lengths))
    box = box_of(values)
    level = done_level(values)
    known = level > 0
    low = values < DIP_SHARE * level
    lowest = int(np.argmin(values))
    return Steadiness(
        step=usual,
        count=len(values),
        observed=float(lengths.sum()),
        box=box,
        mean=mean,
        variation=_spread(values, lengths, mean) if known and mean > 0 else None,
        hiccups=float(lengths[low].sum() / lengths.sum()) if known else None,
        longest=longest_stretch(at - phase.start, lengths, low) if known else None,
        worst=box.least / level if known else None,
        worst_at=float(at[lowest] - phase.start),
    )


def done_level(values: Floats) -> float:
    """Median of the values above zero, so that a load that stands still most of the time has dips; 0: there is none."""
    done = values[values > 0]
    return float(np.median(done)) if len(done) else 0.0


def within(at: Floats, values: Floats, phase: Phase) -> Floats:
    """The observed values of `phase`."""
    return _within(at, values, phase)[1]


def _within(at: Floats, values: Floats, phase: Phase) -> tuple[Floats, Floats, Floats, float]:
    """Ends, values and lengths of the intervals observed in `phase`; their usual length, 0 if there are too few."""
    seen = ~np.isnan(values)
    at, values = at[seen], values[seen]
    usual = float(np.median(np.diff(at))) if len(at) > 1 else 0.0
    # Unobserved time before a value is not part of its interval.
    lengths = np.minimum(np.diff(at, prepend=at[:1] - usual), usual * (1 + SAME_LENGTH))
    first, end = phase.within(interval_middles(at, usual))
    return at[first:end], values[first:end], lengths[first:end], usual


def box_of(values: Floats) -> Box:
    """Raises ValueError for no values."""
    if not len(values):
        raise ValueError("no values: a box needs at least one")
    return Box(*(float(value) for value in np.quantile(values, (0, 0.05, 0.25, 0.5, 0.75, 0.95, 1))))


def _spread(values: Floats, lengths: Floats, mean: float) -> float:
    return math.sqrt(float(np.average((values - mean) ** 2, weights=lengths))) / mean


def longest_stretch(at: Floats, lengths: Floats, low: NDArray[np.bool_]) -> DipSpan:
    """The longest stretch of `low` values; empty if there is none. A gap ends a stretch."""
    longest, start = DipSpan(0.0, 0.0), math.nan
    ends_before = math.nan
    for end, length, is_low in zip(at.tolist(), lengths.tolist(), low.tolist(), strict=True):
        begins = end - length
        if is_low:
            follows = not math.isnan(start) and begins - ends_before <= SAME_LENGTH * length
            start = start if follows else begins
            ends_before = end
            if end - start > longest.length:
                longest = DipSpan(start, end)
        else:
            start = math.nan
    return longest


def usual_step(steps: Sequence[float]) -> float | None:
    """The median of the runs' intervals; None without runs. Runs with other intervals are not comparable: the mean of
    ten seconds varies less than one second."""
    return statistics.median_low(steps) if steps else None


def is_same_step(step: float, other: float) -> bool:
    return abs(step - other) <= SAME_LENGTH * max(step, other)
