import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from apps.regressions.detection import (
    DEFAULT_LIMITS,
    ChangeLimits,
    ChangePoint,
    ResultSeries,
    change_points,
    changes,
    noise,
)
from apps.regressions.detection.change_points import welch
from apps.regressions.detection.series import ALIKE
from bench import histories
from bench.histories import Alarm, Floats, Score

RUNS = 60
AT = 35


def a_series(*ratios_at: tuple[int, float], runs: int = RUNS, variation: float = 0.01, seed: int = 1) -> Floats:
    """About 1,000, times each ratio from its run on."""
    y = np.random.default_rng(seed).normal(math.log(1000), variation, runs)
    for at, ratio in ratios_at:
        y[at:] += math.log(ratio)
    return np.exp(y)


def changes_in(values: ArrayLike, **fields: Any) -> list[ChangePoint]:
    return changes(ResultSeries(np.asarray(values, dtype=np.float64), **fields))


def the_change(values: Floats) -> ChangePoint:
    (change,) = changes_in(values)
    return change


def test_a_change_is_reported_with_its_place_ratio_interval_and_the_runs_after_it() -> None:
    change = the_change(a_series((AT, 0.9)))
    assert abs(change.index - AT) <= 1
    assert change.low < 0.9 < change.high
    assert change.low < change.ratio < change.high
    assert change.p < DEFAULT_LIMITS.significant
    assert change.runs_after == RUNS - change.index


def test_a_level_ends_where_the_next_begins() -> None:
    found = changes_in(a_series((20, 0.9), (40, 1.2)))
    assert [change.runs_after for change in found] == [found[1].index - found[0].index, RUNS - found[1].index]


def test_reciprocal_values_turn_every_ratio_over() -> None:
    for history in histories.synthetic(11, series=8):
        there, back = changes_in(history.values), changes_in(1 / history.values)
        assert [change.index for change in back] == [change.index for change in there]
        assert [1 / change.ratio for change in back] == pytest.approx([change.ratio for change in there])
        assert [1 / change.high for change in back] == pytest.approx([change.low for change in there])


@pytest.mark.parametrize("factor", [1e-9, 0.001, 3600.0, 1e12])
def test_the_unit_does_not_matter(factor: float) -> None:
    for history in histories.synthetic(12, series=4):
        there, scaled = changes_in(history.values), changes_in(history.values * factor)
        assert [change.index for change in scaled] == [change.index for change in there]
        assert [change.ratio for change in scaled] == pytest.approx([change.ratio for change in there])


@pytest.mark.parametrize("runs", [10, 11, 200, 700])
def test_a_constant_series_has_no_change(runs: int) -> None:
    assert changes_in(np.full(runs, 123.4)) == []


def test_without_any_noise_a_step_is_one_change() -> None:
    change = the_change(np.repeat([1000.0, 900.0], 20))
    assert change.index == 20
    assert change.ratio == pytest.approx(0.9)


@pytest.mark.parametrize("values", [[], [5.0], [1.0, 2.0] * 4 + [1.0]])
def test_fewer_than_ten_runs_have_no_change(values: list[float]) -> None:
    assert changes_in(values) == []


@pytest.mark.parametrize("value", [math.nan, math.inf, 0.0, -3.0])
def test_a_value_without_logarithm_is_refused_by_its_run(value: float) -> None:
    values = a_series()
    values[17] = value
    with pytest.raises(ValueError, match=r"run 17 is .*: leave out runs without a positive value"):
        changes_in(values)


def test_a_table_is_no_series() -> None:
    with pytest.raises(ValueError, match="one dimension"):
        changes_in(np.ones((3, 20)))


@pytest.mark.parametrize("side", [1, 2, 3])
def test_three_runs_of_another_level_are_no_change_yet(side: int) -> None:
    values = a_series((RUNS - side, 0.5), variation=0.005)
    assert changes_in(values) == []
    assert changes_in(values[::-1]) == []


def test_four_runs_of_another_level_are_a_change_where_a_release_begins() -> None:
    values = a_series((RUNS - 4, 0.5), variation=0.005)
    assert [change.index for change in changes_in(values, boundaries=[RUNS - 4])] == [RUNS - 4]


def test_elsewhere_seven_runs_are_a_change_and_six_may_be_a_burst() -> None:
    assert changes_in(a_series((RUNS - 6, 0.5), variation=0.005)) == []
    assert the_change(a_series((RUNS - 7, 0.5), variation=0.005)).index == RUNS - 7


def test_a_level_that_returns_within_fifteen_runs_is_a_burst_unless_a_release_brought_it() -> None:
    values = a_series((30, 0.8), (38, 1.25), variation=0.005)
    assert changes_in(values) == []
    assert [change.index for change in changes_in(values, boundaries=[30, 38])] == [30, 38]


def test_how_certain_a_place_is_follows_from_the_likelihood_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_points, "WINSORISED", 99.0)
    for ratio in (1.005, 1.01, 1.1):
        window = ResultSeries(a_series((AT, ratio), variation=0.004)).window(0, RUNS)
        split = window.split(AT, [])
        sides = [window.y[side] for side in split.sides]
        levels = [side.mean() for side in sides]
        scale = max(window.noise.scale, np.std([each - side.mean() for side in sides for each in side]))
        likely = np.zeros(RUNS)
        for place in range(1, RUNS):
            level = np.where(np.arange(RUNS) < place, *levels)
            loss = np.minimum(((window.y - level) / scale) ** 2, noise.ODD**2).sum()
            likely[place] = math.exp(-loss / 2 / window.noise.inflation)
        near = likely[AT - ALIKE : AT + ALIKE + 1].sum() / likely.sum()
        assert change_points.certainty(window, split) == pytest.approx(near)
    assert near > 0.999


