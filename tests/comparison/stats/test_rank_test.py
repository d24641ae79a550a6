"""Which side is higher where a run is zero: by the rank test."""

import numpy as np
import pytest
from scipy import stats as reference

from apps.comparison.stats import rank_test
from apps.comparison.stats.replicates import Replicates
from apps.comparison.stats.welch import Verdict

ALL_FOUR = rank_test.FEWEST_EACH


def test_the_p_value_is_that_of_the_reference_where_no_values_are_equal() -> None:
    random = np.random.default_rng(3)
    for counts in ((4, 4), (5, 4), (6, 6)):
        one, other = (random.normal(size=count).tolist() for count in counts)
        expected = reference.mannwhitneyu(other, one, method="exact").pvalue
        assert rank_test.compare(one, other).p == pytest.approx(expected)


def test_with_ties_it_is_that_of_all_permutations() -> None:
    one, other = [0.0, 0.0, 0.0, 1.0, 2.0], [0.0, 3.0, 3.0, 4.0, 5.0]

    def mean_rank(first: np.ndarray, second: np.ndarray) -> float:
        return float(reference.rankdata([*first, *second])[: len(first)].sum())

    expected = reference.permutation_test((other, one), mean_rank, n_resamples=np.inf, alternative="two-sided").pvalue
    assert rank_test.compare(one, other).p == pytest.approx(expected, rel=0.02)


def test_four_runs_of_each_side_can_be_conclusive_and_three_cannot() -> None:
    assert ALL_FOUR == 4
    four = rank_test.compare([0.0] * 4, [1.0, 2.0, 3.0, 4.0])
    assert (four.verdict, four.delta) == (Verdict.HIGHER, 1.0)
    assert (four.value, four.low, four.high) == (None, None, None)
    three = rank_test.compare([0.0] * 3, [1.0, 2.0, 3.0])
    assert (three.verdict, three.p, three.needed) == (Verdict.TOO_FEW, None, 4)


def test_sides_that_change_places_change_the_verdict() -> None:
    one, other = [0.0, 0.0, 0.1, 0.0, 0.0], [2.0, 3.0, 1.0, 4.0, 2.0]
    there, back = rank_test.compare(one, other), rank_test.compare(other, one)
    assert (there.verdict, back.verdict) == (Verdict.HIGHER, Verdict.LOWER)
    assert there.p == back.p
    assert there.delta == -(back.delta or 0)


def test_it_is_no_more_often_wrong_than_it_says() -> None:
    """Two sides of the same hiccups, mostly zero: 2,000 comparisons of five runs."""
    random = np.random.default_rng(4)
    values = np.where(random.random((2000, 10)) < 0.6, 0.0, random.exponential(3.0, (2000, 10)))
    wrong = sum(
        rank_test.compare(row[:5].tolist(), row[5:].tolist()).verdict in (Verdict.HIGHER, Verdict.LOWER)
        for row in values
    )
    assert wrong / 2000 <= 0.05


@pytest.mark.parametrize(("sessions", "runs"), [(1, 6), (2, 3), (3, 3), (4, 3), (6, 2)])
def test_equal_sides_measured_in_sessions_are_no_more_often_called_different_than_it_says(
    sessions: int, runs: int
) -> None:
    """Sessions that differ by twice as much as runs, clipped at zero: by runs 27 % of two sessions of three were. One
    session each does not show how they differ: that is said."""
    random, numbers = np.random.default_rng(5), np.repeat(np.arange(sessions), runs).tolist()
    drawn = random.normal(0, 1, (1000, 2, sessions, 1)) + random.normal(0, 0.5, (1000, 2, sessions, runs))
    values = np.clip(drawn.reshape(1000, 2, -1), 0, None)
    found = [rank_test.compare(*both, sessions=(numbers, numbers)) for both in values.tolist() if np.any(both)]
    wrong = [each for each in found if each.verdict in (Verdict.HIGHER, Verdict.LOWER)]
    if sessions == 1:
        assert {each.replicates for each in found} == {Replicates.ONE_SESSION}
        assert all(each.reason.endswith("within one session of each side") for each in wrong)
    else:
        assert len(wrong) / 1000 <= 0.05


def test_four_sessions_of_each_side_can_be_conclusive_and_three_of_many_runs_cannot() -> None:
    four = [number for number in range(4) for _ in range(2)]
    found = rank_test.compare([0.0] * 8, [1.0, 2.0] * 4, sessions=(four, four))
    assert (found.verdict, found.replicates, found.counts) == (Verdict.HIGHER, Replicates.SESSIONS, (4, 4))
    three = [number for number in range(3) for _ in range(5)]
    found = rank_test.compare([0.0] * 15, [1.0] * 15, sessions=(three, three))
    assert (found.verdict, found.p, found.needed, found.counts) == (Verdict.TOO_FEW, None, 4, (3, 3))
    assert found.reason == "a run is zero, and the rank test needs 4 sessions per side"


def test_equal_runs_are_inconclusive() -> None:
    assert rank_test.compare([0.0] * 5, [0.0] * 5).verdict == Verdict.INCONCLUSIVE


def test_many_runs_are_approximated() -> None:
    found = rank_test.compare([0.0] * 30, [0.0] * 5 + [1.0] * 25)
    assert found.verdict == Verdict.HIGHER
    assert found.p is not None
    assert found.p < 1e-6
