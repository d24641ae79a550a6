"""What an agent's encoder was given comes back from its batches, whatever they hold and wherever they are cut."""

import gzip
import itertools
import json
import math
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core import limits
from apps.runs.samples.batches import Decoder, decode
from apps.runs.samples.columns import SampledNode
from tests.examples import examples
from workers.protocol import wire
from workers.protocol.wire import Number

INTEGERS = st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-3, 3))
DECIMALS = st.floats(allow_nan=False, allow_infinity=False)
NAMES = ["a", "b", "c", "mysql.status.Questions", "host.cpu.user"]
# What a series holds: mostly numbers of one kind, as in life, which is what the fast way is for.
HABITS = st.sampled_from(
    [
        INTEGERS,
        DECIMALS,
        st.sampled_from([0.1, 0.25, 0.3]),
        st.one_of(st.none(), INTEGERS),
        st.one_of(st.none(), st.just(math.nan), st.just(math.inf), DECIMALS),
        st.one_of(st.none(), INTEGERS, DECIMALS),
        st.just(7),
        st.none(),
    ]
)
Sample = tuple[str, float, dict[str, Number], bool]
UID = "5f1c1d9e-0000-4000-8000-000000000001"


@st.composite
def recordings(draw: st.DrawFn) -> list[Sample]:
    """Samples (node, s since the one before, values, cut after it)."""
    nodes = draw(st.lists(st.sampled_from(["db1", "db2", "db3"]), max_size=25))
    habits = {name: draw(HABITS) for name in NAMES}
    known = draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
    found = []
    for node in nodes:
        if draw(st.integers(0, 9)) == 0:
            known = draw(st.lists(st.sampled_from(NAMES), unique=True))
        values = {name: draw(habits[name]) for name in known}
        found.append((node, draw(st.floats(1e-3, 7)), values, draw(st.integers(0, 4)) == 0))
    return found


def encode(samples: Iterable[Sample]) -> tuple[list[bytes], dict[str, list[tuple[float, dict[str, Number]]]]]:
    """Batches of `samples`, and for each node what it should read as: time and what was observed."""
    encoder, payloads, clock = wire.BatchEncoder(run=UID), [], 0.0
    seen: dict[str, list[tuple[float, dict[str, Number]]]] = {}
    for node, pause, values, cut in samples:
        clock += pause
        encoder.add_sample(node=node, role="writer", t=clock, values=values)
        observed: dict[str, Number] = {
            key: value for key, value in values.items() if value is not None and math.isfinite(value)
        }
        seen.setdefault(node, []).append((round(clock, 6), observed))
        if cut:
            payloads.append(encoder.flush()[1])
    payloads.append(encoder.flush()[1])
    return payloads, seen


def of_db1(values: Iterable[Number], cut: bool = False) -> list[bytes]:
    return encode(("db1", 1.0, {"a": value}, cut) for value in values)[0]


def read(payloads: Sequence[bytes]) -> list[Number]:
    (node,) = decode(payloads).nodes
    return values_of(node, "a")


def values_of(node: SampledNode, key: str) -> list[Number]:
    column = node.column(key)
    if column is None:
        return [None] * len(node.clock)
    return [v if seen else None for v, seen in zip(column.values.tolist(), column.observed.tolist(), strict=True)]


def of_one_kind(values: Sequence[Number]) -> Sequence[Number]:
    """A series of whole and decimal numbers is decimal."""
    mixed = {int, float} <= {type(value) for value in values}
    return [None if value is None else float(value) for value in values] if mixed else values


def keys_of(nodes: Iterable[SampledNode]) -> dict[str, None]:
    return dict.fromkeys(key for node in nodes for key in (*node.changing, *node.constants))


@given(recordings())
def test_what_is_read_back_is_what_was_seen(samples: list[Sample]) -> None:
    payloads, seen = encode(samples)
    nodes = decode(payloads).nodes
    assert {node.name: node.clock.tolist() for node in nodes} == {
        name: [at for at, _ in rows] for name, rows in seen.items()
    }
    for node in nodes:
        assert not node.changing.keys() & node.constants.keys()
        for key in keys_of([node]):
            assert values_of(node, key) == of_one_kind([values.get(key) for _, values in seen[node.name]])


