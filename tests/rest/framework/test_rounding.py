"""What JSON shows of a number: six digits, whichever way it is rounded."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.rest.framework.digits import all_significant, significant


@pytest.mark.parametrize(
    ("value", "rounded"),
    [
        (1234567.8, 1234570.0),
        (0.000123456789, 0.000123457),
        (-0.0, 0.0),
        (5e-324, 5e-324),
        (1.7e308, 1.7e308),
        (float("nan"), None),
        (float("inf"), None),
        (None, None),
    ],
)
def test_numbers_keep_six_digits(value: float | None, rounded: float | None) -> None:
    assert significant(value) == rounded


@given(
    st.lists(
        st.floats()
        | st.decimals(0, 10**6, places=2).map(float)
        | st.floats(1e-3, 1e7)
        | st.integers(-(2**63), 2**64).map(float)
    )
)
def test_many_are_rounded_as_one_is(values: list[float]) -> None:
    for value, rounded in zip(values, all_significant(np.array(values, dtype=np.float64)).tolist(), strict=True):
        expected = significant(value)
        assert math.isnan(rounded) if expected is None else rounded == expected
        assert str(rounded) != "-0.0"


def test_a_number_with_one_digit_more_is_rounded_by_its_digits() -> None:
    assert all_significant(np.array([39886.95, 1.0000049, 2.5000005e-7])).tolist() == [39886.9, 1.0, 2.5e-07]
