"""Our detector beside Apache Otava's on the second generator: each kind of noise, with changes and without.

Both are replayed run by run. Ours is given what the product knows of a run: its day, its session, and its machine where
it has a name.
"""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from apps.regressions.detection import CANARY_STEP, HostMeasure, ResultSeries, changes, patterns
from bench import histories, noisy_histories, otava
from bench.histories import Alarm, KnownSeries, ScorePairs

CHANGED, STILL = 20, 50  # series of each kind
FIRST_DAY = 738_000

Replay = Callable[[KnownSeries], list[Alarm]]


def with_changes(seed: int, ours: Replay, python: Path | None) -> dict[str, ScorePairs]:
    return _kinds(noisy_histories.changed(seed, series=CHANGED), ours, python)


def without_changes(seed: int, ours: Replay, python: Path | None) -> dict[str, ScorePairs]:
    return _kinds(noisy_histories.still(seed, series=STILL), ours, python)


def together(kinds: dict[str, ScorePairs]) -> ScorePairs:
    every = list(kinds.values())
    theirs = [kind.theirs for kind in every if kind.theirs is not None]
    return ScorePairs(
        [score for kind in every for score in kind.mine],
        [score for own in theirs for score in own] if theirs else None,
    )


def named(seed: int) -> dict[str, Counter[str]]:
    """Kind -> numbers of series without changes that are reported with each pattern."""
    return {
        kind: Counter(name for one in map(result_series, series) for name in _patterns(one))
        for kind, series in noisy_histories.still(seed, series=STILL).items()
    }


def _patterns(series: ResultSeries) -> list[str]:
    found = patterns(series, [change.index for change in changes(series)])
    reported = {"drift": found.drift, "season": found.season, "machines": found.machines, "bursts": found.bursts}
    return [name for name, pattern in reported.items() if pattern]


def result_series(history: KnownSeries, runs: int | None = None) -> ResultSeries:
    """What the product knows of the first `runs` runs."""
    sign = -1 if history.falls else 1
    measured = ("canary", np.log(history.canary) / CANARY_STEP), ("stolen", np.array(history.stolen))
    return ResultSeries(
        history.values[:runs],
        boundaries=[place for place in history.releases if place < len(history.values[:runs])],
        days=[FIRST_DAY + day for day in history.days[:runs]],
        machines=[f"machine {each}" for each in history.machines[:runs]],
        sessions=history.sessions[:runs],
        host=[HostMeasure(name, values[:runs], sign) for name, values in measured if len(values)],
    )


def _kinds(series: dict[str, list[KnownSeries]], ours: Replay, python: Path | None) -> dict[str, ScorePairs]:
    found = {}
    # The peer has a processor of its own.
    with ThreadPoolExecutor(1) as pool:
        for kind, own in series.items():
            theirs = pool.submit(otava.scores, python, own) if python else None
            mine = [histories.scored(each, ours(each)) for each in own]
            found[kind] = ScorePairs(mine, theirs.result() if theirs else None)
    return found
