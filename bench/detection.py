"""Change points in trends: our detector compared with Apache Otava's, on series with known changes.

Synthetic series are replayed: both analyse the series again after every run, and report each change once. Seeds are new
for every bench and stored with the figures. Labelled windows are analysed once, as a whole.
"""

import secrets
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Literal

from apps.regressions.detection import SHORTEST, ChangePoint, ResultSeries, changes, follow
from bench import histories, lab_histories, noise_kinds, otava, results
from bench.context import Bench
from bench.histories import Alarm, Floats, KnownSeries, Score, ScorePairs
from bench.lab_sessions import SESSIONS
from bench.results import Figure

SERIES = 200
# Number of series added run by run: 100,000 runs.
LOADED = 500
PART, HISTORIES = "detection", "histories"
F1, LABELLED_F1, FALSE_PER_1000 = 0.88, 0.72, 1.0
# On the second generator, and of each kind of noise.
NOISY_F1, NOISY_FALSE, KIND_FALSE = 0.79, 0.4, 2.0
SECONDS = 60.0


def ours(history: KnownSeries) -> list[Alarm]:
    """Alarms of a series to which runs are added one by one. As in the product, a change that is lost and found again
    is the same."""
    known: tuple[ChangePoint, ...] = ()
    gone: dict[int, ChangePoint] = {}
    alarms: list[Alarm] = []
    for count in range(1, len(history.values) + 1):
        series = noise_kinds.result_series(history, count)
        followed = follow(series, known, gone=list(gone.values()), analysed=count - 1)
        known = followed.changes
        gone |= {change.index: change for change in followed.lost}
        gone = {index: change for index, change in gone.items() if index not in {each.index for each in known}}
        alarms += [Alarm(change.index, count) for change in followed.found]
    return alarms


def ours_at_once(values: Floats) -> list[Alarm]:
    return [Alarm(change.index, len(values)) for change in changes(ResultSeries(values))]


def measure(bench: Bench, folder: Path) -> None:
    seed = secrets.randbits(32)
    bench.data["detection_seed"] = seed
    python = _peer(bench, folder)
    synthetic, labelled = histories.synthetic(seed, series=SERIES), histories.labelled()
    with ThreadPoolExecutor(1) as pool:
        theirs = pool.submit(otava.replayed, python, synthetic, first=SHORTEST) if python else None
        mine = [histories.scored(history, ours(history)) for history in synthetic]
        replays = theirs.result() if theirs else None
    pairs = ScorePairs(mine, otava.scored(synthetic, replays, first=SHORTEST) if replays else None)
    what = f"{len(mine)} synthetic series of {histories.RUNS} runs, replayed run by run"
    _report_scores(bench, "", what, pairs, f1=F1, false=FALSE_PER_1000)
    _report_close(bench, histories.close(seed + 2, series=SERIES))
    _report_noisy(bench, seed + 3, python)
    whole = len(labelled[0].values)
    at_once = otava.scores(python, labelled, first=whole) if python else None
    mine = [histories.scored(history, ours_at_once(history.values)) for history in labelled]
    what = f"{len(labelled)} windows of network latencies, labelled by hand"
    _report_f1(bench, "labelled", what, ScorePairs(mine, at_once), bar=LABELLED_F1)
    _report(
        bench, key="added", title=f"{LOADED * histories.RUNS:,} runs added one by one to {LOADED} series; the peer "
        f"from {SERIES} others, beside ours on the same processors",
        unit="s of CPU", mine=_added_one_by_one(histories.synthetic(seed + 1, series=LOADED)), bar=SECONDS,
        theirs=sum(replay.seconds for replay in replays) * LOADED / SERIES if replays else None,
    )  # fmt: skip


def measure_histories(bench: Bench, folder: Path) -> None:
    """Of the lab's own servers."""
    python = _peer(bench, folder)
    series = list(lab_histories.recorded().values())
    theirs = otava.scores(python, series) if python else None
    shown, undecided = sum(len(each.changes) for each in series), sum(len(each.unsure) for each in series)
    what = (
        f"{len(series)} histories of {SESSIONS} sessions of real servers: of {shown + undecided} changes of settings "
        f"{shown} changed the result, of {undecided} nobody can say"
    )
    pairs = ScorePairs([histories.scored(each, ours(each)) for each in series], theirs)
    # Without a bar: nearly every place is near one of which nobody can say, where an alarm counts neither way.
    _report_scores(bench, "", what, pairs, part=HISTORIES)
    told = [histories.scored(each, ours(replace(each, releases=each.changes + each.unsure))) for each in series]
    what += ", which ours knows as releases"
    _report_scores(bench, "told_", what, ScorePairs(told, theirs), part=HISTORIES)


def _peer(bench: Bench, folder: Path) -> Path | None:
    try:
        return otava.installed(folder)
    except otava.Unavailable as why:
        bench.absent[otava.NAME] = "not installed"
        bench.say(f"{otava.NAME} is not installed, it is skipped: {why}")
        return None


def _added_one_by_one(series: Sequence[KnownSeries]) -> float:
    """s of CPU."""
    began = time.process_time()
    for history in series:
        ours(history)
    return time.process_time() - began


