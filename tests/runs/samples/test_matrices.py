"""Series decoded together are those decoded one by one; what is damaged is reported and spoils nothing else."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from apps.runs.samples.matrices import SeriesRows
from apps.runs.storage import codec

NUMBERS = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_infinity=False) | st.none()


@st.composite
def series(draw: st.DrawFn) -> dict[str, codec.Column]:
    length = draw(st.integers(1, 40))
    found = {}
    for key in "abcd":
        kind = draw(st.sampled_from([st.integers(0, 2**63 - 1), st.floats(0, 1e9), NUMBERS]))
        try:
            found[key] = codec.column(draw(st.lists(kind, min_size=length, max_size=length)))
        except codec.NotANumber:
            continue
    return found


def stored(columns: dict[str, codec.Column]) -> dict[str, tuple[bytes, int]]:
    encoded = {key: codec.encode(column) for key, column in columns.items()}
    return {key: (each.data, each.base) for key, each in encoded.items()}


@given(series())
def test_every_column_comes_back_to_the_bit(columns: dict[str, codec.Column]) -> None:
    length = len(next(iter(columns.values()), ()))
    rows = SeriesRows(stored(columns), length)
    assert list(rows) == list(columns)
    assert not rows.damaged
    for key, column in columns.items():
        assert key in rows
        assert rows[key].same_as(column)


@given(series(), st.data())
def test_a_flipped_bit_costs_one_series_and_is_reported(columns: dict[str, codec.Column], data: st.DataObject) -> None:
    if not columns:
        return
    blocks = stored(columns)
    key = data.draw(st.sampled_from(sorted(columns)))
    block, base = blocks[key]
    place = data.draw(st.integers(0, len(block) * 8 - 1))
    flipped = bytearray(block)
    flipped[place // 8] ^= 1 << place % 8
    blocks[key] = bytes(flipped), base
    rows = SeriesRows(blocks, len(columns[key]))
    assert set(rows.damaged) == {key}
    assert key not in rows
    assert all(rows[other].same_as(column) for other, column in columns.items() if other != key)
    assert all(key not in table.keys for table in rows.tables(list(columns)))


def test_samples_that_do_not_fit_the_clock_are_damage() -> None:
    columns = {"whole": codec.column([1, 2, 3]), "gap": codec.column([1, None, 3])}
    assert set(SeriesRows(stored(columns), 2).damaged) == {"whole", "gap"}
    assert set(SeriesRows(stored(columns), 4).damaged) == {"whole", "gap"}
    assert not SeriesRows(stored(columns), 3).damaged


def test_long_series_of_many_chunks_are_decoded_whole() -> None:
    values = np.arange(3 * codec.CHUNK + 7)
    column = codec.Column(values, np.ones(len(values), np.bool_))
    rows = SeriesRows(stored({"long": column}), len(values))
    (table, _) = rows.tables(["long"])
    assert (table.values[0] + table.bases[0]).tolist() == values.tolist()