def test_single_odd_runs_are_no_change() -> None:
    values = a_series()
    values[[9, 24, 25, 40, 58]] *= [0.3, 0.5, 0.4, 2.0, 0.2]
    assert changes_in(values) == []


def test_a_shift_under_half_a_percent_is_no_change_however_sure() -> None:
    assert changes_in(a_series((100, 1.003), runs=200, variation=0.0005)) == []
    assert changes_in(a_series((100, 1.008), runs=200, variation=0.0005))


def test_what_counts_as_a_change_may_be_set() -> None:
    values = a_series((AT, 0.97), runs=RUNS)
    assert the_change(values).ratio == pytest.approx(0.97, abs=0.01)
    assert changes_in(values, limits=ChangeLimits(smallest=0.05)) == []
    assert changes_in(values, limits=ChangeLimits(significant=1e-60)) == []


@pytest.mark.parametrize(
    ("ratio", "smallest", "is_reported"), [(0.53, 0.48, False), (0.53, 0.46, True), (1.6, 0.55, True)]
)
def test_a_size_is_a_share_of_the_value_up_and_down(ratio: float, smallest: float, is_reported: bool) -> None:
    """A fall of 47 % is none of 90 %, though its logarithm is that of a rise by as much."""
    values = a_series((AT, ratio), variation=0.002)
    assert bool(changes_in(values, limits=ChangeLimits(smallest=smallest))) is is_reported


@pytest.mark.parametrize("limits", [{"smallest": 0.0}, {"smallest": 1.0}, {"significant": 0.0}, {"significant": 0.01}])
def test_limits_that_make_no_sense_are_refused(limits: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"not (0|1|0\.01)"):
        ChangeLimits(**limits)


def test_what_changes_with_the_hardware_is_no_finding() -> None:
    values = a_series((30, 0.5), (80, 0.9), runs=100)
    assert [round(change.ratio, 1) for change in changes_in(values)] == [0.5, 0.9]
    assert [round(change.ratio, 1) for change in changes_in(values, resets=[30])] == [0.9]


@pytest.mark.parametrize("reset", [-1, RUNS + 1])
def test_a_reset_outside_the_series_is_refused(reset: int) -> None:
    with pytest.raises(ValueError, match="not all within the series of 60 runs"):
        changes_in(a_series(), resets=[reset])


def test_only_the_last_five_hundred_runs_count() -> None:
    values = a_series((50, 0.5), (600, 0.9), runs=700)
    (change,) = changes_in(values)
    assert abs(change.index - 600) <= 1


def test_noise_is_distinguished_from_levels_and_odd_runs() -> None:
    y = np.log(a_series((60, 0.7), (120, 1.3), runs=200, variation=0.02, seed=4))
    y[[5, 70, 71, 150]] += [2.0, -1.0, -1.0, 1.0]
    found = noise.estimate(y)
    assert found.scale == pytest.approx(0.02, rel=0.25)
    assert found.correlation < 0.2


def test_runs_that_resemble_the_one_before_count_for_less() -> None:
    rng = np.random.default_rng(5)
    y = np.zeros(400)
    for run in range(1, 400):
        y[run] = 0.5 * y[run - 1] + rng.normal(0, 0.01)
    assert noise.estimate(y).inflation > 1.8


def test_labelled_changes_are_found() -> None:
    total = Score()
    for history in histories.labelled():
        alarms = [Alarm(change.index, len(history.values)) for change in changes_in(history.values)]
        total += histories.scored(history, alarms)
    assert total.f1 >= 0.72


def test_four_changes_in_five_could_be_found_by_who_knows_where_they_are() -> None:
    """Else figures of made-up series say nothing of those that the method was chosen on."""
    limits = ChangeLimits(significant=1e-5)
    tests = []
    for history in histories.synthetic(31, series=80):
        window = ResultSeries(history.values, limits=limits).window(0, len(history.values))
        tests += [welch(window, window.split(at, history.changes)) for at in history.changes]
    assert np.mean([tested.p < limits.significant for tested in tests]) == pytest.approx(0.8, abs=0.06)


@pytest.mark.parametrize("printed", ["to 2 %", "two values", "on sysbench's grid"])
def test_rounding_to_a_grid_is_no_change_of_level(printed: str) -> None:
    """Half of the neighbours are equal there: without the grid's own noise 7 to 29 of 1,000 runs raise an alarm."""
    random = np.random.default_rng(12)
    found = 0
    for _ in range(20):
        if printed == "two values":
            values = np.where(random.random(200) < 0.4, 0.10, 0.11)
        elif printed == "to 2 %":
            values = np.round(100 * np.exp(random.normal(0, 0.01, 200)) / 2) * 2
        else:
            values = np.exp(np.round((math.log(10) + random.normal(0, 0.01, 200)) / 0.018) * 0.018)
        found += len(changes_in(values))
    assert found <= 4


def test_a_step_between_constant_values_or_on_a_grid_is_still_found() -> None:
    for ratio in (1.006, 1.01, 1.03, 1.1):
        assert abs(the_change(np.where(np.arange(RUNS) < AT, 100.0, 100.0 * ratio)).index - AT) <= 1
    coarse = np.round(a_series((AT, 0.9)) / 20) * 20
    assert abs(the_change(coarse).index - AT) <= 2