@given(recordings(), st.data())
def test_taken_in_parts_it_is_the_same_as_all_at_once(samples: list[Sample], data: st.DataObject) -> None:
    payloads, _ = encode(samples)
    decoder, parts = Decoder(), []
    for payload in payloads:
        decoder.feed(payload)
        if data.draw(st.booleans()):
            parts.append(decoder.take())
            assert decoder.weight == 0
    parts.append(decoder.take())
    for whole in decode(payloads).nodes:
        mine = [node for part in parts for node in part if node.name == whole.name]
        assert np.concatenate([node.clock for node in mine]).tolist() == whole.clock.tolist()
        assert keys_of(mine).keys() == keys_of([whole]).keys()
        for key in keys_of([whole]):
            joined = [value for node in mine for value in values_of(node, key)]
            assert of_one_kind(joined) == values_of(whole, key)


@given(st.lists(INTEGERS, min_size=2, max_size=20))
def test_integers_stay_integers_however_far_they_jump(values: list[int]) -> None:
    found = read(of_db1(values))
    assert found == values
    assert all(isinstance(value, int) for value in found)


@given(st.lists(DECIMALS, min_size=2, max_size=20))
def test_decimal_numbers_come_back_to_the_last_bit(values: list[float]) -> None:
    assert read(of_db1(values)) == values


def test_a_counter_reset_is_read_back_as_the_fall_that_it_is() -> None:
    assert read(of_db1((2**60 + 1, 2**60 + 3, 0, 5))) == [2**60 + 1, 2**60 + 3, 0, 5]


def test_what_json_cannot_say_counts_as_not_observed() -> None:
    assert read(of_db1((math.nan, 1.5, math.inf, -math.inf, 2.5))) == [None, 1.5, None, None, 2.5]


def test_a_series_that_came_later_was_not_observed_before() -> None:
    payloads, _ = encode([("db1", 1, {"a": 1}, False), ("db1", 1, {"a": 1, "b": 5}, False), ("db1", 1, {"b": 5}, True)])
    (node,) = decode(payloads).nodes
    assert values_of(node, "b") == [None, 5, 5]
    assert values_of(node, "a") == [1, 1, None]


