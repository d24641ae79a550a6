"""Measuring two things so that they can be compared: ours, theirs, ours, theirs, … and the ratios of the pairs.

What disturbs the machine for a while disturbs both members of a pair, so the ratio of a pair is steadier than either.
"""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

ROUNDS = 7


@dataclass(frozen=True)
class Compared:
    """Medians of both sides, and of ours / theirs round by round with the lowest and the highest of these ratios."""

    ours: float
    theirs: float
    ratio: float
    lowest: float
    highest: float
    rounds: int


def compared(ours: Sequence[float], theirs: Sequence[float]) -> Compared:
    """`ours[k]` and `theirs[k]` were measured in the same round."""
    ratios = [mine / other for mine, other in zip(ours, theirs, strict=True)]
    return Compared(
        ours=statistics.median(ours),
        theirs=statistics.median(theirs),
        ratio=statistics.median(ratios),
        lowest=min(ratios),
        highest=max(ratios),
        rounds=len(ratios),
    )


def interleaved(sides: Mapping[str, Callable[[], float]], *, rounds: int = ROUNDS) -> dict[str, list[float]]:
    """What each side measured, one value a round; every other round goes backward, so that none is always first."""
    found: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(rounds):
        for name in list(sides) if number % 2 == 0 else list(sides)[::-1]:
            found[name].append(sides[name]())
    return found


def quantile(values: Sequence[float], part: float) -> float:
    """The smallest value that at least `part` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(part * len(ordered)) - 1)]
