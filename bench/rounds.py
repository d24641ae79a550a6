"""Paired measurement of two sides: ours, theirs, ours, theirs, … and the ratios of the pairs.

A temporary disturbance of the machine affects both members of a pair, so the ratio varies less than either.
"""

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

ROUNDS = 7
# Otherwise the work of a server after its response would overlap the next measurement.
PAUSE = 0.03  # s
MANY = 100  # rounds


@dataclass(frozen=True)
class Compared:
    """What is typical of both sides, and of ours / theirs round by round, with a 95 % interval: medians (`compared`) or
    geometric means (`of_many`)."""

    ours: float
    theirs: float
    ratio: float
    low: float
    high: float
    rounds: int


def compared(ours: Sequence[float], theirs: Sequence[float]) -> Compared:
    """`ours[k]` and `theirs[k]` were measured in the same round."""
    ratios = sorted(mine / other for mine, other in zip(ours, theirs, strict=True))
    # By the binomial distribution, independent of the ratios' own; up to seven rounds it is their range.
    outside = max(0, math.floor(len(ratios) / 2 - 0.98 * math.sqrt(len(ratios))))
    return Compared(
        ours=statistics.median(ours),
        theirs=statistics.median(theirs),
        ratio=statistics.median(ratios),
        low=ratios[outside],
        high=ratios[-1 - outside],
        rounds=len(ratios),
    )


def of_many(ours: Sequence[float], theirs: Sequence[float]) -> Compared:
    """As `compared`, by geometric means: narrower than medians by a fifth where the logarithms are about normal.

    Raises ValueError for fewer than MANY rounds, for which the interval's normal distribution would be a guess.
    """
    if len(ours) < MANY:
        raise ValueError(f"geometric means are for {MANY} rounds or more, not {len(ours)}")
    logs = [math.log(mine / other) for mine, other in zip(ours, theirs, strict=True)]
    mean = statistics.fmean(logs)
    half = statistics.NormalDist().inv_cdf(0.975) * statistics.stdev(logs) / math.sqrt(len(logs))
    return Compared(
        ours=statistics.geometric_mean(ours),
        theirs=statistics.geometric_mean(theirs),
        ratio=math.exp(mean),
        low=math.exp(mean - half),
        high=math.exp(mean + half),
        rounds=len(logs),
    )


def interleaved(
    sides: Mapping[str, Callable[[], T]], *, rounds: int = ROUNDS, pause: float = PAUSE
) -> dict[str, list[T]]:
    """Measurements of each side, one per round; every other round has the reverse order, so that none is always first.

    `pause`: s before each measurement.
    """
    found: dict[str, list[T]] = {name: [] for name in sides}
    for number in range(rounds):
        for name in list(sides) if number % 2 == 0 else list(sides)[::-1]:
            time.sleep(pause)
            found[name].append(sides[name]())
    return found


def quantile(values: Sequence[float], part: float) -> float:
    """The smallest value that is at least as large as a share `part` of the values."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(part * len(ordered)) - 1)]
