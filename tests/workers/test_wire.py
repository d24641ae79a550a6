import gzip
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers import wire

INTEGERS = st.integers(-(2**63), 2**63 - 1)
VALUES = st.one_of(st.none(), INTEGERS, st.floats(allow_nan=False, allow_infinity=False))
NAMES = st.sampled_from(["a", "b", "c", "mysql.status.Questions", "host.cpu.user"])
SAMPLES = st.lists(
    st.tuples(st.sampled_from(["db1", "db2"]), st.dictionaries(NAMES, VALUES), st.booleans(), st.floats(1e-3, 7)),
    max_size=30,
)
UID = "5f1c1d9e-0000-4000-8000-000000000001"


def encode(
    samples: list[tuple[str, dict[str, wire.Number], bool, float]],
) -> tuple[list[bytes], dict[str, list[float]]]:
    """Batches of `samples` (node, values, flush after it, s until it) and the times of each node's samples."""
    encoder, payloads, clock = wire.BatchEncoder(run=UID), [], 0.0
    times: dict[str, list[float]] = {}
    for node, values, flush, pause in samples:
        clock += pause
        encoder.add_sample(node=node, role="writer", t=clock, values=values)
        times.setdefault(node, []).append(round(clock, 6))
        if flush:
            payloads.append(encoder.flush()[1])
    payloads.append(encoder.flush()[1])
    return payloads, times


@given(SAMPLES)
def test_what_is_read_back_is_what_was_seen(samples: list[tuple[str, dict[str, wire.Number], bool, float]]) -> None:
    payloads, times = encode(samples)
    decoded = wire.decode(payloads)
    assert {name: node.times for name, node in decoded.nodes.items()} == times
    for name, node in decoded.nodes.items():
        seen = [values for sampled, values, _, _ in samples if sampled == name]
        assert len(node.rows) == len(seen)
        for row, values in zip(node.rows, seen, strict=True):
            read = {key: value for key, value in zip(node.names, row, strict=False) if value is not None}
            assert read == {key: value for key, value in values.items() if value is not None}


@given(st.lists(INTEGERS, min_size=2, max_size=20))
def test_integers_stay_integers_however_far_they_jump(values: list[int]) -> None:
    payloads, _ = encode([("db1", {"a": value}, False, 1.0) for value in values])
    read = [row[0] for row in wire.decode(payloads).nodes["db1"].rows]
    assert read == values
    assert all(isinstance(value, int) for value in read)


def test_a_counter_reset_is_read_back_as_the_fall_that_it_is() -> None:
    payloads, _ = encode([("db1", {"a": value}, False, 1.0) for value in (2**60 + 1, 2**60 + 3, 0, 5)])
    assert [row[0] for row in wire.decode(payloads).nodes["db1"].rows] == [2**60 + 1, 2**60 + 3, 0, 5]


def test_what_json_cannot_say_counts_as_not_observed() -> None:
    payloads, _ = encode([("db1", {"a": value}, False, 1.0) for value in (math.nan, 1.5, math.inf, -math.inf, 2.5)])
    assert [row[0] for row in wire.decode(payloads).nodes["db1"].rows] == [None, 1.5, None, None, 2.5]


def test_a_layout_is_named_once_and_then_meant_by_its_hash() -> None:
    encoder = wire.BatchEncoder(run=UID)
    names = {f"mysql.status.A_rather_long_name_{number}": number for number in range(500)}
    encoder.add_sample(node="db1", role="writer", t=0, values=names)
    _, first = encoder.flush()
    encoder.add_sample(node="db1", role="writer", t=1, values=names)
    encoder.add_sample(node="db2", role="replica", t=1, values=names)
    _, second = encoder.flush()
    lines = [json.loads(line) for line in gzip.decompress(second).split(b"\n")]
    assert not any(isinstance(line, dict) and "names" in line for line in lines)
    assert list(wire.decode([first, second]).nodes) == ["db1", "db2"]


def test_ten_seconds_of_a_node_that_hardly_changes_take_few_bytes() -> None:
    """The form decides the cost: 600 counters of which 20 move."""
    encoder = wire.BatchEncoder(run=UID)
    for second in range(11):
        values = {f"mysql.status.Counter_{n}": n * 1000 + (second * (n + 7) if n < 20 else 0) for n in range(600)}
        encoder.add_sample(node="db1", role="writer", t=second, values=values)
        if second == 0:
            encoder.flush()
    assert len(encoder.flush()[1]) < 4000


def test_events_and_output_keep_their_order_and_their_words() -> None:
    encoder = wire.BatchEncoder(run=UID)
    event = wire.EventMessage(kind="fault", label="kill -9", starts_at=1.5, ends_at=2.0, node="db1", detail={"pid": 7})
    encoder.add_output(t=0.1, line="Threads started!")
    encoder.add_event(event)
    encoder.add_output(t=1.1, line='[ 1s ] "quoted" é')
    decoded = wire.decode([encoder.flush()[1]])
    assert decoded.events == [event]
    assert decoded.output == [(0.1, "Threads started!"), (1.1, '[ 1s ] "quoted" é')]


def test_size_counts_what_waits_and_begins_anew_after_a_flush() -> None:
    encoder = wire.BatchEncoder(run=UID)
    encoder.add_output(t=0, line="x" * 1000)
    assert 1000 < encoder.size() < 1100
    assert not encoder.is_empty()
    sequence, _ = encoder.flush()
    assert (sequence, encoder.size(), encoder.is_empty()) == (0, 0, True)


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        (b"no gzip", "not gzip"),
        (gzip.compress(b"head\nno json"), "line 2"),
        (gzip.compress(b'head\n["db1", 1.0, [1]]'), "line 2"),
        (gzip.compress(b'head\n{"what": 1}'), "unknown line"),
        (
            gzip.compress(b'head\n{"node":"a","role":"","layout":"x","names":["k"]}\n["a",1,[1,2]]'),
            "2 values for the 1",
        ),
    ],
)
def test_a_batch_that_cannot_be_read_says_where(payload: bytes, words: str) -> None:
    with pytest.raises(wire.BadBatch, match=words):
        wire.decode([payload])


def test_a_batch_that_unpacks_to_too_much_is_refused() -> None:
    bomb = gzip.compress(b"0" * 10_000_000)
    with pytest.raises(wire.BadBatch, match="more than 1000 bytes"):
        list(wire.read_lines(bomb, limit=1000))
