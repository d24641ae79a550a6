"""Changes of a series: a full analysis, or an incremental one after runs were added. Pure.

Known changes keep their place; the incremental analysis does not depend on the number of runs before them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from apps.regressions.detection import boundaries
from apps.regressions.detection import noise as noises
from apps.regressions.detection.change_points import search, welch
from apps.regressions.detection.noise import Floats
from apps.regressions.detection.series import (
    ALIKE,
    FEWEST_ASIDE,
    LEAST_SIGNIFICANT,
    LONGEST,
    MOST_ASIDE,
    SHORTEST,
    ChangePoint,
    ResultSeries,
    Split,
    Window,
    shifted,
)

# Version of the detection rules: stored trends with another version are analysed again.
RULES = 10
# Runs before the new ones that are analysed again: back to a known change, or all.
CONTEXT = 100
# Of a mean on either side of any split, in standard errors: below it no test could find a change. Outliers are clipped.
QUIET, CUT = 3.5, 4.0
# The last runs, which may belong to a new level already.
RECENT = 20
# A known change is dropped only if its p is above this, so that it does not appear and disappear with every run.
FADED = 1e-3


@dataclass(frozen=True)
class Followed:
    """`changes`: all current ones, in order, known ones at the index at which they were first reported. Of these,
    `found`: new ones; `returned`: indices of gone ones found again. `lost`: known ones that newer runs do not
    confirm."""

    changes: tuple[ChangePoint, ...]
    found: tuple[ChangePoint, ...] = ()
    lost: tuple[ChangePoint, ...] = ()
    returned: tuple[int, ...] = ()


def changes(series: ResultSeries) -> list[ChangePoint]:
    """All changes of level, within the last 500 runs of each stretch between resets."""
    found: list[ChangePoint] = []
    for start, end in series.stretches():
        first = max(start, end - LONGEST)
        if end - first >= SHORTEST:
            found += shifted(search(series.window(first, end)), first)
    return found


def follow(
    series: ResultSeries,
    known: Sequence[ChangePoint] = (),
    *,
    gone: Sequence[ChangePoint] = (),
    analysed: int = 0,
    retest: bool = False,
) -> Followed:
    """Changes of a series whose first `analysed` runs were analysed before, with the `known` changes. `gone`: formerly
    known, since lost; if found again nearby, they return at their old place. `retest`: apply the limits for new changes
    to known ones too.

    Only stretches with new runs are analysed, back to the last known change before CONTEXT runs, at most LONGEST runs.
    A single new run is skipped if no split of the current level could be a change. Raises ValueError if more runs were
    analysed than there are.
    """
    if not 0 <= analysed <= len(series.values):
        raise ValueError(f"{analysed} runs were analysed, the series has {len(series.values)}: it was shortened since")
    last = _analyse(series, known, analysed)
    if back := _returned(series, last.found, gone):
        known = list({change.index: change for change in (*known, *back)}.values())
        last = _analyse(series, known, analysed)
        places = {change.index for change in last.changes}
        last = replace(last, returned=tuple(change.index for change in back if change.index in places))
    passed = {change.index for change in last.changes if change.p < series.limits.significant}
    if retest and len(passed) < len(last.changes):
        # A dropped change had separated the runs of its neighbours.
        again = _analyse(series, [change for change in known if change.index in passed], analysed)
        changes, found = (
            tuple(change for change in each if change.p < series.limits.significant)
            for each in (again.changes, again.found)
        )
        last = Followed(changes, found, last.lost + again.lost, last.returned)
    return last


def _returned(series: ResultSeries, found: Sequence[ChangePoint], gone: Sequence[ChangePoint]) -> list[ChangePoint]:
    """Gone changes that are found again nearby and not in a later release."""
    left, back = list(gone), list[ChangePoint]()
    for new in found:
        near = [
            change
            for change in left
            if abs(change.index - new.index) <= ALIKE
            and not any(change.index < boundary <= new.index for boundary in series.boundaries)
        ]
        if near:
            back.append(nearest := min(near, key=lambda change: abs(change.index - new.index)))
            left.remove(nearest)
    return back


def _analyse(series: ResultSeries, known: Sequence[ChangePoint], analysed: int) -> Followed:
    kept, found, lost = sorted(known), list[ChangePoint](), list[ChangePoint]()
    for start, end in series.stretches():
        if end <= analysed:
            continue
        own = [change for change in kept if start < change.index < end]
        # Nothing before this is affected by the new runs.
        settled = [change.index for change in own if change.index <= min(analysed, end) - CONTEXT]
        first = max(start, end - LONGEST, *settled)
        if end - first < SHORTEST:
            continue
        own = [change for change in own if change.index > first]
        y, inner = series.logarithms[first:end], shifted(own, -first)
        if end - analysed == 1 and _is_quiet(y, inner):
            now = Followed(_with_new_run(series, y, inner))
        else:
            now = _analyse_window(series.window(first, end), inner)
        kept = sorted([*(change for change in kept if change not in own), *shifted(now.changes, first)])
        found += shifted(now.found, first)
        lost += shifted(now.lost, first)
    places = [change.index for change in kept]

    def counted(changes: Sequence[ChangePoint]) -> tuple[ChangePoint, ...]:
        """With the current number of runs of each level."""
        ends = {change.index: series.split(change.index, places).end for change in changes}
        return tuple(replace(change, runs_after=ends[change.index] - change.index) for change in changes)

    return Followed(counted(kept), counted(found), tuple(lost))


def _is_quiet(y: Floats, known: Sequence[ChangePoint]) -> bool:
    """Whether no split of the current level could pass the test. Always False if the level's number of runs is a power
    of two, so that changes missed here, and known changes that fade, are found some runs later."""
    level = y[max((change.index for change in known), default=0) :]
    runs = len(level)
    if runs & (runs - 1) == 0:
        return False
    if runs < 2 * FEWEST_ASIDE:
        return True
    # Runs that may belong to a new level must not count as noise or correlation.
    noise = noises.of_level(level[:-RECENT] if runs >= 3 * RECENT else level[: max(runs // 2, FEWEST_ASIDE)])
    sums = np.cumsum(np.clip((level - noises.median(level)) / noise.scale, -CUT, CUT))
    left = np.arange(FEWEST_ASIDE, runs - FEWEST_ASIDE + 1)
    right = runs - left
    differences = (sums[-1] - sums[left - 1]) / right - sums[left - 1] / left
    return bool((np.abs(differences) * np.sqrt(left * right / runs)).max() < QUIET * math.sqrt(noise.inflation))


def _with_new_run(series: ResultSeries, y: Floats, known: Sequence[ChangePoint]) -> tuple[ChangePoint, ...]:
    """The last change, measured with one more run while it has fewer than 40 after it."""
    if not known or len(y) - known[-1].index > MOST_ASIDE:
        return tuple(known)
    places = [change.index for change in known]
    parts = [y[start:end] for start, end in pairwise([0, *places, len(y)])]
    noise = noises.of_level(np.concatenate([part - noises.median(part) for part in parts]))
    return (*known[:-1], _measured(Window(y, noise, series.limits), known[-1], places))


def _analyse_window(window: Window, known: Sequence[ChangePoint]) -> Followed:
    """All of a window's changes, searched again and matched with known ones."""
    detected, limit = search(window, [change.index for change in known]), window.limits.significant
    kept, lost = list[ChangePoint](), list[ChangePoint]()
    for change in known:
        others = [other.index for other in (*detected, *known) if other is not change]
        nearest = _nearest(change, detected, known)
        if nearest and not _are_two(window, change.index, nearest.index, others, limit):
            detected.remove(nearest)
            kept.append(replace(nearest, index=change.index))
            continue
        split = window.split(change.index, others)
        tested = welch(window, split)
        if tested.p >= FADED and split.end == len(window.y):
            # The last runs may belong to another level, which cannot be decided yet.
            tested = welch(window, split._replace(end=split.end - FEWEST_ASIDE + 1))
        if tested.p < FADED:
            kept.append(tested)
        else:
            lost.append(change)
    found = list[ChangePoint]()
    for change in detected:
        reported = [other.index for other in (*kept, *found)]
        others = [*reported, *(other.index for other in detected if other.index > change.index)]
        if not _is_another(window, change.index, reported, others, limit):
            continue
        index = boundaries.place(window, window.split(change.index, others))
        # The change passed the test where it was found; at its reported place a weaker limit applies.
        if _is_another(window, index, reported, others, LEAST_SIGNIFICANT):
            found.append(replace(change, index=index))
    places = [change.index for change in (*kept, *found)]
    kept, found = ([_measured(window, change, places) for change in group] for group in (kept, found))
    return Followed(tuple(sorted([*kept, *found])), tuple(found), tuple(lost))


