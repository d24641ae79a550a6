"""How steady one run was: spread, hiccups and worst second of its intervals."""

import numpy as np
import pytest
from numpy.typing import NDArray

from apps.comparison.stats.measures import dips
from apps.comparison.stats.measures.dips import DipSpan, steadiness
from apps.runs.samples.rates import Phase, of_values

MINUTE = Phase(0.0, 60.0)


def seconds(values: list[float], first: float = 1.0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    at: NDArray[np.float64] = np.arange(first, first + len(values))
    return at, np.array(values, np.float64)


def test_an_even_run_has_neither_spread_nor_hiccups() -> None:
    found = steadiness(*seconds([100.0] * 60), MINUTE)
    assert found is not None
    assert (found.variation, found.hiccups, found.worst) == (0.0, 0.0, 1.0)
    assert found.longest == DipSpan(0.0, 0.0)
    assert (found.step, found.count, found.observed) == (1.0, 60, 60.0)


def test_the_variation_is_what_the_stored_statistics_say() -> None:
    values = np.random.default_rng(1).gamma(20, 50, 60)
    at: NDArray[np.float64] = np.arange(1.0, 61.0)
    found = steadiness(at, values, MINUTE)
    (stored,) = of_values(at - 0.5, values, (MINUTE,), lengths=np.ones(60))
    assert found is not None
    assert stored.stddev
    assert stored.mean
    assert found.variation == pytest.approx(stored.stddev / stored.mean)
    assert (found.box.least, found.box.p50, found.box.p95) == pytest.approx((stored.minimum, stored.p50, stored.p95))


def test_hiccups_are_counted_by_time_and_the_longest_is_found_where_it_was() -> None:
    values = [100.0] * 60
    for second in (10, 30, 31, 32):
        values[second] = 20.0
    found = steadiness(*seconds(values), MINUTE)
    assert found is not None
    assert found.hiccups == pytest.approx(4 / 60)
    assert found.longest == DipSpan(30.0, 33.0)
    assert (found.worst, found.worst_at) == (0.2, 11.0)


def test_half_the_median_is_no_hiccup_and_just_below_is_one() -> None:
    found = [steadiness(*seconds([100.0] * 20 + [low]), MINUTE) for low in (50.0, 49.9)]
    assert [each and each.hiccups and round(each.hiccups, 4) for each in found] == [0.0, round(1 / 21, 4)]


def test_only_the_measured_phase_counts_by_the_middles_of_the_intervals() -> None:
    values = [1.0] * 10 + [100.0] * 20 + [1.0] * 10
    found = steadiness(*seconds(values), Phase(10.0, 30.0))
    assert found is not None
    assert (found.count, found.worst, found.hiccups) == (20, 1.0, 0.0)


def test_the_first_interval_of_the_phase_is_as_long_as_it_was() -> None:
    ends = np.array([1.0, 2.15, 3.15, 4.15, 5.15, 6.15])
    found = steadiness(ends, np.array([90.0, 40.0, 100.0, 100.0, 100.0, 100.0]), Phase(1.0, 7.0))
    assert found is not None
    assert found.count == 5
    assert found.observed == pytest.approx(5.15)
    assert found.mean == pytest.approx((1.15 * 40 + 400) / 5.15)


def test_a_gap_ends_a_hiccup_and_what_was_not_observed_is_no_part_of_the_time() -> None:
    at = np.array([*range(1, 21), *range(31, 51)], float)
    values = np.full(40, 100.0)
    values[18:22] = 10.0  # seconds 19, 20, then 31, 32 with ten unobserved ones between
    found = steadiness(at, values, MINUTE)
    assert found is not None
    assert found.longest is not None
    assert found.longest.length == pytest.approx(2.0, abs=0.3)
    assert found.observed == pytest.approx(40.0, abs=0.3)


def test_a_run_that_mostly_stood_still_has_dips_against_what_it_did_otherwise() -> None:
    found = steadiness(*seconds([0.0] * 40 + [100.0] * 10), MINUTE)
    assert found is not None
    assert found.hiccups == pytest.approx(0.8)
    assert found.longest is not None
    assert (found.longest.length, found.worst) == (40.0, 0.0)
    assert found.variation == pytest.approx(2.0)


def test_a_run_that_did_nothing_has_no_share_of_anything() -> None:
    found = steadiness(*seconds([0.0] * 50), MINUTE)
    assert found is not None
    assert (found.variation, found.hiccups, found.longest, found.worst) == (None, None, None, None)


def test_a_few_seconds_tell_nothing() -> None:
    assert steadiness(*seconds([100.0] * (dips.FEWEST_VALUES - 1)), MINUTE) is None
    assert steadiness(np.zeros(0), np.zeros(0), MINUTE) is None
    assert steadiness(*seconds([float("nan")] * 60), MINUTE) is None


def test_runs_of_other_intervals_are_distinguished() -> None:
    assert dips.usual_step([1.0, 1.01, 10.0]) in (1.0, 1.01)
    assert dips.is_same_step(1.0, 1.1)
    assert not dips.is_same_step(1.0, 2.0)
    assert dips.usual_step([]) is None


def test_longer_intervals_vary_less_so_that_they_are_not_compared_with_short_ones() -> None:
    values = np.random.default_rng(2).gamma(4, 25, 600)
    at: NDArray[np.float64] = np.arange(1.0, 601.0)
    ones = steadiness(at, values, Phase(0, 600))
    tens = steadiness(at[9::10], values.reshape(60, 10).mean(axis=1), Phase(0, 600))
    assert ones is not None
    assert tens is not None
    assert ones.variation is not None
    assert tens.variation is not None
    assert tens.variation < ones.variation / 2
    assert not dips.is_same_step(ones.step, tens.step)
