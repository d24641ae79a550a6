import pytest
from django.http import QueryDict

from apps.core.problems import Invalid
from apps.core.query import Address, whole_number


@pytest.mark.parametrize("text", ["", "-1", "1.5", "1e3", "¹", "٣", " 7", "9" * 19, "0x1F"])
def test_what_is_no_row_of_a_table_is_no_number(text: str) -> None:
    assert whole_number(text) is None


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("007", 7), ("9" * 18, 10**18 - 1)])
def test_digits_are_a_number_that_fits_a_bigint(text: str, number: int) -> None:
    assert whole_number(text) == number < 2**63


def test_fewer_digits_may_be_asked_for() -> None:
    assert (whole_number("1234", digits=4), whole_number("12345", digits=4)) == (1234, None)


def address(query: str) -> Address:
    return Address(QueryDict(query), "side", "runs", "workload", "sort")


def test_an_address_is_read_by_name_and_its_empty_form_fields_are_not_given() -> None:
    read = address("side=a&side=&side=b&runs=1,2&runs=3&workload=&sort=size")
    assert (read.texts("side"), read.numbers("runs")) == (["a", "b"], [1, 2, 3])
    assert (read.number("workload"), read.choice("sort", ("size", "age"))) == (None, "size")
    assert (read.text("side"), read.text("workload", "none")) == ("b", "none")
    read.check()


def test_all_that_is_wrong_in_an_address_is_named_at_once() -> None:
    read = address("sidee=a&side=a%00&runs=1,x&sort=name")
    read.texts("side")
    read.numbers("runs")
    read.choice("sort", ("size", "age"))
    with pytest.raises(Invalid) as refused:
        read.check()
    assert [error.sentence() for error in refused.value.errors] == [
        "sidee: unknown parameter; known here: side, runs, workload, sort",
        "side: has characters that no name has",
        "runs: is not a number",
        "sort: 'name' is not known; choose from: size, age",
    ]
