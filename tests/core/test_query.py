import pytest

from apps.core.query import whole_number


@pytest.mark.parametrize("text", ["", "-1", "1.5", "1e3", "¹", "٣", " 7", "9" * 19, "0x1F"])
def test_what_is_no_row_of_a_table_is_no_number(text: str) -> None:
    assert whole_number(text) is None


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("007", 7), ("9" * 18, 10**18 - 1)])
def test_digits_are_a_number_that_fits_a_bigint(text: str, number: int) -> None:
    assert whole_number(text) == number < 2**63


def test_fewer_digits_may_be_asked_for() -> None:
    assert (whole_number("1234", digits=4), whole_number("12345", digits=4)) == (1234, None)
