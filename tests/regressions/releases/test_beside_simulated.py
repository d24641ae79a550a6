"""How often the gate errs with stalls and work per transaction among its rows, on releases drawn from known noise.
`main` prints the table of docs/why/release-gate.md."""

from functools import partial

import numpy as np
import pytest

from apps.comparison.stats import moderation, multiple_testing, rare_events, welch
from apps.comparison.stats.rare_events import Counted
from apps.comparison.stats.replicates import Sample
from apps.comparison.stats.welch import Direction, DraftRatio
from apps.regressions.detection import DEFAULT_LIMITS
from apps.regressions.releases import verdicts
from apps.regressions.releases.rows import SMALLEST_WORK, is_more_alone
from apps.regressions.releases.values import LATENCY_TOLERANCE, TOLERANCE, RowVerdict

WORKLOADS, SECONDS = 12, 60
# Of each workload: how many times as much as throughput it varies, its direction, and the smallest difference.
QUICK = (
    (1.0, Direction.HIGHER, DEFAULT_LIMITS.smallest, TOLERANCE),
    (3.0, Direction.LOWER, DEFAULT_LIMITS.smallest, LATENCY_TOLERANCE),
    (5.0, Direction.LOWER, DEFAULT_LIMITS.smallest, LATENCY_TOLERANCE),
)
WORK = ((1.0, Direction.LOWER, SMALLEST_WORK, LATENCY_TOLERANCE),) * 4


@pytest.fixture(autouse=True)
def without_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many repetitions are needed is not asked here, and most of the time."""
    monkeypatch.setattr(welch, "repetitions_needed", lambda *_, **__: 1)


def simulate(
    releases: int,
    *,
    sessions: int = 3,
    runs: int = 3,
    stalls: float = 0.3,
    stalled: float = 0.0,
    fsyncs: float = 1.0,
    beside: bool = True,
    seed: int = 5,
) -> tuple[float, float, float, float]:
    """Shares of releases: called a regression, fine, with the changed row called worse, and with dips worse or named.
    Sessions differ by 1 %, in
    each row by themselves. `stalls` of 1 to 10 s come to a run by chance, sessions differing by e^.5;
    of one workload the release stalls `stalled` s more in each run, or needs `fsyncs` times as many."""
    random = np.random.default_rng(seed)
    results = [_release(random, sessions, runs, stalls, stalled, fsyncs, beside=beside) for _ in range(releases)]
    regression, fine, found, named = np.mean(results, axis=0)
    return float(regression), float(fine), float(found), float(named)


def _release(
    random: np.random.Generator,
    sessions: int,
    runs: int,
    stalls: float,
    stalled: float,
    fsyncs: float,
    *,
    beside: bool,
) -> tuple[bool, bool, bool, bool]:
    numbers = [tuple(np.repeat(np.arange(sessions), runs).tolist()) for _ in range(2)]
    numbers[1] = tuple(1000 + each for each in numbers[1])
    rows: list[tuple[DraftRatio, Direction, float, float]] = []
    for place, (times, way, smallest, margin) in enumerate((*QUICK, *WORK) if beside else QUICK):
        drafts = []
        for workload in range(WORKLOADS):
            days = random.normal(0, 0.01 * times, (2, sessions, 1))
            logs = (days + random.normal(0, 0.01 * times, (2, sessions, runs))).reshape(2, -1)
            if place == len(QUICK) and workload == 0:
                logs[1] += np.log(fsyncs)
            sides = (
                Sample(tuple(np.exp(own).tolist()), sessions=which) for own, which in zip(logs, numbers, strict=True)
            )
            drafts.append(welch.draft(*sides))
        rows += [(draft, way, smallest, margin) for draft in moderation.moderated(drafts)]
    changed = len(QUICK) * WORKLOADS
    if beside:
        if stalled:
            changed = len(rows)
        for workload in range(WORKLOADS):
            more = stalled if workload == 0 else 0.0
            draft = rare_events.draft(_dips(random, numbers[0], stalls, 0.0), _dips(random, numbers[1], stalls, more))
            rows.append((draft, Direction.LOWER, DEFAULT_LIMITS.smallest, 1.0))
    ratios = multiple_testing.correct_for_many([each[0] for each in rows])
    found, coarse = [], False
    for ratio, (_, way, smallest, margin) in zip(ratios, rows, strict=True):
        word = verdicts.verdict(ratio, way, smallest)[0]
        found.append(word)
        coarse |= word is RowVerdict.INCONCLUSIVE and (verdicts.worst(ratio, way) or 0.0) > margin
    is_worse = RowVerdict.WORSE in found
    named = any(is_more_alone(ratio) for ratio in ratios if ratio.smoothed)
    return is_worse, not is_worse and not coarse, beside and found[changed] is RowVerdict.WORSE, named


def _dips(random: np.random.Generator, sessions: tuple[int, ...], stalls: float, extra: float) -> Counted:
    rates = {each: stalls * np.exp(random.normal(0, 0.5)) for each in sorted(set(sessions))}
    counts = [random.poisson(rates[each]) for each in sessions]
    seconds = [min(float(SECONDS), extra + float(random.integers(1, 11, count).sum())) for count in counts]
    return Counted(tuple(seconds), (float(SECONDS),) * len(sessions), sessions, what="s in dips", of="s")


@pytest.mark.parametrize("stalls", [0.02, 1.0])
def test_with_stalls_and_work_among_its_rows_an_unchanged_release_seldom_is_a_regression(stalls: float) -> None:
    """6 % at most; of this many chance alone shows more than 15 % once in a thousand."""
    assert simulate(60, stalls=stalls)[0] <= 0.15


def test_five_seconds_of_stall_in_each_run_are_named_and_fifteen_are_a_regression() -> None:
    """Of one workload of twelve, with 85 comparisons in the table."""
    assert simulate(15, stalls=0.02, stalled=5.0)[3] >= 0.9
    assert simulate(15, stalls=0.02, stalled=15.0)[2] >= 0.8


def test_three_times_the_fsyncs_of_one_workload_are_found() -> None:
    assert simulate(20, fsyncs=3.0)[2] >= 0.95


def main() -> None:
    for sessions, runs in ((3, 3), (5, 3)):
        of = partial(simulate, sessions=sessions, runs=runs)
        plain = of(400, beside=False)
        print(f"{sessions} x {runs} without: {plain[0]:.1%} {plain[1]:.0%}")  # noqa: T201
        for stalls in (0.02, 0.3, 1.0):
            same = of(300, stalls=stalls)
            stalled = [of(40, stalls=stalls, stalled=seconds)[2:] for seconds in (5.0, 15.0)]
            print(f"  stalls {stalls}: {same[0]:.1%} / {same[1]:.0%}, named {same[3]:.1%}; {stalled}")  # noqa: T201
        print([of(40, fsyncs=factor)[2] for factor in (1.15, 1.3, 3.0)])  # noqa: T201