def test_weight_counts_the_samples_of_the_series_that_changed() -> None:
    payloads, _ = encode(("db1", 1.0, {"a": t // 20, "b": t, "c": 7}, t % 10 == 9) for t in range(40))
    decoder, weights = Decoder(), []
    for payload in payloads[:4]:
        decoder.feed(payload)
        weights.append(decoder.weight)
    assert weights == [10, 20, 60, 80]
    (node,) = decoder.take()
    assert (set(node.changing), node.constants) == ({"a", "b"}, {"c": 7})


def test_a_node_that_says_nothing_new_is_not_taken_again() -> None:
    payloads, _ = encode([("db1", 1, {"a": 1}, False), ("db2", 1, {"a": 1}, True), ("db2", 1, {"a": 1}, True)])
    decoder, taken = Decoder(), []
    for payload in payloads:
        decoder.feed(payload)
        taken.append([node.name for node in decoder.take()])
    assert taken == [["db1", "db2"], ["db2"], []]


# ---------------------------------------------------------------- the forms, and what is refused

LAYOUT = b'{"node":"a","role":"","layout":"x","names":["k","l"]}'
FULL = b'["a",1,[1,2.5]]'


def batch(*lines: bytes) -> bytes:
    return gzip.compress(b"\n".join([b"{}", *lines]))


def rows(*lines: bytes) -> dict[str, list[Number]]:
    (node,) = decode([batch(LAYOUT, *lines)]).nodes
    return {key: values_of(node, key) for key in ("k", "l")}


def test_deltas_and_values_may_be_mixed_in_any_form() -> None:
    assert rows(FULL, b'["a",2,[0,1],[1,0.5]]', b'["a",3,[],[],[1,0],[7.5,9]]', b'["a",4,[0],[-2]]') == {
        "k": [1, 2, 9, 7],
        "l": [2.5, 3.0, 7.5, 7.5],
    }


def test_a_null_delta_ends_a_series_and_the_delta_after_it_is_the_value() -> None:
    assert rows(FULL, b'["a",2,[0],[null]]', b'["a",3,[0],[5]]', b'["a",4,[0],[1]]')["k"] == [1, None, 5, 6]


def test_integers_beyond_64_signed_bits_are_exact() -> None:
    full = f'["a",1,[{2**63 - 1},{2**64 - 1}]]'.encode()
    assert rows(full, b'["a",2,[0],[1]]') == {"k": [2**63 - 1, 2**63], "l": [2**64 - 1] * 2}


def an_event_of_depth(depth: int) -> bytes:
    detail = b'{"a":%s}' % (b"[" * depth + b"]" * depth)
    return b'{"event":{"kind":"k","label":"x","starts_at":1,"detail":%s}}' % detail


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([b"no json"], "line 2"),
        ([b'["db1", 1.0, [1]]'], "line 2: node 'db1' has no layout"),
        ([b'{"what": 1}'], "line 2: unknown line"),
        ([LAYOUT, b'["a",1,[1]]'], "line 3: 1 values for the 2"),
        ([LAYOUT, b'["a",1,[1,true]]'], "line 3: .*bool"),
        ([LAYOUT, b'["a",1,[0],[1]]'], "line 3: the first sample"),
        ([LAYOUT, FULL, b'["a",2,[0,1],[1]]'], "line 4: .*as many"),
        ([LAYOUT, FULL, b'["a",2,[],[],[0],[]]'], "line 4: .*as many"),
        ([LAYOUT, FULL, b'["a",2,[],[]]', b'["a",3,[0,0],[1,1]]'], "line 5: .*twice"),
        ([LAYOUT, FULL, b'["a",2,[0],[1],[0],[1]]'], "line 4: .*twice"),
        ([LAYOUT, FULL, b'["a",2,[-1],[1]]'], "line 4: .*no series -1"),
        ([LAYOUT, FULL, b'["a",2,[],[]]', b'["a",3,[],[],[2],[1]]'], "line 5: .*no series 2"),
        ([LAYOUT, FULL, b'["a",2,[0.0],[1]]'], "line 4: .*no series 0.0"),
        ([LAYOUT, FULL, b'["a",1,[0],[1]]'], "line 4: .*do not rise"),
        ([LAYOUT, FULL, b'["a",2,[1],[1]]', b'["a",3,[0],[9],[],[],[]]'], "line 5"),
        ([LAYOUT, b'["a",1,[1,%d]]' % 2**64], "does not fit"),
        ([LAYOUT, b'["a",1,[1,1e308]]', b'["a",2,[1],[1e308]]'], "infinite"),
        ([b'{"node":"a","role":"","layout":"y"}'], "line 2: layout 'y' was never named"),
        ([b'{"node":"a","role":"","layout":"y","names":["k","k"]}'], "line 2: .*twice"),
        ([LAYOUT, b'{"node":"a","role":"","layout":"y","names":["l"]}'], "line 3: .*drops names"),
        ([b'{"node":"%s","role":"","layout":"y","names":[]}' % (b"n" * 81)], "line 2: .*at most 80"),
        ([an_event_of_depth(30)], "line 2: the detail of event 'x' is nested deeper than 20 levels"),
        ([an_event_of_depth(900)], "line 2: the detail of event 'x' is nested deeper than 20 levels"),
        ([an_event_of_depth(100_000)], "line 2"),
    ],
    ids=itertools.count(),
)
def test_a_batch_that_cannot_be_read_says_where_and_why(lines: list[bytes], words: str) -> None:
    with pytest.raises(wire.BadBatch, match=words):
        decode([batch(*lines)])


def test_times_must_rise_from_batch_to_batch_also_after_a_take() -> None:
    decoder = Decoder()
    decoder.feed(batch(LAYOUT, FULL))
    decoder.take()
    with pytest.raises(wire.BadBatch, match="line 3: node a: the times"):
        decoder.feed(batch(LAYOUT, FULL))


def test_each_batch_begins_with_a_full_sample_of_each_node() -> None:
    decoder = Decoder()
    decoder.feed(batch(LAYOUT, FULL))
    with pytest.raises(wire.BadBatch, match="must be a full one"):
        decoder.feed(batch(b'["a",2,[0],[1]]'))


def test_a_batch_that_unfolds_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "STRETCH_VALUES", 1000)
    payloads = of_db1(range(2000))
    with pytest.raises(wire.BadBatch, match="more than 1000 values"):
        decode(payloads)


