"""Our detector beside Apache Otava's on the second generator: each kind of noise, with changes and without.

Both are replayed run by run. Ours is given what the product knows of a run: its day, and its machine where it has a
name. Intervals: series drawn with replacement, and at least Wilson's over the runs.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from apps.regressions.detection import SHORTEST, ResultSeries, changes, patterns
from bench import histories, noisy_histories, otava
from bench.histories import Alarm, Floats, KnownSeries, Score

CHANGED, STILL = 20, 50  # series of each kind
RESAMPLED = 2000
ASIDE = 0.025  # on either side of a 95 % interval
WILSON = 1.96
FIRST_DAY = 738_000

Replay = Callable[[KnownSeries], list[Alarm]]
Interval = tuple[float, float]


class Kind:
    """Scores of the same series, ours and theirs (None: the peer is missing)."""

    def __init__(self, mine: Sequence[Score], theirs: Sequence[Score] | None) -> None:
        self.mine, self.theirs = list(mine), None if theirs is None else list(theirs)

    def total(self) -> Score:
        return sum(self.mine, Score())

    def peer(self) -> Score | None:
        return None if self.theirs is None else sum(self.theirs, Score())

    def false(self) -> Interval:
        """Of our false alarms per 1,000 runs."""
        drawn = self._drawn(self.mine, lambda total: 1000 * total[:, 1] / total[:, 3])
        total = self.total()
        share, runs = total.false / total.runs, total.runs
        middle = (share + WILSON**2 / (2 * runs)) / (1 + WILSON**2 / runs)
        half = WILSON * np.sqrt(share * (1 - share) / runs + (WILSON / (2 * runs)) ** 2) / (1 + WILSON**2 / runs)
        low, high = (float(each) for each in np.quantile(drawn, [ASIDE, 1 - ASIDE]))
        return float(max(min(low, 1000 * (middle - half)), 0.0)), float(max(high, 1000 * (middle + half)))

    def f1(self) -> Interval:
        drawn = self._drawn(self.mine, _f1)
        low, high = np.quantile(drawn, [ASIDE, 1 - ASIDE])
        return float(low), float(high)

    def ahead(self) -> Interval | None:
        """Of the difference of both F1, over the same series."""
        if self.theirs is None:
            return None
        drawn = self._drawn(self.mine, _f1) - self._drawn(self.theirs, _f1)
        low, high = np.quantile(drawn, [ASIDE, 1 - ASIDE])
        return float(low), float(high)

    @staticmethod
    def _drawn(scores: Sequence[Score], figure: Callable[[Floats], Floats]) -> Floats:
        """The same series are drawn for any scores of as many series."""
        counts = np.array([(s.found, s.false, s.missed, s.runs) for s in scores], dtype=np.float64)
        rng = np.random.default_rng(0)
        return figure(counts[rng.integers(len(counts), size=(RESAMPLED, len(counts)))].sum(axis=1))


def _f1(total: Floats) -> Floats:
    found: Floats = 2 * total[:, 0] / np.maximum(2 * total[:, 0] + total[:, 1] + total[:, 2], 1)
    return found


def with_changes(seed: int, ours: Replay, python: Path | None) -> dict[str, Kind]:
    return _kinds(noisy_histories.changed(seed, series=CHANGED), ours, python)


def without_changes(seed: int, ours: Replay, python: Path | None) -> dict[str, Kind]:
    return _kinds(noisy_histories.still(seed, series=STILL), ours, python)


def together(kinds: dict[str, Kind]) -> Kind:
    every = list(kinds.values())
    theirs = [kind.theirs for kind in every if kind.theirs is not None]
    return Kind(
        [score for kind in every for score in kind.mine],
        [score for own in theirs for score in own] if theirs else None,
    )


def named(seed: int) -> dict[str, tuple[int, int]]:
    """Kind -> numbers of series without changes that are reported to drift, and to have a week's pattern."""
    found = {}
    for kind, series in noisy_histories.still(seed, series=STILL).items():
        seen = [patterns(one, [change.index for change in changes(one)]) for one in map(result_series, series)]
        found[kind] = (sum(each.drift is not None for each in seen), sum(each.season is not None for each in seen))
    return found


def result_series(history: KnownSeries, runs: int | None = None) -> ResultSeries:
    return ResultSeries(
        history.values[:runs],
        days=[FIRST_DAY + day for day in history.days[:runs]],
        machines=[f"machine {each}" for each in history.machines[:runs]],
    )


def _kinds(series: dict[str, list[KnownSeries]], ours: Replay, python: Path | None) -> dict[str, Kind]:
    found = {}
    for kind, own in series.items():
        theirs = None
        if python:
            replays = otava.replayed(python, own, first=SHORTEST)
            theirs = [
                histories.scored(each, histories.alarms_of(replay.indices, first=SHORTEST))
                for each, replay in zip(own, replays, strict=True)
            ]
        found[kind] = Kind([histories.scored(each, ours(each)) for each in own], theirs)
    return found
