"""A trend over the order of repetitions, against least squares and chance."""

import numpy as np
import pytest

from apps.comparison.stats.order_trend import order_trend

# Throughput of the example study's repetitions, recorded by an independent check: it falls by 3.4 % each time.
FALLING = (7056.0, 6616.0, 6262.0, 5989.0)


def test_the_slope_is_that_of_least_squares_with_a_level_of_each_group() -> None:
    random = np.random.default_rng(1)
    groups = [np.exp(level - 0.05 * np.arange(count) + random.normal(0, 0.01, count)) for level, count in
              ((5, 4), (6, 6), (7, 3))]  # fmt: skip
    found = order_trend([tuple(group) for group in groups])
    design = np.zeros((13, 4))
    row = 0
    for number, group in enumerate(groups):
        for place in range(len(group)):
            design[row, number], design[row, 3] = 1, place
            row += 1
    y = np.log(np.concatenate(groups))
    solved, rest, *_ = np.linalg.lstsq(design, y, rcond=None)
    assert found is not None
    assert np.log1p(found.change) == pytest.approx(solved[3])
    error = np.sqrt(rest[0] / 9 * np.linalg.inv(design.T @ design)[3, 3])
    assert np.log1p(found.high) - np.log1p(found.low) == pytest.approx(2 * 2.262157 * error, rel=1e-5)


def test_a_fall_of_5_percent_a_repetition_is_seen_and_one_group_of_four_is_too_few() -> None:
    found = order_trend([FALLING, tuple(value * 1.3 for value in FALLING[::1])])
    assert found is not None
    assert found.change == pytest.approx(-0.053, abs=0.002)
    assert order_trend([FALLING]) is None


def test_repetitions_without_a_trend_show_one_in_one_of_a_hundred_cases() -> None:
    random = np.random.default_rng(2)
    drawn = np.exp(random.normal(0, 0.02, (2000, 6, 4)))
    found = sum(order_trend([tuple(group) for group in groups]) is not None for groups in drawn)
    assert 8 <= found <= 40


@pytest.mark.parametrize("groups", [[], [(1.0,)] * 9, [(0.0, 1.0, 2.0)] * 4, [(5.0, 5.0, 5.0)] * 4])
def test_without_runs_spread_or_positive_values_there_is_no_trend(groups: list[tuple[float, ...]]) -> None:
    assert order_trend(groups) is None
