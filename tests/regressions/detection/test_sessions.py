"""Runs of one session share an offset: a session that is off is no change, and a change of many sessions is found.

Seeds are fixed: the outcome is the same each time.
"""

import numpy as np
import pytest

from apps.regressions.detection import ResultSeries, changes, detectable, patterns

SESSIONS, RUNS = 40, 5
BETWEEN, WITHIN = 0.015, 0.005


def series(
    seed: int,
    *,
    step: float = 0.0,
    between: float = BETWEEN,
    sessions: int = SESSIONS,
    runs: int = RUNS,
    known: bool = True,
) -> ResultSeries:
    """`step`: of the logarithm from the second half of the sessions on; `known`: whether sessions are."""
    rng = np.random.default_rng(seed)
    y = np.repeat(rng.normal(0, between, sessions), runs) + rng.normal(0, WITHIN, sessions * runs)
    y[sessions // 2 * runs :] += step
    return ResultSeries(np.exp(y), sessions=[run // runs for run in range(len(y))] if known else ())


def alarms(*, known: bool) -> int:
    return sum(len(changes(series(seed, sessions=12, runs=8, known=known))) for seed in range(60))


def test_equal_sessions_that_differ_raise_a_tenth_of_the_alarms_where_they_are_known() -> None:
    told, untold = alarms(known=True), alarms(known=False)
    assert untold >= 20
    assert told <= untold / 10


def test_the_interval_of_a_change_holds_its_size_in_about_95_of_100_series() -> None:
    ratios = [change for seed in range(120) for change in changes(series(seed, step=-0.06)) if change.index == 100]
    assert len(ratios) >= 80
    held = sum(change.low < np.exp(-0.06) < change.high for change in ratios)
    assert held >= 0.9 * len(ratios)


def test_without_known_sessions_the_interval_of_a_change_is_too_narrow() -> None:
    told, untold = (
        np.mean(
            [change.high - change.low for seed in range(20) for change in changes(series(seed, step=-0.1, known=k))]
        )
        for k in (True, False)
    )
    assert told > 1.1 * untold


def test_a_session_at_another_level_is_no_change_unless_a_release_began_with_it() -> None:
    rng = np.random.default_rng(1)
    y = np.repeat(rng.normal(0, BETWEEN / 3, SESSIONS), RUNS) + rng.normal(0, WITHIN, SESSIONS * RUNS)
    y = y[:-RUNS].tolist() + (y[-RUNS:] - 0.2).tolist()
    values, sessions = np.exp(y), [run // RUNS for run in range(len(y))]
    start = len(y) - RUNS
    assert changes(ResultSeries(values, sessions=sessions)) == []
    (found,) = changes(ResultSeries(values, sessions=sessions, boundaries=[start]))
    assert found.index == start


def test_how_much_sessions_differ_is_told_with_an_interval_that_holds_it_in_about_95_of_100_series() -> None:
    told = [spread for seed in range(120) if (spread := patterns(series(seed), ()).sessions)]
    assert len(told) == 120
    assert 108 <= sum(spread.low < BETWEEN < spread.high for spread in told) <= 119
    assert np.mean([spread.within for spread in told]) == pytest.approx(WITHIN, rel=0.02)
    assert {spread.sessions for spread in told} == {SESSIONS}


def test_sessions_that_do_not_differ_are_not_told_and_cost_few_changes() -> None:
    found = untold = 0
    for seed in range(60):
        own = series(seed, between=0.0, step=-0.006)
        places = [change.index for change in changes(own)]
        found += len(places)
        untold += len(changes(series(seed, between=0.0, step=-0.006, known=False)))
        assert patterns(own, places or [SESSIONS // 2 * RUNS]).sessions is None
    assert untold >= 30
    assert found >= 0.8 * untold


def test_where_sessions_differ_the_change_that_is_said_to_be_detectable_is_found_in_about_80_of_100_series() -> None:
    found = 0
    for seed in range(100):
        told, untold = (detectable(series(seed, sessions=20, known=known)).effect for known in (True, False))
        assert told is not None
        assert untold is not None
        assert told > untold
        own = series(seed, step=np.log1p(told))
        end = SESSIONS // 2 * RUNS + 10
        ended = ResultSeries(own.values[:end], sessions=own.sessions[:end], boundaries=[end - 10])
        found += bool(changes(ended))
    assert 65 <= found <= 95


def test_equal_sessions_of_values_on_a_coarse_grid_raise_no_alarm() -> None:
    for seed in range(20):
        own = series(seed, between=0.004)
        rounded = np.round(own.values / 0.02) * 0.02
        assert changes(ResultSeries(rounded, sessions=own.sessions)) == []
