import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.runs import codec

INTEGERS = st.integers(min_value=-(2**63), max_value=2**63 - 1)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def seen(series: codec.Column) -> list[int | float | None]:
    return [value if there else None for value, there in zip(series.values.tolist(), series.observed, strict=True)]


@given(st.lists(st.none() | INTEGERS))
def test_integers_come_back_exactly_whatever_is_missing(samples: list[int | None]) -> None:
    back = codec.decode(codec.encode(codec.column(samples)))
    assert seen(back) == samples
    assert back.values.dtype == np.int64


@given(st.lists(st.none() | FLOATS, min_size=1))
def test_decimal_numbers_come_back_to_the_bit(samples: list[float | None]) -> None:
    series = codec.column(samples)
    assert codec.decode(codec.encode(series)).same_as(series)
    assert [None if s is None else s.hex() for s in samples] == [
        None if s is None else float(s).hex() for s in seen(codec.decode(codec.encode(series)))
    ]


@given(st.lists(st.none() | FLOATS | st.just(math.nan)))
def test_nan_and_none_both_mean_not_observed(samples: list[float | None]) -> None:
    floats = codec.decode(codec.encode(codec.column(samples))).as_float()
    assert np.isnan(floats).tolist() == [s is None or math.isnan(s) for s in samples]


@given(st.lists(FLOATS | st.just(math.nan)))
def test_a_clock_comes_back_identical(samples: list[float]) -> None:
    values = np.array(samples, dtype=np.float64)
    assert np.array_equal(codec.decode_floats(codec.encode_floats(values)), values, equal_nan=True)


@given(st.lists(st.integers(min_value=0, max_value=2**64 - 1) | st.none(), min_size=1))
def test_unsigned_counters_above_2_63_are_exact(samples: list[int | None]) -> None:
    assert seen(codec.decode(codec.encode(codec.column(samples)))) == samples


def test_neighbours_beyond_2_53_stay_apart_even_with_gaps() -> None:
    samples = [2**53, 2**53 + 1, None, 2**62 + 1]
    assert seen(codec.decode(codec.encode(codec.column(samples)))) == samples


def test_a_mixed_series_is_decimal() -> None:
    assert codec.column([1, 2.5, None]).values.dtype == np.float64


@pytest.mark.parametrize(
    ("samples", "says"),
    [
        (["12"], "'12' is no number"),
        ([1, True], "'True' is no number"),
        ([math.inf], "infinite"),
        ([1e400, 2], "infinite"),
        ([2**64], "64 bits"),
        ([-1, 2**63], "64 bits"),
        ([1.5, 10**400], "too large"),
        ([[1]], "no number"),
    ],
)
def test_a_sample_that_no_series_can_hold_is_refused(samples: list[int], says: str) -> None:
    with pytest.raises(codec.NotANumber, match=says):
        codec.column(samples)


@pytest.mark.parametrize("block", [b"", b"i", b"x\0\0\0\0", b"i\0\0\0\0garbage", b"i\x04\0\0\0abcd", b"f\0\0\0\0"[:3]])
def test_bytes_that_are_no_block_are_refused(block: bytes) -> None:
    with pytest.raises(codec.BadBlock):
        codec.decode(block)


def test_a_block_of_another_type_than_it_says_is_refused() -> None:
    block = codec.encode(codec.column([1, 2, 3]))
    with pytest.raises(codec.BadBlock, match="holds int64, says float64"):
        codec.decode(b"f" + block[1:])


def test_a_counter_of_a_minute_takes_under_two_bytes_a_sample() -> None:
    steps = np.random.default_rng(7).integers(0, 200, 60)
    assert len(codec.encode(codec.column(np.cumsum(steps).tolist()))) < 2 * 60
