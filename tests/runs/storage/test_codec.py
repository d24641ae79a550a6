import math
import struct
import tracemalloc
import zlib
from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core import limits
from apps.runs.storage import codec

INTEGERS = st.integers(min_value=-(2**63), max_value=2**63 - 1)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def read_back(series: codec.Column) -> codec.Column:
    encoded = codec.encode(series)
    return codec.decode(encoded.data, encoded.base)


def seen(series: codec.Column) -> list[int | float | None]:
    return [value if there else None for value, there in zip(series.values.tolist(), series.observed, strict=True)]


@given(st.lists(st.none() | INTEGERS))
def test_integers_come_back_exactly_whatever_is_missing(samples: list[int | None]) -> None:
    back = read_back(codec.column(samples))
    assert seen(back) == samples
    assert back.values.dtype == np.int64


@given(st.lists(st.none() | FLOATS, min_size=1))
def test_decimal_numbers_come_back_to_the_bit(samples: list[float | None]) -> None:
    series = codec.column(samples)
    assert read_back(series).same_as(series)
    assert [None if s is None else s.hex() for s in samples] == [
        None if s is None else float(s).hex() for s in seen(read_back(series))
    ]


@given(st.lists(st.none() | FLOATS | st.just(math.nan)))
def test_nan_and_none_both_mean_not_observed(samples: list[float | None]) -> None:
    floats = read_back(codec.column(samples)).as_float()
    assert np.isnan(floats).tolist() == [s is None or math.isnan(s) for s in samples]


@given(st.lists(FLOATS | st.just(math.nan)))
def test_a_clock_comes_back_identical(samples: list[float]) -> None:
    values = np.array(samples, dtype=np.float64)
    assert np.array_equal(codec.decode_floats(codec.encode_floats(values)), values, equal_nan=True)


@given(st.lists(st.integers(min_value=0, max_value=2**64 - 1) | st.none(), min_size=1))
def test_unsigned_counters_above_2_63_are_exact(samples: list[int | None]) -> None:
    assert seen(read_back(codec.column(samples))) == samples


def test_neighbours_beyond_2_53_stay_apart_even_with_gaps() -> None:
    samples = [2**53, 2**53 + 1, None, 2**62 + 1]
    assert seen(read_back(codec.column(samples))) == samples


def test_a_mixed_series_is_decimal() -> None:
    assert codec.column([1, 2.5, None]).values.dtype == np.float64


@pytest.mark.parametrize(
    ("samples", "says"),
    [
        (["12"], "'12' is not a number"),
        ([1, True], "'True' is not a number"),
        ([math.inf], "infinite"),
        ([1e400, 2], "infinite"),
        ([2**64], "64 bits"),
        ([-1, 2**63], "64 bits"),
        ([1.5, 10**400], "too large"),
        ([[1]], "not a number"),
    ],
)
def test_a_sample_that_no_series_can_hold_is_refused(samples: list[int], says: str) -> None:
    with pytest.raises(codec.NotANumber, match=says):
        codec.column(samples)


@pytest.mark.parametrize("block", [b"", b"i", b"x\0\0\0\0", b"i\0\0\0\0\0\0\0\0garbage", b"\xff" * 20])
def test_bytes_that_are_no_block_are_refused(block: bytes) -> None:
    with pytest.raises(codec.BadBlock, match="not a block of samples"):
        codec.decode(block)


@given(st.lists(st.none() | INTEGERS, min_size=1), st.data())
def test_a_single_changed_bit_is_found(samples: list[int | None], data: st.DataObject) -> None:
    block = bytearray(codec.encode(codec.column(samples)).data)
    bit = data.draw(st.integers(min_value=0, max_value=8 * len(block) - 1))
    block[bit // 8] ^= 1 << bit % 8
    with pytest.raises(codec.BadBlock):
        codec.decode(bytes(block))


def test_a_block_cut_short_is_refused() -> None:
    block = codec.encode(codec.column([1, 2, 3])).data
    with pytest.raises(codec.BadBlock):
        codec.decode(block[:-1])


def with_checksum(tag: bytes, body: bytes) -> bytes:
    return tag + struct.pack("<I", zlib.crc32(body, zlib.crc32(tag))) + body


def test_a_bitmap_of_another_length_is_refused_before_it_is_unpacked() -> None:
    for length, packed in ((2**32 - 1, b""), (2**32 - 1, b"\xff"), (8, b"\0" * 10_000_000), (9, b"\xff")):
        gaps = struct.pack("<I", length) + zlib.compress(packed)
        tracemalloc.start()
        with pytest.raises(codec.BadBlock, match="bitmap"):
            codec.decode(with_checksum(b"i", struct.pack("<I", len(gaps)) + gaps))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < len(packed) + limits.MIB


def test_a_chunk_without_samples_is_refused() -> None:
    empty = bytes.fromhex("7063 6f21 0200 0000".replace(" ", ""))
    with pytest.raises(codec.BadBlock):
        codec.decode(with_checksum(b"i", struct.pack("<II", 0, len(empty)) + empty))


def test_a_steady_counter_takes_few_bytes() -> None:
    steps = np.random.default_rng(1).poisson(100, 1800)
    assert len(codec.encode(codec.column(np.cumsum(steps).tolist())).data) < 2 * 1800


@given(st.lists(st.none() | INTEGERS, min_size=1), INTEGERS)
def test_series_with_equal_increments_have_equal_blocks(samples: list[int | None], shift: int) -> None:
    series = codec.column(samples)
    moved = codec.Column(np.where(series.observed, series.values + np.int64(shift), 0), series.observed)
    one, other = codec.encode(series), codec.encode(moved)
    assert one.data == other.data
    assert codec.decode(other.data, other.base).same_as(moved)


MIXED = st.none() | INTEGERS | FLOATS


def in_parts(series: codec.Column, cuts: list[int]) -> codec.Encoded:
    writer = codec.Writer()
    places = sorted({0, len(series), *(cut % (len(series) + 1) for cut in cuts)})
    for start, end in pairwise(places):
        writer.add(codec.Column(series.values[start:end], series.observed[start:end]))
    return writer.finish()


@given(st.lists(st.none() | INTEGERS, min_size=1), st.lists(st.integers(0, 1000)), st.integers(1, 5))
def test_a_series_written_in_parts_is_the_series_written_at_once(
    samples: list[int | None], cuts: list[int], chunk: int
) -> None:
    series = codec.column(samples)
    with patch.object(codec, "CHUNK", chunk):
        assert in_parts(series, cuts) == codec.encode(series)
        assert read_back(series).same_as(series)


@given(st.lists(st.lists(MIXED, min_size=1), min_size=1), st.integers(1, 4))
def test_parts_of_different_types_make_one_series(parts: list[list[int | float | None]], chunk: int) -> None:
    whole = [sample for part in parts for sample in part]
    with patch.object(codec, "CHUNK", chunk):
        writer = codec.Writer()
        try:
            expected = seen(codec.column(whole))
            columns = [codec.column(part) for part in parts]
        except codec.NotANumber:
            return
        for part in columns:
            writer.add(part)
        encoded = writer.finish()
        assert seen(codec.decode(encoded.data, encoded.base)) == expected
