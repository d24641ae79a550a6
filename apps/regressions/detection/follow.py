"""A series looked at again when runs were added: what is known stays in its place, the past is not paid for. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from apps.regressions.detection import boundaries as releases
from apps.regressions.detection import change_points
from apps.regressions.detection import noise as noises
from apps.regressions.detection.change_points import DEFAULT, ChangeLimits, ChangePoint
from apps.regressions.detection.noise import Floats, SeriesNoise

# Of what `follow`, `detect` and `boundaries` tell of the same runs: with another, kept histories are followed anew.
RULES = 2
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

    changes: tuple[ChangePoint, ...]
    found: tuple[ChangePoint, ...] = ()
    lost: tuple[ChangePoint, ...] = ()


def follow(
    values: ArrayLike,
    *,
    known: Sequence[ChangePoint] = (),
    analysed: int = 0,
    resets: Sequence[int] = (),
    boundaries: Sequence[int] = (),
    limits: ChangeLimits = DEFAULT,
) -> Followed:
    """Changes of a series (runs,) of which the first `analysed` runs were looked at before and had the `known` changes.
    `boundaries`: runs with which a release begins; a new change is rather told there than some runs off.

    Only stretches between `resets` that have new runs are looked at, back to the last known change before CONTEXT runs
    or at most detect.LONGEST runs. A single new run is passed over where no place of the current level could hold a
    change. Raises ValueError as detect does, and where more runs were analysed than there are.
    """
    array = np.asarray(values, dtype=np.float64)
    if not 0 <= analysed <= len(array):
        raise ValueError(f"{analysed} runs were analysed, the series has {len(array)}: it was shortened since")
    kept, found, lost = sorted(known, key=lambda change: change.index), list[ChangePoint](), list[ChangePoint]()
    for start, end in pairwise(change_points.stretches(len(array), resets)):
        if end <= analysed:
            continue
        mine = [change for change in kept if start < change.index < end]
        first = _first(start, end, mine, analysed)
        y = change_points.logarithms(array[first:end], first=first)
        if len(y) < change_points.SHORTEST:
            continue
        looked_at = [change for change in mine if change.index > first]
        if end - analysed == 1 and _is_quiet(y, first, mine):
            now = Followed(_gathering(y, first, looked_at))
        else:
            now = _again(y, first, looked_at, boundaries, limits)
        kept = sorted([*(change for change in kept if change not in looked_at), *now.changes], key=lambda c: c.index)
        found += now.found
        lost += now.lost
    return Followed(_counted(kept, resets, len(array)), _counted(found, resets, len(array), kept), tuple(lost))


def _first(start: int, end: int, known: Sequence[ChangePoint], analysed: int) -> int:
    """Where to begin: nothing before it is affected by the new runs."""
    settled = [change.index for change in known if change.index <= min(analysed, end) - CONTEXT]
    return max(start, end - change_points.LONGEST, *settled)


def _is_quiet(y: Floats, first: int, known: Sequence[ChangePoint]) -> bool:
    """Whether no place of the current level could pass the test. Never where the level's runs are a power of two, so
    that what this overlooks, and known changes that fade, are seen some runs later."""
    level = y[max((change.index - first for change in known if change.index > first), default=0) :]
    runs = len(level)
    if runs & (runs - 1) == 0:
        return False
    if runs < 2 * change_points.FEWEST_ASIDE:
        return True
    # What may be a new level must not pass for noise, nor for resemblance.
    noise = noises.of_level(
        level[:-RECENT] if runs >= 3 * RECENT else level[: max(runs // 2, change_points.FEWEST_ASIDE)]
    )
    sums = np.cumsum(np.clip((level - noises.median(level)) / noise.scale, -CUT, CUT))
    left = np.arange(change_points.FEWEST_ASIDE, runs - change_points.FEWEST_ASIDE + 1)
    right = runs - left
    differences = (sums[-1] - sums[left - 1]) / right - sums[left - 1] / left
    return bool((np.abs(differences) * np.sqrt(left * right / runs)).max() < QUIET * math.sqrt(noise.inflation))


def _gathering(y: Floats, first: int, known: Sequence[ChangePoint]) -> tuple[ChangePoint, ...]:
    """With what one more run says of the last, while it has room for that."""
    if not known or first + len(y) - known[-1].index > change_points.MOST_ASIDE:
        return tuple(known)
    bounds = [0, *(change.index - first for change in known), len(y)]
    noise = noises.of_level(
        np.concatenate([y[start:end] - noises.median(y[start:end]) for start, end in pairwise(bounds)])
    )
    return (*known[:-1], _stated(known[-1], y, first, bounds[-3:], noise))


def _again(
    y: Floats, first: int, known: Sequence[ChangePoint], boundaries: Sequence[int], limits: ChangeLimits
) -> Followed:
    """Of the logarithms (runs,) from run `first` on, all of one stretch."""
    noise = noises.estimate(y)
    seen = change_points.changes(y, noise, first=first, limits=limits)
    kept, lost = list[ChangePoint](), list[ChangePoint]()
    for change in known:
        others = [other.index for other in (*seen, *known) if other is not change]
        nearest = _nearest(change, seen, known)
        if nearest and not _are_two(
            y, change.index, nearest.index, others=others, first=first, noise=noise, limits=limits
        ):
            seen.remove(nearest)
            kept.append(replace(nearest, index=change.index))
            continue
        before, at, after = _between(change.index, others, first, len(y))
        tested = change_points.test(y, before, at, after, noise=noise, limits=limits)
        if tested.p >= FADED and after == len(y):
            # The last runs may be the first of another level, which nobody can tell yet.
            tested = change_points.test(
                y, before, at, after - change_points.FEWEST_ASIDE + 1, noise=noise, limits=limits
            )
        if tested.p < FADED:
            kept.append(change_points.change_of(tested, first=first))
        else:
            lost.append(change)
    found = list[ChangePoint]()
    own = [boundary - first for boundary in boundaries]
    # That it is a change was told where the values show it best.
    placed = replace(limits, significant=change_points.LEAST_SIGNIFICANT)
    for change in seen:
        told = [other.index for other in (*kept, *found)]
        others = [*told, *(other.index for other in seen if other.index > change.index)]
        if not _is_another(y, change.index, told, others=others, first=first, noise=noise, limits=limits):
            continue
        before, at, after = _between(change.index, others, first, len(y))
        index = first + releases.place(y, before, at, after, boundaries=own, noise=noise, limits=limits)
        if _is_another(y, index, told, others=others, first=first, noise=noise, limits=placed):
            found.append(replace(change, index=index))
    places = [0, *sorted(change.index - first for change in (*kept, *found)), len(y)]
    bounds = {
        at + first: [before, at, after] for before, at, after in zip(places, places[1:], places[2:], strict=False)
    }
    kept, found = ([_stated(each, y, first, bounds[each.index], noise) for each in group] for group in (kept, found))
    return Followed(tuple(sorted([*kept, *found], key=lambda change: change.index)), tuple(found), tuple(lost))


def _nearest(change: ChangePoint, seen: Sequence[ChangePoint], known: Sequence[ChangePoint]) -> ChangePoint | None:
    """What is seen so near a known change, and nearer to none of the others, that it may be that one."""

    def off(other: ChangePoint) -> int:
        return min(abs(other.index - each.index) for each in known)

    own = [other for other in seen if abs(other.index - change.index) == off(other) <= change_points.ALIKE]
    return min(own, key=off, default=None)


def _is_another(
    y: Floats,
    index: int,
    told: Sequence[int],
    *,
    others: Sequence[int],
    first: int,
    noise: SeriesNoise,
    limits: ChangeLimits,
) -> bool:
    """Whether a place is that of none of the changes `told`."""
    near = [each for each in told if abs(each - index) <= change_points.ALIKE]
    return all(_are_two(y, each, index, others=others, first=first, noise=noise, limits=limits) for each in near)


def _are_two(
    y: Floats, known: int, new: int, *, others: Sequence[int], first: int, noise: SeriesNoise, limits: ChangeLimits
) -> bool:
    """Whether two places as near as makes one change are two: the new one passes the test beside the known one, and
    that one keeps what it needs to hold beside the new one. `others`: places of all changes."""
    if known == new:
        return False
    beside = [place for place in others if place not in (known, new)]
    for at, other, needed in ((new, known, limits.significant), (known, new, FADED)):
        start, here, end = _between(at, [*beside, other], first, len(y))
        if change_points.test(y, start, here, end, noise=noise, limits=limits).p >= needed:
            return False
    return True


def _between(index: int, others: Sequence[int], first: int, runs: int) -> tuple[int, int, int]:
    """A change and its neighbours, counted from `first`."""
    before = max((other - first for other in others if other < index), default=0)
    after = min((other - first for other in others if other > index), default=runs)
    return before, index - first, after


def _stated(change: ChangePoint, y: Floats, first: int, bounds: Sequence[int], noise: SeriesNoise) -> ChangePoint:
    """With the size of the two sides as they are parted where it was told; p stays that of where it was seen. Runs
    between the two are of their side as others are, not odd ones. As it was where a side has too few runs by now."""
    start, at, end = bounds
    seen = _seen(y, start, at, end)
    tested = change_points.test(y, start, at, end, noise=noise, limits=DEFAULT, whole=(min(seen, at), max(seen, at)))
    return replace(change_points.change_of(tested, first=first), p=change.p) if math.isfinite(tested.half) else change


def _seen(y: Floats, start: int, at: int, end: int) -> int:
    """Where, as near as makes one change, the runs turn from one side's level to the other's."""
    left, right = y[max(start, at - change_points.MOST_ASIDE) : at], y[at : min(end, at + change_points.MOST_ASIDE)]
    before = noises.median(left[: max(len(left) - change_points.ALIKE, change_points.FEWEST_ASIDE)])
    after = noises.median(right[-max(len(right) - change_points.ALIKE, change_points.FEWEST_ASIDE) :])
    if before == after:
        return at
    first = max(start, at - change_points.ALIKE)
    # From -1, of the level before, to 1.
    turned = np.clip((2 * y[first : min(end, at + change_points.ALIKE)] - before - after) / (after - before), -1, 1)
    losses = np.concatenate([[0.0], np.cumsum(turned)])
    best = np.flatnonzero(losses == losses.min()) + first
    return int(best[np.abs(best - at).argmin()])


def _counted(
    changes: Sequence[ChangePoint], resets: Sequence[int], runs: int, among: Sequence[ChangePoint] | None = None
) -> tuple[ChangePoint, ...]:
    """With the runs that each level has by now; `among`: all changes, when these are some of them."""
    ends = sorted({*(change.index for change in among or changes), *resets, runs})
    return tuple(
        replace(change, runs_after=min(end for end in ends if end > change.index) - change.index) for change in changes
    )