def _report_scores(
    bench: Bench,
    prefix: str,
    what: str,
    pairs: ScorePairs,
    *,
    f1: float | None = None,
    false: float | None = None,
    part: str = PART,
) -> None:
    """Of a generator, or of histories, beside the peer's. `f1`, `false`: the targets."""
    mine, theirs, ahead = pairs.total(), pairs.peer(), pairs.ahead()
    _report_f1(bench, f"{prefix}f1", what, pairs, bar=f1, part=part)
    _report(
        bench, key=f"{prefix}ahead", title=f"F1, ours − theirs, lower bound; {what}", unit="of 1",
        mine=ahead[0] if ahead else None, own=ahead, theirs=None, bar=None if f1 is None else 0.0,
        better="higher", part=part,
    )  # fmt: skip
    titles = {"precision": "precision", "recall": "recall", "delay": "from a change to its alarm, median"}
    for key, title in titles.items():
        if (key == "delay" and not mine.found) or (key == "precision" and not mine.found + mine.false):
            continue
        is_known = theirs is not None and (key != "delay" or theirs.found > 0)
        _report(
            bench, key=f"{prefix}{key}", title=f"{title}; {what}", unit="runs" if key == "delay" else "of 1",
            mine=getattr(mine, key), theirs=getattr(theirs, key) if is_known else None,
            better="lower" if key == "delay" else "higher", part=part,
        )  # fmt: skip
    _report(
        bench, key=f"{prefix}false", title=f"false alarms; {what}", unit="per 1,000 runs", mine=mine.false_per_1000,
        own=pairs.false(), theirs=theirs.false_per_1000 if theirs else None, bar=false, part=part,
    )  # fmt: skip


def _report_noisy(bench: Bench, seed: int, python: Path | None) -> None:
    kinds = noise_kinds.with_changes(seed, ours, python)
    every = noise_kinds.together(kinds)
    what = f"second generator, {len(every.mine)} series of {histories.RUNS} runs of {len(kinds)} kinds of noise"
    _report_scores(bench, "noisy_", what, every, f1=NOISY_F1, false=NOISY_FALSE)
    for kind, own in kinds.items():
        _report_f1(bench, f"noisy_f1_{kind}", f"{kind}, {len(own.mine)} series", own)
    for kind, own in noise_kinds.without_changes(seed + 1, ours, python).items():
        peer = own.peer()
        _report(
            bench, key=f"still_{kind}", title=f"false alarms; {kind}, {len(own.mine)} series without changes",
            unit="per 1,000 runs", mine=own.total().false_per_1000, own=own.false(), bar=KIND_FALSE,
            theirs=peer.false_per_1000 if peer else None,
        )  # fmt: skip
    named = noise_kinds.named(seed + 1)
    for key, kind in (("drift", "drift"), ("season", "weekdays"), ("machines", "two machines"), ("bursts", "bursts")):
        others = sum(each[key] for name, each in named.items() if name != kind)
        title = f"series without changes reported with {key}: of {noise_kinds.STILL} of the kind {kind}"
        _report(
            bench, key=f"named_{key}", title=f"{title} ({others} of {noise_kinds.STILL * (len(named) - 1)} others)",
            unit="series", mine=float(named[kind][key]), theirs=None, better="higher",
        )  # fmt: skip


def _report_close(bench: Bench, series: Sequence[KnownSeries]) -> None:
    """Without a target or peer: a peer merges alarms this near to each other."""
    score = sum((histories.scored(history, ours(history)) for history in series), Score())
    apart = f"two changes {histories.CLOSEST} to {histories.APART - 1} runs apart"
    what = f"{len(series)} synthetic series of {histories.RUNS} runs with {apart}, replayed run by run"
    _report(bench, key="close", title=f"recall; {what}", unit="of 1", mine=score.recall, theirs=None, better="higher")
    _report(
        bench, key="close_false", title=f"false alarms; {what}", unit="per 1,000 runs", mine=score.false_per_1000,
        theirs=None,
    )  # fmt: skip


def _report_f1(
    bench: Bench, key: str, what: str, pairs: ScorePairs, *, bar: float | None = None, part: str = PART
) -> None:
    theirs = pairs.peer()
    _report(
        bench, key=key, title=f"F1; {what}", unit="of 1", mine=pairs.total().f1, own=pairs.f1(),
        theirs=theirs.f1 if theirs else None, bar=bar, better="higher",
        interval=pairs.ratio() if theirs and theirs.found else None,
        part=part,
    )  # fmt: skip


def _report(
    bench: Bench,
    *,
    key: str,
    title: str,
    unit: str,
    mine: float | None,
    theirs: float | None,
    bar: float | None = None,
    better: Literal["lower", "higher"] = "lower",
    interval: tuple[float, float] | None = None,
    own: tuple[float, float] | None = None,
    part: str = PART,
) -> None:
    """The target applies to our own value. `mine` None: the peer was needed. `interval`: of the ratio; `own`: of our
    value."""
    absent = bench.absent.get(otava.NAME)
    low, high = interval or (None, None)
    figure = Figure(
        key=f"{part}.{key}", part=part, title=title, unit=unit, better=better, measured_on=bench.today,
        peer=f"{otava.NAME} {otava.VERSION}" + (f" ({absent})" if absent else ""),
        ours=mine, theirs=theirs, ratio=mine / theirs if mine is not None and theirs else None,
        ours_low=own[0] if own else None, ours_high=own[1] if own else None,
        low=low, high=high, rounds=histories.RESAMPLED if interval else 1, limit_ours=bar,
        passed=None if mine is None or bar is None else results.holds(mine, bar, better),
        skipped=absent or "" if mine is None else "",
    )  # fmt: skip
    bench.figures.append(figure)
    bench.say(results.sentence(figure))
