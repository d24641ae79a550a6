from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.runs.samples.downsample import thin, thinned

SECOND = np.arange(2000, dtype=np.float64)


def kept_of(values: list[float], points: int) -> tuple[list[float], list[float]]:
    at, array = SECOND[: len(values)], np.array(values, dtype=np.float64)
    chosen = thin(array, points)
    return at[chosen].tolist(), array[chosen].tolist()


def test_a_short_series_is_left_as_it_is() -> None:
    assert kept_of([1, np.nan, 3], 3)[0] == [0, 1, 2]


def test_extremes_and_order_are_kept_in_few_points() -> None:
    values = np.sin(SECOND / 50)
    values[777], values[1203] = 9, -9
    at, kept = kept_of(values.tolist(), 100)
    assert len(at) <= 100
    assert at == sorted(at)
    assert (max(kept), min(kept)) == (9, -9)
    assert (at[0], at[-1]) == (0, 1999)


def test_a_gap_stays_a_gap_of_the_same_length() -> None:
    values = np.cos(SECOND / 20)
    values[500:900] = np.nan
    at, kept = kept_of(values.tolist(), 100)
    around = dict(zip(at, kept, strict=True))
    assert np.isnan(around[500])
    assert not np.isnan(around[499])
    assert not np.isnan(around[900])
    assert all(np.isnan(value) == (500 <= t < 900) for t, value in around.items())


def test_a_series_never_observed_is_one_gap() -> None:
    assert all(np.isnan(kept_of([np.nan] * 1000, 50)[1]))


@given(
    st.lists(st.floats(-1e9, 1e9) | st.just(np.nan), min_size=60, max_size=400),
    st.integers(10, 50),
)
def test_every_gap_and_both_extremes_survive(values: list[float], points: int) -> None:
    array = np.array(values)
    at, kept = kept_of(values, points)
    thin_array = np.array(kept)

    def gaps(series: np.ndarray) -> int:
        missing = np.isnan(series)
        return int(missing[0]) + int(np.count_nonzero(missing[1:] & ~missing[:-1]))

    assert gaps(thin_array) == gaps(array)
    assert at == sorted(set(at))
    if not np.isnan(array).all():
        assert (np.nanmin(thin_array), np.nanmax(thin_array)) == (np.nanmin(array), np.nanmax(array))


@pytest.mark.parametrize("points", [1, 2, 3, 4])
def test_even_a_few_points_hold_the_extremes(points: int) -> None:
    values = [0.0] * 50 + [5.0] + [0.0] * 50 + [-5.0] + [0.0] * 50
    assert {5.0, -5.0} <= set(kept_of(values, points)[1])


@given(st.lists(st.floats(-1e9, 1e9), min_size=30, max_size=400), st.integers(4, 60))
def test_the_lowest_and_highest_of_every_stretch_are_kept(values: list[float], points: int) -> None:
    array = np.array(values)
    chosen = set(thin(array, points).tolist())
    if len(values) <= points:
        return
    stretches = points // 2 - 1
    edges = [0, *(int((len(values) - 1) / stretches * place) + 1 for place in range(1, stretches)), len(values)]
    for start, end in pairwise(edges):
        kept = array[sorted(place for place in chosen if start <= place < end)]
        assert (kept.min(), kept.max()) == (array[start:end].min(), array[start:end].max())
    assert len(chosen) <= max(points, 4)


@given(st.lists(st.lists(st.floats(0, 3), min_size=300, max_size=300), max_size=4), st.integers(1, 320))
def test_many_at_once_are_thinned_as_one_is(rows: list[list[float]], points: int) -> None:
    arrays, at = [np.array(row) for row in rows], SECOND[:300]
    for array, (times, values) in zip(arrays, thinned(at, np.array(arrays), points), strict=True):
        chosen = thin(array, points)
        assert times.tolist() == at[chosen].tolist()
        assert values.tolist() == array[chosen].tolist()
