"""A series looked at again when runs were added: what is known stays in its place, the past is not paid for. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from apps.regressions import detect
from apps.regressions import noise as noises
from apps.regressions.detect import DEFAULT, Change, Limits
from apps.regressions.noise import Floats

# Runs before the new ones that are looked at again: back to a known change, or all.
CONTEXT = 100
# Of a mean on either side of any place, in standard errors: below it no test could find a change. Odd runs are cut off.
QUIET, CUT = 3.5, 4.0
# Runs that may be of a new level already.
RECENT = 20
# A known change is given up only when it would not pass even this: it may not come and go with every run.
FADED = 1e-3


@dataclass(frozen=True)
class Followed:
    """`changes`: all that hold, in order: the known ones at the index at which they were first told, whatever the newer
    runs say of their place, and `found`, the new ones. `lost`: known ones that newer runs no longer bear out."""

    changes: tuple[Change, ...]
    found: tuple[Change, ...] = ()
    lost: tuple[Change, ...] = ()


def follow(
    values: ArrayLike,
    *,
    known: Sequence[Change] = (),
    analysed: int = 0,
    resets: Sequence[int] = (),
    limits: Limits = DEFAULT,
) -> Followed:
    """Changes of a series (runs,) of which the first `analysed` runs were looked at before and had the `known` changes.

    Only stretches between `resets` that have new runs are looked at, back to the last known change before CONTEXT runs
    or at most detect.LONGEST runs. A single new run is passed over where no place of the current level could hold a
    change. Raises ValueError as detect does, and where more runs were analysed than there are.
    """
    array = np.asarray(values, dtype=np.float64)
    if not 0 <= analysed <= len(array):
        raise ValueError(f"{analysed} runs were analysed, the series has {len(array)}: it was shortened since")
    kept, found, lost = sorted(known, key=lambda change: change.index), list[Change](), list[Change]()
    for start, end in pairwise(detect.stretches(len(array), resets)):
        if end <= analysed:
            continue
        mine = [change for change in kept if start < change.index < end]
        first = _first(start, end, mine, analysed)
        y = detect.logarithms(array[first:end], first=first)
        if len(y) < detect.SHORTEST or (end - analysed == 1 and _is_quiet(y, first, mine)):
            continue
        looked_at = [change for change in mine if change.index > first]
        now = _again(y, first, looked_at, limits)
        kept = sorted([*(change for change in kept if change not in looked_at), *now.changes], key=lambda c: c.index)
        found += now.found
        lost += now.lost
    return Followed(_counted(kept, resets, len(array)), _counted(found, resets, len(array), kept), tuple(lost))


def _first(start: int, end: int, known: Sequence[Change], analysed: int) -> int:
    """Where to begin: nothing before it is affected by the new runs."""
    settled = [change.index for change in known if change.index <= min(analysed, end) - CONTEXT]
    return max(start, end - detect.LONGEST, *settled)


def _is_quiet(y: Floats, first: int, known: Sequence[Change]) -> bool:
    """Whether no place of the current level could pass the test. Never where the level's runs are a power of two, so
    that what this overlooks, and known changes that fade, are seen some runs later."""
    level = y[max((change.index - first for change in known if change.index > first), default=0) :]
    runs = len(level)
    if runs & (runs - 1) == 0:
        return False
    if runs < 2 * detect.FEWEST_ASIDE:
        return True
    # What may be a new level must not pass for noise, nor for resemblance.
    noise = noises.of_level(level[:-RECENT] if runs >= 3 * RECENT else level[: max(runs // 2, detect.FEWEST_ASIDE)])
    sums = np.cumsum(np.clip((level - noises.median(level)) / noise.scale, -CUT, CUT))
    left = np.arange(detect.FEWEST_ASIDE, runs - detect.FEWEST_ASIDE + 1)
    right = runs - left
    differences = (sums[-1] - sums[left - 1]) / right - sums[left - 1] / left
    return bool((np.abs(differences) * np.sqrt(left * right / runs)).max() < QUIET * math.sqrt(noise.inflation))


def _again(y: Floats, first: int, known: Sequence[Change], limits: Limits) -> Followed:
    """Of the logarithms (runs,) from run `first` on, all of one stretch."""
    noise = noises.estimate(y)
    seen = detect.changes(y, noise, first=first, limits=limits)
    kept, lost = list[Change](), list[Change]()
    for change in known:
        same = [other for other in seen if abs(other.index - change.index) <= detect.ALIKE]
        if same:
            nearest = min(same, key=lambda other: abs(other.index - change.index))
            seen.remove(nearest)
            kept.append(replace(nearest, index=change.index))
            continue
        others = [other.index - first for other in (*seen, *known) if other is not change]
        at = change.index - first
        before = max((other for other in others if other < at), default=0)
        after = min((other for other in others if other > at), default=len(y))
        tested = detect.test(y, before, at, after, noise=noise, limits=limits)
        if tested.p < FADED:
            kept.append(detect.change_of(tested, first=first))
        else:
            lost.append(change)
    found = [change for change in seen if not detect.near(change.index, [other.index for other in kept])]
    return Followed(tuple(sorted([*kept, *found], key=lambda change: change.index)), tuple(found), tuple(lost))


def _counted(
    changes: Sequence[Change], resets: Sequence[int], runs: int, among: Sequence[Change] | None = None
) -> tuple[Change, ...]:
    """With the runs that each level has by now; `among`: all changes, when these are some of them."""
    ends = sorted({*(change.index for change in among or changes), *resets, runs})
    return tuple(
        replace(change, runs_after=min(end for end in ends if end > change.index) - change.index) for change in changes
    )
