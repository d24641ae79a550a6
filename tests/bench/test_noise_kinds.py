"""Series of the second generator, and the intervals of what is measured on them."""

from itertools import pairwise

import msgspec
import numpy as np
import pytest

from bench import noisy_histories
from bench.histories import Score, ScorePairs
from bench.noise_kinds import result_series, together

SCORES = [Score(2, 0, 1, 200, (5, 7)), Score(1, 1, 0, 200, (6,)), Score(0, 0, 2, 200), Score(3, 0, 0, 200, (4, 4, 9))]


def test_an_interval_holds_its_figure_and_can_be_stored() -> None:
    kind = ScorePairs(SCORES, SCORES[::-1])
    bounds = [kind.false(), kind.f1()]
    assert bounds[0][0] < kind.total().false_per_1000 < bounds[0][1]
    assert bounds[1][0] < kind.total().f1 < bounds[1][1]
    assert msgspec.json.decode(msgspec.json.encode([*bounds, kind.ahead()]))


def test_no_false_alarm_is_not_taken_for_none_ever() -> None:
    low, high = ScorePairs([Score(runs=200)] * 50, None).false()
    assert low == 0
    assert high == pytest.approx(0.38, abs=0.01)  # Wilson, 0 of 10,000


def test_without_the_peer_there_is_no_difference() -> None:
    kinds = {"a": ScorePairs(SCORES, None), "b": ScorePairs(SCORES, None)}
    assert together(kinds).ahead() is None
    assert together(kinds).total().runs == 1600


def test_series_differ_by_kind_and_seed_and_those_without_changes_have_none() -> None:
    made = [noisy_histories.noisy(seed, kind, series=3, changed=True) for seed in (1, 2) for kind in ("skew", "drift")]
    firsts = [each[0].values[0] for each in made]
    assert len(set(firsts)) == len(firsts)
    again = noisy_histories.noisy(1, "skew", series=3, changed=True)
    assert all(np.array_equal(own.values, other.values) for own, other in zip(made[0], again, strict=True))
    assert all(not each.changes for own in noisy_histories.still(1, series=1).values() for each in own)


def test_changes_are_fifteen_runs_apart_and_from_the_ends() -> None:
    for own in noisy_histories.changed(3, series=20).values():
        for each in own:
            assert len(each.values) == 200
            assert all(before + 15 <= after for before, after in pairwise([0, *each.changes, 200]))
            assert result_series(each, 50).values.tolist() == each.values[:50].tolist()
