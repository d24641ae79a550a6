"""Noise that wanders is no change of level: few false alarms beside each kind, and changes beside it are found.

Seeds are fixed: the outcome is the same each time.
"""

import numpy as np
import pytest

from apps.regressions.detection import ResultSeries, changes, patterns
from bench import noise_kinds, noisy_histories
from bench.detection import ours
from bench.histories import Floats, KnownSeries, Score, scored

SEED = 41


def still(kind: str, *, series: int = 20) -> list[KnownSeries]:
    return noisy_histories.noisy(SEED, kind, series=series, changed=False)


def places(series: ResultSeries) -> list[int]:
    return [change.index for change in changes(series)]


@pytest.mark.parametrize("kind", ["autocorrelation", "weekdays", "drift", "grid", "outliers", "two machines"])
def test_noise_without_changes_raises_next_to_no_alarm(kind: str) -> None:
    """4,000 runs each: the detector of before raised 5 to 26 in 1,000 beside some of these."""
    assert sum(len(places(noise_kinds.result_series(each))) for each in still(kind)) <= 2


def test_a_change_beside_noise_that_wanders_is_found_run_by_run() -> None:
    total = Score()
    for kind in ("autocorrelation", "two machines", "weekdays"):
        for each in noisy_histories.noisy(SEED, kind, series=5, changed=True):
            total += scored(each, ours(each))
    assert total.recall >= 0.7
    assert total.precision >= 0.85


def test_a_drift_is_reported_as_one_with_an_interval_that_holds_it() -> None:
    covered = 0
    for each in still("drift"):
        series = noise_kinds.result_series(each)
        drift = patterns(series, places(series)).drift
        assert drift is not None
        assert drift.by_week
        assert drift.runs == pytest.approx(7)
        change = drift.change
        assert change.low < change.value < change.high
        slope = np.polyfit(np.arange(200), np.log(each.values), 1)[0]
        covered += change.low < np.expm1(7 * slope) < change.high
    assert covered >= 18


@pytest.mark.parametrize("kind", ["autocorrelation", "sticky modes", "sessions", "skew", "bursts"])
def test_what_only_wanders_does_not_drift(kind: str) -> None:
    seen = [patterns(noise_kinds.result_series(each), ()) for each in still(kind)]
    assert sum(each.drift is not None for each in seen) <= 1
    assert not any(each.season for each in seen)


def test_a_level_change_is_no_drift() -> None:
    for seed in range(10):
        y = np.random.default_rng(seed).normal(0, 0.01, 120)
        y[60:] += 0.05
        series = ResultSeries(np.exp(y))
        assert patterns(series, places(series)).drift is None


def weekends(*, off: float = 0.03, step: float = 0.0, runs: int = 120) -> tuple[Floats, list[int]]:
    """A run a day from a Monday on; weekends are off, and so is all from run 80 on."""
    days = list(range(738_001 - 738_001 % 7 + 1, 738_001 - 738_001 % 7 + 1 + runs))
    y = np.random.default_rng(3).normal(0, 0.01, runs)
    y += off * np.array([(day - 1) % 7 >= 5 for day in days])
    y[80:] += step
    return np.exp(y), days


def test_weekends_are_a_season_and_a_step_beside_them_is_found() -> None:
    values, days = weekends(step=-0.03)
    series = ResultSeries(values, days=days)
    season = patterns(series, ()).season
    assert season is not None
    values = season.values
    assert min(values[5:]) - max(values[:5]) == pytest.approx(0.03, abs=0.012)
    assert all(each and each.low < each.value < each.high < each.low + 0.02 for each in season.effects)
    assert season.range < 0.045
    (index,) = places(series)
    assert abs(index - 80) <= 3


def machines(*, step: float) -> tuple[Floats, list[str]]:
    """Two machines in turns of 8 runs, 4 % apart; all is off from run 75 on, within a turn."""
    names = [("a", "b")[run // 8 % 2] for run in range(140)]
    y = np.random.default_rng(4).normal(0, 0.01, 140) + 0.04 * np.array([name == "b" for name in names])
    y[75:] += step
    return np.exp(y), names


def test_machines_in_turns_are_no_changes_and_their_effect_is_named() -> None:
    values, names = machines(step=0)
    series = ResultSeries(values, machines=names)
    assert places(series) == []
    effects = dict(patterns(series, ()).machines)
    assert effects["b"].low < 0.02 < effects["b"].high
    assert effects["a"].low < -0.02 < effects["a"].high


def test_a_change_on_both_machines_is_found() -> None:
    values, names = machines(step=-0.05)
    (index,) = places(ResultSeries(values, machines=names))
    assert abs(index - 75) <= 2


def test_a_change_together_with_a_new_machine_is_not_told_from_it() -> None:
    values = np.exp(np.random.default_rng(5).normal(0, 0.01, 60) + 0.1 * (np.arange(60) >= 30))
    assert places(ResultSeries(values, machines=["a"] * 30 + ["b"] * 30)) == []
    assert len(places(ResultSeries(values))) == 1


def test_days_and_machines_of_another_number_of_runs_are_refused() -> None:
    with pytest.raises(ValueError, match="days are those of 3 runs, the series has 2"):
        ResultSeries(np.ones(2), days=[1, 2, 3])


def test_a_series_without_covariates_has_the_changes_that_it_has_with_equal_ones() -> None:
    values = np.exp(np.random.default_rng(6).normal(0, 0.01, 80) - 0.05 * (np.arange(80) >= 40))
    assert places(ResultSeries(values)) == places(ResultSeries(values, days=[5] * 80, machines=["a"] * 80))
