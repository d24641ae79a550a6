"""A change in words: its size and its 95 % interval."""

import math

import pytest

from apps.regressions.findings.titles import interval, percent, size


@pytest.mark.parametrize(
    ("ratio", "low", "high", "words"),
    [
        (0.88, 0.86, 0.9, ("−12\u00a0%", "[−14\u00a0%, −10\u00a0%]")),
        (1.12, None, None, ("+12\u00a0%", "")),
        # Of a baseline of too few clock steps only one end is known, and no size: as in Compare, "at least 15.2 ×".
        (20.0, 15.2, math.inf, ("+1420\u00a0% or more", "")),
        (0.1, 0.0, 0.15, ("−85\u00a0% or less", "")),
        (1.1, 0.0, math.inf, ("+10\u00a0%", "[−100\u00a0%, +∞]")),
    ],
)
def test_an_interval_of_one_end_is_stated_by_that_end_alone(
    ratio: float, low: float | None, high: float | None, words: tuple[str, str]
) -> None:
    shown = "" if low is None or high is None else interval(low, high)
    assert (size(ratio, low, high), shown) == words


def test_no_change_is_shown_as_inf() -> None:
    assert percent(math.inf) == "+∞"
