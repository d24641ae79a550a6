"""Percentiles of merged histograms: their intervals hold where sessions differ, and they are the merged ones."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from apps.comparison.stats.jackknife import FEWEST_BEYOND, pseudo_values
from apps.comparison.stats.replicates import Sample, geometric_mean, session_means
from apps.comparison.stats.welch import Ratio, Verdict, compare
from apps.runs.samples.histograms import SYSBENCH, HdrGrid, HistogramCounts, merge

FINE = HdrGrid(1, 100_000_000, 3, "us")
EDGES = np.array([FINE.bounds(bucket)[0] for bucket in range(FINE.size)])
PERCENTS = (50.0, 99.0)
TRANSACTIONS = 2000
TABLES = 80
Draw = tuple[list[HistogramCounts], list[int]]


def histogram(latencies: NDArray[np.float64]) -> HistogramCounts:
    """Of latencies in ms."""
    buckets, counts = np.unique(np.searchsorted(EDGES, latencies, side="right") - 1, return_counts=True)
    return HistogramCounts(FINE, tuple(buckets.tolist()), tuple(counts.tolist()))


def a_side(random: np.random.Generator, *, sessions: int, runs: int, between: float, scale: float = 1.0) -> Draw:
    """Lognormal latencies around `scale` × 10 ms; sessions differ by `between`, runs by 1 %."""
    found, numbers = [], []
    for session in range(sessions):
        level = math.log(10 * scale) + between * random.standard_normal()
        for _ in range(runs):
            place = level + 0.01 * random.standard_normal()
            found.append(histogram(np.exp(place + 0.4 * random.standard_normal(TRANSACTIONS))))
            numbers.append(session)
    return found, numbers


def ratio(baseline: Draw, side: Draw, percent: float) -> Ratio:
    samples = [
        Sample(
            pseudo_values(found, numbers, (percent,))[percent],
            resolution=FINE.resolution,
            sessions=tuple(place * 100 + number for number in numbers),
        )
        for place, (found, numbers) in enumerate((baseline, side))
    ]
    return compare(*samples)


def test_the_mean_of_the_pseudo_values_is_the_percentile_of_all_values_together() -> None:
    found, numbers = a_side(np.random.default_rng(1), sessions=3, runs=2, between=0.05)
    values = pseudo_values(found, numbers, PERCENTS)
    for percent in PERCENTS:
        means = session_means(values[percent], numbers)
        assert geometric_mean(means) == pytest.approx(merge(found).percentile(percent).value)
        assert len(set(means)) == 3


def test_their_spread_is_the_variance_of_the_jackknife() -> None:
    """Shao and Tu, The Jackknife and Bootstrap (1995), 1.3: (n - 1) / n times the sum of squares of what is left."""
    found, numbers = a_side(np.random.default_rng(2), sessions=4, runs=1, between=0.05)
    left = [
        math.log(merge([each for own, each in zip(numbers, found, strict=True) if own != out]).interpolated(99.0))
        for out in range(4)
    ]
    expected = 3 / 4 * sum((each - np.mean(left)) ** 2 for each in left)
    values = np.log(pseudo_values(found, numbers, (99.0,))[99.0])
    assert values.var(ddof=1) / 4 == pytest.approx(expected)


@pytest.mark.parametrize(("sessions", "runs"), [(2, 3), (5, 1)])
def test_equal_sides_whose_sessions_differ_are_seldom_called_different(sessions: int, runs: int) -> None:
    """Of 80 tables of true coverage .95 fewer than 64 are covered with a chance below 1e-6; a bootstrap over two
    sessions covers 52."""
    random = np.random.default_rng(3)
    covered = dict.fromkeys(PERCENTS, 0)
    for _ in range(TABLES):
        pair = [a_side(random, sessions=sessions, runs=runs, between=0.03) for _ in range(2)]
        for percent in PERCENTS:
            found = ratio(pair[0], pair[1], percent)
            covered[percent] += bool(found.low and found.high and found.low <= 1 <= found.high)
    assert min(covered.values()) >= 64


def test_a_release_a_quarter_slower_is_found() -> None:
    random = np.random.default_rng(4)
    pair = [a_side(random, sessions=4, runs=2, between=0.02, scale=scale) for scale in (1.0, 1.25)]
    for percent in PERCENTS:
        found = ratio(pair[0], pair[1], percent)
        assert found.verdict is Verdict.HIGHER
        assert found.value == pytest.approx(1.25, rel=0.06)


def test_one_session_is_left_out_run_by_run_and_a_single_run_has_no_spread() -> None:
    found, _ = a_side(np.random.default_rng(5), sessions=1, runs=3, between=0.0)
    assert len(set(pseudo_values(found, [7, 7, 7], (50.0,))[50.0])) == 3
    assert pseudo_values(found[:1], [7], (50.0,))[50.0] == (found[0].percentile(50.0).value,)


def test_a_percentile_that_a_handful_of_transactions_decide_is_left_out() -> None:
    few = HistogramCounts(SYSBENCH, (500, 700), (100 * FEWEST_BEYOND - 11, 10))
    assert set(pseudo_values([few], [1], (50.0, 99.0))) == {50.0}