@pytest.mark.parametrize("payload", [b"no gzip", gzip.compress(b"{}\n")[:-9]], ids=["other bytes", "cut short"])
def test_what_is_not_gzip_is_refused(payload: bytes) -> None:
    with pytest.raises(wire.BadBatch, match="not gzip"):
        decode([payload])


def test_events_and_output_keep_their_order_and_their_words() -> None:
    encoder = wire.BatchEncoder(run=UID)
    event = wire.EventMessage(kind="fault", label="kill -9", starts_at=1.5, ends_at=2.0, node="db1", detail={"pid": 7})
    encoder.add_output(t=0.1, line="Threads started!")
    encoder.add_event(event)
    encoder.add_output(t=1.1, line='[ 1s ] "quoted" é')
    decoded = decode([encoder.flush()[1]])
    assert decoded.events == [event]
    assert decoded.output == [(0.1, "Threads started!"), (1.1, '[ 1s ] "quoted" é')]


def test_a_layout_is_named_once_and_then_meant_by_its_hash() -> None:
    encoder = wire.BatchEncoder(run=UID)
    names: dict[str, Number] = {f"mysql.status.A_rather_long_name_{number}": number for number in range(500)}
    encoder.add_sample(node="db1", role="writer", t=0, values=names)
    _, first = encoder.flush()
    encoder.add_sample(node="db1", role="writer", t=1, values=names)
    encoder.add_sample(node="db2", role="replica", t=1, values=names)
    _, second = encoder.flush()
    lines: list[Any] = [json.loads(line) for line in wire.read_lines(second)]
    assert not any(isinstance(line, dict) and "names" in line for line in lines)
    assert [(node.name, node.constants) for node in decode([first, second]).nodes] == [("db1", names), ("db2", names)]


NASTY = (
    b"null",
    b"true",
    b"1e999",
    b"9" * 400,
    b"9" * 5000,
    b"[]",
    b"{}",
    b'""',
    b'"\\u0000"',
    b"NaN",
    b"[[[",
    b"\xff",
)
TOKEN = re.compile(rb'-?\d+\.?\d*|"[^"]*"|\[[^\[\]]*\]|null')


@given(data=st.data())
@examples(150)
def test_what_was_mutilated_is_refused_or_read(data: st.DataObject) -> None:
    event = wire.EventMessage(kind="ddl", label="ALTER", starts_at=1.0, ends_at=2.0, node="a", detail={"table": "t"})
    encoder = wire.BatchEncoder(run="r")
    for t in range(4):
        values: dict[str, Number] = {"k": t, "x": 0.5 * t, "none": None, "big": 2**60 + t}
        encoder.add_sample(node="a", role="writer", t=float(t), values=values)
        encoder.add_output(t=t + 0.5, line="a line")
    encoder.add_event(event)
    lines = gzip.decompress(encoder.flush()[1]).splitlines()
    for _ in range(data.draw(st.integers(1, 4))):
        number = data.draw(st.integers(0, len(lines) - 1))
        tokens = [found.span() for found in TOKEN.finditer(lines[number])] or [(0, 0)]
        start, end = data.draw(st.sampled_from(tokens))
        numbers = st.integers(-5, 2**64).map(lambda number: b"%d" % number)
        other = data.draw(st.sampled_from(NASTY) | numbers | st.binary(max_size=6))
        lines[number] = lines[number][:start] + other + lines[number][end:]
        if data.draw(st.booleans()):
            lines.insert(data.draw(st.integers(0, len(lines))), lines[number])
    with suppress(wire.BadBatch):
        decode([gzip.compress(b"\n".join(lines), 1)])
