"""The axis of ratios: ticks that read as ratios, and bars that say where they are cut."""

import math
from typing import Any

import pytest

from apps.web.compare.charts import draw_ratios
from apps.web.components.ticks import MOST_TICKS


def a_point(ratio: float | None, low: float | None = None, high: float | None = None) -> dict[str, Any]:
    """An endless end is infinity here and nothing in the page's JSON."""
    return {
        "ratio": ratio,
        "low": low,
        "high": None if high is not None and math.isinf(high) else high,
        "has_interval": low is not None,
    }


@pytest.mark.parametrize(
    ("ratio", "low", "high", "scale", "texts"),
    [
        (1.2, 1.15, 1.28, "linear", ["1", "1.05", "1.1", "1.15", "1.2", "1.25", "1.3"]),
        (0.5, 0.4, 1.5, "linear", ["0.4", "0.6", "0.8", "1", "1.2", "1.4", "1.6"]),
        (0.4, 0.25, 0.6, "log", ["0.3", "0.4", "0.5", "0.7", "1"]),
        (0.5, 0.2, 5.0, "log", ["0.2", "0.3", "0.5", "1", "2", "3", "5"]),
        (1000.0, 900.0, 1100.0, "log", ["1", "3", "10", "30", "100", "300", "1,000"]),
    ],
)
def test_the_ticks_are_round_ratios_and_one_is_among_them(
    ratio: float, low: float, high: float, scale: str, texts: list[str]
) -> None:
    axis = draw_ratios([a_point(ratio, low, high)])
    assert (axis["scale"], axis["texts"]) == (scale, texts)


@pytest.mark.parametrize("ratio", [1e-30, 0.003, 0.97, 1.0, 1.7, 3.9, 81.0, 1e12])
def test_ticks_lie_within_the_axis_and_are_few(ratio: float) -> None:
    axis = draw_ratios([a_point(ratio, ratio / 1.01, ratio * 1.01)])
    assert 1 in axis["ticks"]
    assert 2 <= len(axis["ticks"]) <= MOST_TICKS
    assert all(axis["range"][0] <= tick <= axis["range"][1] for tick in axis["ticks"])


def test_an_interval_within_ten_times_the_outermost_ratio_is_drawn_whole() -> None:
    points = [a_point(2.0, 0.25, 16.0), a_point(1.1, 1.0, 1.2)]
    axis = draw_ratios(points)
    assert points[0]["bar"] == [0.25, 16.0]
    assert points[0]["cut"] == [False, False]
    assert axis["range"][0] < 0.25
    assert axis["range"][1] > 16.0


def test_a_far_or_endless_end_is_cut_at_the_edge_and_marked() -> None:
    points = [a_point(2.0, 0.0, math.inf), a_point(1.5, 1.2, 30.0), a_point(1.1, 1.0, 1.2)]
    axis = draw_ratios(points)
    edge = axis["ends"]
    assert (points[0]["bar"], points[0]["cut"]) == (edge, [True, True])
    assert (points[1]["bar"], points[1]["cut"]) == ([1.2, edge[1]], [False, True])
    assert (points[2]["bar"], points[2]["cut"]) == ([1.0, 1.2], [False, False])
    assert axis["range"][0] < edge[0] < edge[1] < axis["range"][1]


def test_a_ratio_without_an_interval_has_no_bar() -> None:
    points = [a_point(1.3), a_point(None)]
    draw_ratios(points)
    assert [(point["bar"], point["cut"]) for point in points] == [(None, [False, False])] * 2
