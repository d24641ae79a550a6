"""Tables that `make bench ARGS=verdicts` draws, and what it counts on them."""

import math
from unittest import mock

import numpy as np
import pytest

from apps.comparison.pure import Verdict, welch
from bench import verdicts
from bench.verdicts import EFFECT, THREE, Noise, Share, judged


@pytest.fixture(autouse=True)
def without_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many repetitions are needed is not asked here, and most of the time."""
    monkeypatch.setattr(welch, "repetitions_needed", lambda *_, **__: 1)


def test_cells_that_differ_by_far_are_found_by_both_and_fail_the_gate() -> None:
    table = judged(np.random.default_rng(1), THREE, Noise(between=0.001), changed=1)
    first = table.ratios[0]
    assert (first.verdict, table.oracle, verdicts.is_regression(table.ratios)) == (Verdict.LOWER, True, True)
    assert first.value == pytest.approx(math.exp(EFFECT), abs=0.02)
    assert first.counts == (3, 3)


def test_a_gain_is_a_difference_and_no_regression() -> None:
    with mock.patch.object(verdicts, "EFFECT", -EFFECT):
        table = judged(np.random.default_rng(1), THREE, Noise(between=0.001), changed=1)
    assert table.ratios[0].verdict is Verdict.HIGHER
    assert not verdicts.is_regression(table.ratios)


def test_an_analysis_that_knows_the_variances_errs_as_often_as_it_says() -> None:
    """5 % of the tables of equal sides have some difference after the correction, the first cell a twelfth of them; of
    this many tables more than six are seen once in a million."""
    random = np.random.default_rng(2)
    wrong = [judged(random, (3, 2), Noise()).oracle for _ in range(120)]
    assert sum(wrong) <= 6


def test_a_share_has_an_interval_that_holds_it_and_none_is_not_never() -> None:
    share = Share.of(3, 60, oracle=6)
    assert share.low < share.value == 0.05 < share.high
    assert share.oracle == 0.1
    assert Share.of(0, 100).high == pytest.approx(0.037, abs=0.001)
