"""The axis of ratios: ticks that read as ratios, and bars that say where they are cut."""

import math

import pytest

from apps.comparison.pure import Ratio, Verdict
from apps.web.compare.charts import ratio_axis, ratio_bar
from apps.web.components.ticks import MOST_TICKS


def a_ratio(ratio: float | None, low: float | None = None, high: float | None = None) -> Ratio:
    return Ratio(Verdict.INCONCLUSIVE, value=ratio, low=low, high=high)


@pytest.mark.parametrize(
    ("ratio", "low", "high", "texts"),
    [
        (1.2, 1.15, 1.28, ["1", "1.05", "1.1", "1.15", "1.2", "1.25", "1.3"]),
        (0.5, 0.4, 1.5, ["0.4", "0.6", "0.8", "1", "1.2", "1.4", "1.6"]),
        (0.4, 0.25, 0.6, ["0.3", "0.4", "0.5", "0.7", "1"]),
        (0.5, 0.2, 5.0, ["0.2", "0.3", "0.5", "1", "2", "3", "5"]),
        (1000.0, 900.0, 1100.0, ["1", "3", "10", "30", "100", "300", "1,000"]),
    ],
)
def test_the_ticks_are_round_ratios_and_one_is_among_them(
    ratio: float, low: float, high: float, texts: list[str]
) -> None:
    axis = ratio_axis([a_ratio(ratio, low, high)])
    assert axis.texts == texts


@pytest.mark.parametrize("ratio", [1e-30, 0.003, 0.97, 1.0, 1.7, 3.9, 81.0, 1e12])
def test_ticks_lie_within_the_axis_and_are_few(ratio: float) -> None:
    axis = ratio_axis([a_ratio(ratio, ratio / 1.01, ratio * 1.01)])
    assert 1 in axis.ticks
    assert 2 <= len(axis.ticks) <= MOST_TICKS
    assert all(axis.range[0] <= tick <= axis.range[1] for tick in axis.ticks)


def test_an_interval_within_ten_times_the_outermost_ratio_is_drawn_whole() -> None:
    ratios = [a_ratio(2.0, 0.25, 16.0), a_ratio(1.1, 1.0, 1.2)]
    axis = ratio_axis(ratios)
    assert ratio_bar(ratios[0], axis) == ((0.25, 16.0), (False, False))
    assert axis.range[0] < 0.25
    assert axis.range[1] > 16.0


def test_a_far_or_endless_end_is_cut_at_the_edge_and_marked() -> None:
    ratios = [a_ratio(2.0, 0.0, math.inf), a_ratio(1.5, 1.2, 30.0), a_ratio(1.1, 1.0, 1.2)]
    axis = ratio_axis(ratios)
    edge = axis.ends
    assert ratio_bar(ratios[0], axis) == (edge, (True, True))
    assert ratio_bar(ratios[1], axis) == ((1.2, edge[1]), (False, True))
    assert ratio_bar(ratios[2], axis) == ((1.0, 1.2), (False, False))
    assert axis.range[0] < edge[0] < edge[1] < axis.range[1]


def test_a_ratio_without_an_interval_has_no_bar() -> None:
    ratios = [a_ratio(1.3), a_ratio(None)]
    axis = ratio_axis(ratios)
    assert [ratio_bar(ratio, axis) for ratio in ratios] == [(None, (False, False))] * 2
