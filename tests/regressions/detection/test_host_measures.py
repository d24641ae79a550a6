"""A host that is slower at times explains what it explains: that is no change, and changes beside it are found.

Seeds are fixed: the outcome is the same each time.
"""

import numpy as np
import pytest

from apps.regressions.detection import HostMeasure, ResultSeries, changes, patterns
from bench.histories import Floats

RUNS = 160


def speeds(seed: int, *, runs: int = RUNS) -> Floats:
    """In steps: the host's speed comes and goes in spells of 10 to 30 runs, a step or two apart."""
    rng = np.random.default_rng(seed)
    spells = np.repeat(rng.normal(0, 1, runs), rng.integers(10, 31, runs))[:runs]
    return spells + rng.normal(0, 0.1, runs)


def series(x: Floats, *, seed: int = 1, step: float = 0.0, effect: float = -0.08, sign: int = -1) -> ResultSeries:
    """`step`: of the logarithm from run 80 on; `effect`: of a step of the host's measure."""
    y = effect * np.nan_to_num(x) + np.random.default_rng(seed).normal(0, 0.01, len(x))
    y[80:] += step
    return ResultSeries(np.exp(y), host=[HostMeasure("canary", x, sign)])


def places(found: ResultSeries) -> list[int]:
    return [change.index for change in changes(found)]


def test_a_host_that_slows_down_at_times_is_no_change_and_its_effect_is_named() -> None:
    x = speeds(1)
    found = series(x)
    assert places(ResultSeries(found.values)) != []
    assert places(found) == []
    ((name, effect),) = patterns(found, ()).host
    assert name == "canary"
    assert effect.low < np.expm1(-0.08) < effect.high < 0


def test_the_interval_of_an_effect_holds_it_in_about_95_of_100_series() -> None:
    held = 0
    for seed in range(100):
        ((_, effect),) = patterns(series(speeds(seed), seed=1000 + seed), ()).host
        held += effect.low < np.expm1(-0.08) < effect.high
    assert 88 <= held <= 100


def test_a_change_while_the_host_changes_too_is_found_with_its_own_size() -> None:
    for seed in range(5):
        x = speeds(seed)
        x[80:] += 1
        (found,) = changes(series(x, seed=seed, step=-0.05))
        assert abs(found.index - 80) <= 3
        assert found.ratio == pytest.approx(0.95, abs=0.01)


def test_a_change_of_the_host_alone_is_none_of_the_server() -> None:
    x = speeds(3)
    x[80:] += 2
    assert places(series(x, seed=3)) == []


def test_a_measure_that_varies_as_much_as_the_values_still_explains_levels() -> None:
    for seed in range(5):
        slow = np.repeat([0.0, 2.0, 0.5, 1.5], 40)
        rng = np.random.default_rng(seed)
        values = np.exp(-0.1 * slow + rng.normal(0, 0.01, RUNS))
        told = slow + rng.normal(0, 0.1, RUNS)
        assert len(places(ResultSeries(values))) == 3
        assert places(ResultSeries(values, host=[HostMeasure("canary", told, -1)])) == []


def test_a_measure_that_nothing_follows_is_left_alone() -> None:
    for seed in range(40):
        found = series(speeds(seed), seed=seed, effect=0.0, step=0.05)
        assert patterns(found, ()).host == ()
        assert len(places(found)) == 1


def test_a_series_that_rises_where_the_host_is_slower_does_not_follow_it() -> None:
    found = series(speeds(1), effect=0.08)
    assert patterns(found, ()).host == ()
    assert patterns(series(speeds(1), effect=0.08, sign=1), ()).host != ()


def test_runs_without_a_measure_are_kept_and_works_of_two_kinds_are_not_compared() -> None:
    x = speeds(1)
    x[:40] = np.nan
    assert len(patterns(series(x), ()).host) == 1
    # Another version of the language does the same work in half the time.
    raw = speeds(1)
    y = -0.08 * raw + np.random.default_rng(1).normal(0, 0.01, RUNS)
    told = raw - 7 * (np.arange(RUNS) >= 80)
    kinds = ["old"] * 80 + ["new"] * 80
    found = ResultSeries(np.exp(y), host=[HostMeasure("canary", told, -1, kinds)])
    ((_, effect),) = patterns(found, ()).host
    assert effect.value == pytest.approx(np.expm1(-0.08), abs=0.01)
    assert places(found) == []
    assert places(ResultSeries(np.exp(y), host=[HostMeasure("canary", told, -1)])) == [80]


def test_a_measure_known_of_too_few_runs_says_so() -> None:
    with pytest.raises(ValueError, match="canary are those of 3 runs, the series has 160"):
        ResultSeries(np.ones(RUNS), host=[HostMeasure("canary", np.ones(3), -1)])
