"""Tables that `make bench ARGS=verdicts` draws, and what it counts on them."""

import math
from types import SimpleNamespace
from typing import Any
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


def test_coverage_is_shown_for_each_number_of_sessions_by_the_noise_with_which_it_is_worst(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    missing = Noise(draw=lambda rng, count: np.full(count, rng.choice([-1.0, 1.0])) + 0.001 * rng.normal(size=count))
    monkeypatch.setattr(verdicts, "KINDS", {"lognormal": Noise(), "one that is missed": missing})
    monkeypatch.setattr(verdicts, "TABLES", 10)
    bench: Any = SimpleNamespace(figures=[], today="2026-11-29", say=lambda _: None)
    verdicts._report_covered(bench, np.random.default_rng(3))
    found = {figure.key: figure for figure in bench.figures}
    for sessions in (2, 3, 4, 5):
        figure = found[f"verdicts.coverage_{sessions}_sessions"]
        assert f"{sessions} sessions of 3 runs, the worst of 2 kinds of noise (one that is missed)" in figure.title
        assert figure.ours is not None
        assert figure.ours > found["verdicts.coverage_0"].ours
        assert (figure.limit_ours, figure.passed) == (0.02, False)
