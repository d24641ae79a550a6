from itertools import pairwise

import numpy as np
import pytest

from bench import histories
from bench.histories import Alarm, KnownSeries, Score


def a_series(*changes: int) -> KnownSeries:
    return KnownSeries(np.ones(200), changes)


def test_an_alarm_near_a_change_finds_it_and_only_one_does() -> None:
    score = histories.scored(a_series(50, 120), [Alarm(57, 60), Alarm(45, 90), Alarm(128, 150)])
    assert score == Score(found=1, false=2, missed=1, runs=200, delays=(10,))
    assert (score.precision, score.recall, score.f1) == pytest.approx((1 / 3, 1 / 2, 2 / 5))
    assert score.false_per_1000 == 10


def test_scores_of_series_add_up() -> None:
    total = sum([Score(1, 0, 1, 200, (3,)), Score(2, 1, 0, 200, (5, 9))], Score())
    assert total == Score(3, 1, 1, 400, (3, 5, 9))
    assert total.delay == 5


def test_what_is_seen_again_is_reported_once() -> None:
    seen = [[], [20], [20], [23], [20, 40], [31]]
    assert histories.alarms_of(seen, first=30) == [Alarm(20, 31), Alarm(40, 34), Alarm(31, 35)]


def test_a_seed_makes_the_same_series_and_another_seed_others() -> None:
    first, again, other = (histories.synthetic(seed, series=2)[1].values for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_close_series_have_two_changes_nearer_than_the_others() -> None:
    apart = {second - first for first, second in (each.changes for each in histories.close(3, series=60))}
    assert apart == set(range(histories.CLOSEST, histories.APART))
    assert all(
        second - first >= histories.APART
        for each in histories.synthetic(3, series=20)
        for first, second in pairwise(each.changes)
    )


def test_the_difference_to_itself_is_none() -> None:
    scores = [Score(3, 1, 2, 200), Score(1, 0, 0, 200)]
    assert histories.ScorePairs(scores, scores).ahead() == (0.0, 0.0)
    assert histories.ScorePairs(scores, scores).ratio() == (1.0, 1.0)
