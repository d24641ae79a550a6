"""Values of several nodes on one clock: totals are kept, gaps stay gaps, and who is not there is not counted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from apps.catalog.metrics.standard import CURATED
from apps.runs.samples import time_series
from apps.runs.samples.matrices import SeriesRows
from apps.runs.samples.time_series import TimeSeries
from apps.runs.storage import codec

Floats = NDArray[np.float64]
QUESTIONS, RUNNING = CURATED["mysql.status.Questions"], CURATED["mysql.status.Threads_running"]
PRINTED, CREDITS = CURATED["client.throughput"], CURATED["aws.rds.CPUCreditBalance"]


def rates(clock: list[float], totals: list[codec.Number]) -> TimeSeries:
    return time_series.of_column(QUESTIONS, np.array(clock), codec.column(totals))


def gauge(clock: list[float], values: list[codec.Number]) -> TimeSeries:
    return time_series.of_column(RUNNING, np.array(clock), codec.column(values))


def shown(line: TimeSeries) -> str:
    return repr(line.values.round(6).tolist())


def test_nodes_on_one_clock_are_added_second_by_second() -> None:
    found = time_series.over_nodes([rates([0, 1, 2], [0, 5, 6]), rates([0, 1, 2], [10, 20, 40])], "sum")
    assert (found.at.tolist(), shown(found)) == ([1, 2], "[15.0, 21.0]")
    assert found.parts is not None
    assert found.parts.tolist() == [2, 2]
    mean = time_series.over_nodes([rates([0, 1, 2], [0, 5, 6]), rates([0, 1, 2], [10, 20, 40])], "mean")
    assert shown(mean) == "[7.5, 10.5]"


def test_a_rate_is_held_over_its_interval_on_the_common_clock() -> None:
    own = rates([0, 1, 2, 3], [0, 0, 0, 0])
    other = rates([0.5, 1.5, 2.5], [0, 10, 40])
    # From 1 to 2: half a second at 10/s, half at 30/s.
    assert shown(time_series.over_nodes([own, other], "sum")) == "[10.0, 20.0, 30.0]"


def test_a_gauge_is_taken_from_the_nearest_sample() -> None:
    found = time_series.over_nodes([gauge([0, 1, 2], [1, 1, 1]), gauge([0.3, 1.3], [10, 20])], "sum")
    assert shown(found) == "[11.0, 21.0, 21.0]"


def test_a_node_that_joins_late_or_leaves_is_not_counted_before_and_after() -> None:
    found = time_series.over_nodes(
        [rates([0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5]), rates([2, 3, 4], [0, 10, 20])],
        "sum",
    )
    assert shown(found) == "[1.0, 1.0, 11.0, 11.0, 1.0]"
    assert found.parts is not None
    assert found.parts.tolist() == [1, 1, 2, 2, 1]


def test_a_gap_of_one_node_is_a_gap_of_the_sum() -> None:
    clock: list[float] = [0, 1, 2, 3, 4]
    found = time_series.over_nodes([rates(clock, [0, 1, 2, 3, 4]), rates(clock, [0, 1, None, 3, 4])], "sum")
    # The rate to the third second is that since the first: it was observed.
    assert shown(found) == "[2.0, nan, 2.0, 2.0]"
    found = time_series.over_nodes(
        [gauge(clock, [1, 1, 1, 1, 1]), gauge([0.2, 1.2, 2.2, 3.2, 4.2], [1, 1, None, 1, 1])], "sum"
    )
    assert shown(found) == "[2.0, 2.0, nan, 2.0, 2.0]"


def test_a_value_covers_the_time_since_the_previous_one_of_its_series_however_often_others_are_sampled() -> None:
    clock = np.array([0.5, 1.0, 1.5, 2.0, 2.5, 3.0])
    printed = time_series.of_column(PRINTED, clock, codec.column([None, 10, None, 11, None, 12]))
    assert printed.since is not None
    assert printed.since[1::2].tolist() == [0.0, 1.0, 2.0]
    credit = time_series.of_column(CREDITS, clock * 600, codec.column([None, 5, None, None, None, 6]))
    assert credit.since is not None
    assert credit.since[[1, 5]].tolist() == [300.0, 1500.0]


def test_a_node_that_was_not_sampled_for_long_leaves_a_gap_in_the_sum_of_gauges() -> None:
    clock = [float(t) for t in range(10)]
    found = time_series.over_nodes([gauge(clock, [1] * 10), gauge([0, 1, 2, 7, 8, 9], [1] * 6)], "sum")
    assert shown(found) == "[2.0, 2.0, 2.0, 2.0, nan, nan, 2.0, 2.0, 2.0, 2.0]"


def test_a_reset_of_one_node_is_a_reset_of_the_sum_and_no_rate() -> None:
    clock: list[float] = [0, 1, 2]
    found = time_series.over_nodes([rates(clock, [5, 9, 1]), rates(clock, [0, 1, 2])], "sum")
    # The last interval of the one that fell is not known: it took no part in it.
    assert (found.resets, shown(found)) == ((2.0,), "[5.0, 1.0]")
    found = time_series.over_nodes([rates([*clock, 3], [5, 9, 1, 2]), rates([*clock, 3], [0, 1, 2, 3])], "sum")
    assert (found.resets, shown(found)) == ((2.0,), "[5.0, nan, 2.0]")


def test_a_node_that_never_was_observed_is_not_counted() -> None:
    found = time_series.over_nodes([gauge([0, 1], [1, 2]), gauge([0.1, 1.1], [None, None])], "mean")
    assert shown(found) == "[1.0, 2.0]"


def test_a_series_slower_than_its_node_s_clock_is_a_line_at_its_own_interval() -> None:
    clock = [float(t) for t in range(24)]
    found = time_series.with_gaps(gauge(clock, [t if t % 5 == 2 else None for t in range(24)]))
    assert (found.at.tolist(), shown(found)) == ([2, 7, 12, 17, 22], "[2.0, 7.0, 12.0, 17.0, 22.0]")
    rate = time_series.with_gaps(rates(clock, [t * 10 if t % 5 == 2 else None for t in range(24)]))
    assert (rate.at.tolist(), shown(rate)) == ([7, 12, 17, 22], "[10.0, 10.0, 10.0, 10.0]")


def test_samples_that_a_slow_series_missed_are_a_gap_up_to_the_end() -> None:
    clock = [float(t) for t in range(60)]
    found = time_series.with_gaps(
        gauge(clock, [1 if t % 5 == 0 and t not in (15, 20) and t < 50 else None for t in range(60)])
    )
    lost = found.at[np.isnan(found.values)].tolist()
    assert lost == [*range(11, 25), *range(46, 60)]


def test_a_second_without_a_value_among_seconds_stays_a_gap() -> None:
    line = gauge([0, 1, 2, 3, 4], [1, 1, None, 1, 1])
    assert time_series.with_gaps(line) is line


def test_seconds_without_any_sample_are_a_gap() -> None:
    found = time_series.with_gaps(gauge([0, 1, 2, 10, 11, 12], [1, 2, 3, 4, 5, 6]))
    assert (found.at.tolist(), shown(found)) == ([0, 1, 2, 9, 10, 11, 12], "[1.0, 2.0, 3.0, nan, 4.0, 5.0, 6.0]")
    # A late sample is none.
    late = gauge([0, 1, 2, 4, 5], [1, 2, 3, 4, 5])
    assert time_series.with_gaps(late) is late


def test_slow_series_of_nodes_with_clocks_of_their_own_have_a_sum() -> None:
    own = rates([float(t) for t in range(21)], [t * 10 if t % 5 == 0 else None for t in range(21)])
    other = rates([t + 0.3 for t in range(21)], [t * 20 if t % 5 == 0 else None for t in range(21)])
    found = time_series.over_nodes([own, other], "sum")
    assert (found.at.tolist(), shown(found)) == ([5, 10, 15, 20], "[30.0, 30.0, 30.0, 30.0]")


@st.composite
def clocks(draw: st.DrawFn) -> Floats:
    steps = draw(st.lists(st.floats(0.05, 3), min_size=3, max_size=30))
    return float(draw(st.floats(0, 5))) + np.concatenate(([0.0], np.cumsum(steps)))


@st.composite
def counted(draw: st.DrawFn) -> tuple[Floats, Floats]:
    clock = draw(clocks())
    steps = draw(st.lists(st.integers(0, 1000), min_size=len(clock), max_size=len(clock)))
    return clock, np.cumsum(steps).astype(np.float64)


def total_at(clock: Floats, totals: Floats, t: float) -> float:
    """A counter between its samples: by hand, along the straight line."""
    for before, after, low, high in zip(clock, clock[1:], totals, totals[1:], strict=False):
        if before <= t <= after:
            return float(low + (high - low) * (t - before) / (after - before))
    return float(totals[0] if t < clock[0] else totals[-1])


@given(
    clocks(),
    st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 50), min_size=31, max_size=31),
    st.lists(st.floats(-1e9, 1e9), min_size=31, max_size=31),
    st.booleans(),
)
def test_all_at_once_gives_what_one_by_one_gives(
    clock: Floats, integers: list[int], floats: list[float], gap: bool
) -> None:
    length = len(clock)
    steady = np.cumsum(np.abs(np.array(integers[:length]) % 1000))
    samples: dict[str, list[codec.Number]] = {
        "steady": steady.tolist(),
        "any": list(integers[:length]),
        "decimal": [abs(value) for value in np.cumsum(np.abs(floats[:length])).tolist()],
        "falls": list(floats[:length]),
        "gap": [None if gap and place == 1 else value for place, value in enumerate(steady.tolist())],
    }
    columns = {key: codec.column(values) for key, values in samples.items()}
    found = time_series.of_steady(clock, columns, columns).lines()
    assert {"steady", "decimal"} <= set(found)
    for key, line in found.items():
        expected = time_series.of_column(QUESTIONS, clock, columns[key])
        assert not expected.resets
        assert line.values.tolist() == expected.values.tolist()
    for key in set(samples) - set(found):
        expected = time_series.of_column(QUESTIONS, clock, columns[key])
        # What is below 0 is left to be worked out one by one: differences of integers may be beyond 64 bits.
        assert expected.resets or not columns[key].observed.all() or columns[key].values.min() < 0


@given(
    clocks(),
    st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=31, max_size=31), min_size=1, max_size=3),
    st.booleans(),
)
def test_rates_of_stored_rows_are_those_of_their_columns(clock: Floats, totals: list[list[int]], rising: bool) -> None:
    length = len(clock)
    columns = {
        str(place): codec.column(sorted(row[:length]) if rising else row[:length]) for place, row in enumerate(totals)
    }
    encoded = {key: codec.encode(column) for key, column in columns.items()}
    stored = SeriesRows({key: (each.data, each.base) for key, each in encoded.items()}, length)
    found = time_series.of_steady(clock, stored, list(columns)).lines()
    assert found.keys() == time_series.of_steady(clock, columns, columns).lines().keys()
    for key, line in found.items():
        assert line.values.tolist() == time_series.of_column(QUESTIONS, clock, columns[key]).values.tolist()


@given(st.lists(counted(), min_size=2, max_size=4))
def test_sums_of_rates_agree_with_brute_force(nodes: list[tuple[Floats, Floats]]) -> None:
    found = time_series.over_nodes(
        [rates(clock.tolist(), totals.astype(int).tolist()) for clock, totals in nodes], "sum"
    )
    assert found.since is not None
    for since, at, value in zip(found.since, found.at, found.values, strict=True):
        expected, parts = 0.0, 0
        for clock, totals in nodes:
            start, end = max(since, clock[0]), min(at, clock[-1])
            if end - start > time_series.INSTANT:
                expected += (total_at(clock, totals, end) - total_at(clock, totals, start)) / (end - start)
                parts += 1
        if parts:
            assert value == pytest.approx(expected, rel=1e-6, abs=1e-6)


@given(st.lists(counted(), min_size=2, max_size=4))
def test_the_common_clock_rises_and_spans_all_but_edges(nodes: list[tuple[Floats, Floats]]) -> None:
    each = [clock for clock, _ in nodes]
    common = time_series.common_clock(each)
    assert (np.diff(common) > 0).all()
    longest = max(each, key=len)
    assert set(longest.tolist()) <= set(common.tolist())
    for clock in each:
        assert common[-1] >= clock[-1] - time_series.step(clock) - 1e-9
        assert common[0] <= clock[0] + time_series.step(clock) + 1e-9


@given(counted())
def test_one_node_over_nodes_is_itself(node: tuple[Floats, Floats]) -> None:
    own = rates(node[0].tolist(), node[1].astype(int).tolist())
    assert time_series.over_nodes([own], "sum") is own