def _nearest(change: ChangePoint, found: Sequence[ChangePoint], known: Sequence[ChangePoint]) -> ChangePoint | None:
    """The found change nearest to a known one, within ALIKE runs, if it is not nearer to another known one."""

    def distance(other: ChangePoint) -> int:
        return min(abs(other.index - each.index) for each in known)

    own = [other for other in found if abs(other.index - change.index) == distance(other) <= ALIKE]
    return min(own, key=distance, default=None)


def _is_another(window: Window, new: int, reported: Sequence[int], others: Sequence[int], limit: float) -> bool:
    """Whether a place belongs to none of the `reported` changes."""
    near = [place for place in reported if abs(place - new) <= ALIKE]
    return all(_are_two(window, place, new, others, limit) for place in near)


def _are_two(window: Window, known: int, new: int, others: Sequence[int], limit: float) -> bool:
    """Whether two places within ALIKE runs are two changes: a release begins near, the new one has p below `limit`
    beside the known one, and the known one does not fade beside the new one. `others`: places of all changes."""
    if known == new or not (window.is_near_release(known) or window.is_near_release(new)):
        return False
    beside = [place for place in others if place not in (known, new)]
    return all(
        welch(window, window.split(at, [*beside, other])).p < needed
        for at, other, needed in ((new, known, limit), (known, new, FADED))
    )


def _measured(window: Window, change: ChangePoint, places: Sequence[int]) -> ChangePoint:
    """The change with its size measured at the place where it was reported. p stays that of the best split, and runs
    between the two places are not winsorised. Unchanged if a side now has too few runs."""
    split = window.split(change.index, places)
    best = _best_parted(window.y, split)
    test = welch(window, split, whole=(min(best, split.at), max(best, split.at)))
    return replace(test, p=change.p) if math.isfinite(test.high) else change


def _best_parted(y: Floats, split: Split) -> int:
    """The index, within ALIKE runs of the split, that best separates the two levels."""
    start, at, end = split
    left, right = (y[side] for side in split.sides)
    before = noises.median(left[: max(len(left) - ALIKE, FEWEST_ASIDE)])
    after = noises.median(right[-max(len(right) - ALIKE, FEWEST_ASIDE) :])
    if before == after:
        return at
    first = max(start, at - ALIKE)
    # -1: at the level before; 1: at the level after.
    turned = np.clip((2 * y[first : min(end, at + ALIKE)] - before - after) / (after - before), -1, 1)
    losses = np.concatenate([[0.0], np.cumsum(turned)])
    best = np.flatnonzero(losses == losses.min()) + first
    return int(best[np.abs(best - at).argmin()])
