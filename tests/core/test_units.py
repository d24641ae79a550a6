"""Numbers as people read them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.units import (
    all_digits,
    as_printed,
    format_bytes,
    format_duration,
    format_estimate,
    format_number,
    with_unit,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1234.567, "1,230"),
        (999.7, "1,000"),
        (99.96, "100"),
        (12.345, "12.3"),
        (1.5, "1.50"),
        (-1.5, "-1.50"),
        (0.012345, "0.0123"),
        (0.00001234, "1.23\u00a0×\u00a010⁻⁵"),
        (1.5e18, "1.50\u00a0×\u00a010¹⁸"),
        (math.inf, "∞"),
    ],
)
def test_a_number_has_three_significant_digits(value: float, text: str) -> None:
    assert format_number(value) == text


@pytest.mark.parametrize("value", [None, math.nan])
def test_what_was_not_observed_is_said_in_words(value: float | None) -> None:
    assert format_number(value) == "not observed"
    assert with_unit(value, "ms") == "not observed"
    assert all_digits(value) == "not observed"
    assert format_bytes(value) == "not observed"
    assert format_duration(value) == "not observed"


@given(st.floats(min_value=1e-4, max_value=1e14))
def test_rounding_is_within_half_a_unit_of_the_third_digit(value: float) -> None:
    shown = float(format_number(value).replace(",", ""))
    assert shown == pytest.approx(value, rel=0.0050001)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1234.567, "transactions/s", "1,230\u00a0transactions/s"),
        (2.0, "", "2.00"),
        (8 * 2**30, "bytes", "8.00\u00a0GiB"),
        (512, "bytes", "512\u00a0B"),
        (1536, "bytes/s", "1.50\u00a0KiB/s"),
        (14.0, "errors", "14\u00a0errors"),
        (14.5, "errors", "14.5\u00a0errors"),
        (14.0, "errors/s", "14.0\u00a0errors/s"),
        (5.0, "ms", "5.00\u00a0ms"),
    ],
)
def test_a_number_carries_its_unit(value: float, unit: str, text: str) -> None:
    assert with_unit(value, unit) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0\u00a0s"),
        (0.35, "350\u00a0ms"),
        (4.2, "4.20\u00a0s"),
        (60, "1\u00a0min"),
        (90, "1\u00a0min 30\u00a0s"),
        (3599.8, "1\u00a0h"),
        (7500, "2\u00a0h 5\u00a0min"),
        (273600, "3\u00a0d 4\u00a0h"),
    ],
)
def test_a_duration_has_at_most_two_units(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


def test_all_digits_are_kept_for_who_asks() -> None:
    assert all_digits(1234567.8912) == "1,234,567.8912"
    assert all_digits(3.0) == "3"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1382.43, "transactions/s", "1,382.43"),
        (5.0, "ms", "5.00"),
        (5.1, "ms", "5.10"),
        (5.672, "ms", "5.672"),
        (428.19821524713473, "transactions/s", "428.1982"),
        (0.000195, "s", "0.000195"),
        (14.0, "errors", "14"),
        (23861.0, "transactions", "23,861"),
        (None, "ms", "not observed"),
    ],
)
def test_what_a_tool_printed_keeps_its_digits(value: float | None, unit: str, text: str) -> None:
    assert as_printed(value, unit) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (7.4, "7 s"), (47.5, "50 s"), (58.0, "1 min"), (204, "3 min 24 s"), (None, "not observed")],
)
def test_an_estimate_claims_no_fraction_of_a_second(seconds: float | None, text: str) -> None:
    assert format_estimate(seconds).replace("\u00a0", " ") == text
