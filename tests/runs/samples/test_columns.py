"""Whatever bytes an agent sends, reading them gives samples or a BadBatch that says why."""

import gzip
import json
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.runs.samples import batches, columns
from apps.runs.tool_output import sysbench_values as reading
from apps.runs.tool_output.parsers.sysbench import SysbenchInterval
from workers.protocol import wire

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.integers(0, 3), max_size=3),
    st.sampled_from(["db1", "a", 10**400, 2**63, -1]),
)
PLACES = st.lists(st.integers(-1, 2), max_size=2)
ENTRIES = st.one_of(
    st.fixed_dictionaries({"node": VALUES, "role": VALUES, "layout": VALUES}, optional={"names": st.lists(VALUES)}),
    st.just({"node": "db1", "role": "writer", "layout": "a", "names": ["k", "l"]}),
    st.tuples(st.just("db1"), st.integers(0, 9), st.lists(VALUES, min_size=2, max_size=2)),
    st.tuples(st.just("db1"), VALUES, st.lists(st.integers(-1, 3)), st.lists(VALUES)),
    st.tuples(st.just("db1"), st.integers(0, 9), PLACES, PLACES | st.lists(VALUES), PLACES, PLACES | st.lists(VALUES)),
    st.fixed_dictionaries(
        {"event": st.dictionaries(st.sampled_from(["kind", "label", "starts_at", "ends_at"]), VALUES)}
    ),
    st.fixed_dictionaries({"output": VALUES, "t": VALUES}),
    VALUES,
)


def read(lines: list[bytes]) -> None:
    decoded = batches.decode([gzip.compress(b"\n".join([b"{}", *lines]))])
    columns.events_of(decoded.events)
    columns.offset_of(decoded.output)


@given(st.lists(ENTRIES, max_size=6))
def test_any_json_is_read_or_refused_with_a_reason(entries: list[Any]) -> None:
    # Any other exception fails the test.
    with suppress(wire.BadBatch):
        read([json.dumps(entry).encode() for entry in entries])


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 100_000,
        b'{"output":"x","t":1' + b"0" * 400 + b"}",
        b'{"node":"db1","role":"w","layout":"a","names":[5]}',
        b'{"node":"db1","role":"w","layout":"a","names":[[]]}',
        b'{"node":5,"role":"w","layout":"a","names":["k"]}',
    ],
    ids=["deep", "huge time", "name is a number", "name is a list", "node is a number"],
)
def test_hostile_lines_are_refused(line: bytes) -> None:
    with pytest.raises(wire.BadBatch):
        read([line])


def test_the_offset_is_not_moved_by_lines_that_came_late() -> None:
    lines = [(second + 0.7 + (5 if second in (3, 4) else 0), f"[ {second}s ] thds: 1") for second in range(1, 12)]
    assert columns.offset_of([(0.1, "Threads started!"), *lines]) == pytest.approx(0.7)
    assert columns.offset_of([(0.1, "Threads started!")]) is None


def test_the_offset_holds_where_most_lines_were_read_at_once_after_a_pause() -> None:
    lines = [(max(second, 25) + 0.7, f"[ {second}s ] thds: 1") for second in range(1, 31)]
    assert columns.offset_of([(25.7, "Threads started!"), *lines]) == pytest.approx(0.7)


def test_a_second_that_sysbench_rounded_up_does_not_move_the_offset() -> None:
    lines = [(second + 0.7 - (0.4 if second == 9 else 0), f"[ {second}s ] thds: 1") for second in range(1, 21)]
    assert columns.offset_of(lines) == pytest.approx(0.7)


def test_the_offset_is_read_from_reports_too() -> None:
    lines = [(t + 0.25, f'{{"kind":"interval","t":{t},"seconds":1.0}}') for t in (1.003, 2.006)]
    assert columns.offset_of([(0.1, '{"kind":"begin","tool":"failover"}'), *lines]) == pytest.approx(0.25)


def test_the_offset_of_a_report_too_short_for_an_interval_is_its_beginning() -> None:
    lines = [(1.9, "words"), (2.0, '{"kind":"begin","tool":"data_load"}'), (2.2, '{"kind":"total","from":0,"to":0.2}')]
    assert columns.offset_of(lines) == 2.0


def test_a_second_printed_twice_counts_as_it_was_printed_last() -> None:
    values: dict[str, float | None] = {"throughput": 1.0, "latency": 2.0}
    printed = [
        SysbenchInterval(1, 4, 95, values),
        SysbenchInterval(2, 4, 95, values),
        SysbenchInterval(2, 4, 95, values | {"throughput": 9.0}),
    ]
    client = columns.client_of(reading.intervals(printed), offset=0.5)
    assert client is not None
    assert client.clock.tolist() == [1.5, 2.5]
    assert client.changing["client.throughput"].values.tolist() == [1.0, 9.0]
    assert client.constants == {"client.threads": 4, "client.latency.p95": 2.0}


def test_intervals_without_a_count_are_no_series_of_the_client() -> None:
    assert columns.client_of(reading.intervals([SysbenchInterval(1, 4, None, {"queue_length": 3.0})]), offset=0) is None


def test_the_seconds_of_cpu_fileio_and_memory_are_series_of_the_client() -> None:
    printed = [
        SysbenchInterval(1, 4, 95, {"events": 3.0, "latency": 1.5}),
        SysbenchInterval(2, 4, 95, {"events": 5.0, "latency": None}),
    ]
    client = columns.client_of(reading.intervals(printed), offset=0)
    assert client is not None
    assert client.changing["client.events"].values.tolist() == [3.0, 5.0]
    moved = columns.client_of(reading.intervals([SysbenchInterval(1, None, None, {"memory_mib": 3.0})]), offset=0)
    assert moved is not None
    assert moved.constants == {"client.memory_mib": 3.0}
    files: dict[str, float | None] = {"file_reads_mib": 8.0, "file_writes_mib": 0.0, "file_fsyncs": 2.0, "latency": 0.1}
    client = columns.client_of(reading.intervals([SysbenchInterval(1, None, 95, files)]), offset=0)
    assert client is not None
    assert client.constants["client.file_read_mib"] == 8.0
    assert "client.threads" not in client.constants


def test_a_column_of_a_series_that_is_not_there_is_none() -> None:
    node = columns.SampledNode(name="db1", role="", clock=np.arange(3.0), constants={"a": 5, "b": None})
    assert node.column("x") is None
    constant, never = node.column("a"), node.column("b")
    assert constant is not None
    assert never is not None
    assert constant.values.tolist() == [5, 5, 5]
    assert not never.observed.any()
