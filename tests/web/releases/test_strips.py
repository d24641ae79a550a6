"""Changes of a release drawn on one scale."""

import math
from dataclasses import replace

import pytest

from apps.regressions.releases.values import CheckRow, RowVerdict
from apps.web.releases.strips import LEAST, ROOM, strips
from tests.regressions.releases.released import a_row


def _row(ratio: float | None, low: float | None, high: float | None, direction: str = "higher") -> CheckRow:
    return replace(a_row(RowVerdict.WORSE), ratio=ratio, low=low, high=high, direction=direction, smallest=0.02)


def test_worse_is_left_of_the_middle_whatever_is_better() -> None:
    fell, rose = strips([_row(0.8, 0.7, 0.9), _row(1.25, 1 / 0.9, 1 / 0.7, "lower")])
    assert fell is not None
    assert rose is not None
    assert 0 < fell.low < fell.at < fell.high < 50
    assert (rose.low, rose.at, rose.high) == pytest.approx((fell.low, fell.at, fell.high))


def test_all_rows_share_the_scale_of_the_farthest_interval() -> None:
    small, large = strips([_row(0.99, 0.98, 1.0), _row(0.5, 0.4, 0.6)])
    assert small is not None
    assert large is not None
    assert large.low == pytest.approx(50 - 50 / ROOM)
    assert small.high == pytest.approx(50)
    assert small.band == large.band == pytest.approx(50 * math.log1p(0.02) / (-math.log(0.4) * ROOM))


def test_rows_that_hardly_differ_are_not_blown_up_to_the_whole_width() -> None:
    (strip,) = strips([_row(1.001, 1.0, 1.002)])
    assert strip is not None
    assert strip.span == pytest.approx(50 * math.log(1.002) / (LEAST * ROOM))


def test_an_endless_interval_is_cut_and_a_row_without_one_is_not_drawn() -> None:
    endless, none = strips([_row(0.5, 0.0, math.inf), _row(0.5, None, None)])
    assert endless is not None
    assert (endless.low, endless.high, endless.is_cut) == (0, 100, True)
    assert none is None
