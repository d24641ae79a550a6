import gzip
import json
from typing import Any

import pytest

from workers.protocol import wire

UID = "5f1c1d9e-0000-4000-8000-000000000001"


def lines_of(*values: wire.Number) -> list[Any]:
    """The samples of one series as they are said."""
    encoder = wire.BatchEncoder(run=UID)
    for second, value in enumerate(values):
        encoder.add_sample(node="db1", role="writer", t=second, values={"a": value})
    return [json.loads(line) for line in wire.read_lines(encoder.flush()[1])[2:]]


def test_integers_are_said_as_deltas_and_decimal_numbers_as_they_are() -> None:
    assert lines_of(5, 7)[1] == ["db1", 1.0, [0], [2]]
    assert lines_of(0.1, 0.4)[1] == ["db1", 1.0, [], [], [0], [0.4]]


def test_what_no_delta_says_is_said_outright() -> None:
    assert [line[2:] for line in lines_of(2**63 - 1, -2, None, 3, 3)[1:]] == [
        [[], [], [0], [-2]],
        [[], [], [0], [None]],
        [[], [], [0], [3]],
        [[], []],
    ]


def test_an_integer_of_hundreds_of_digits_is_not_observed() -> None:
    assert lines_of(2**63, int("9" * 400))[1:] == [["db1", 1.0, [], [], [0], [None]]]


def test_ten_seconds_of_a_node_that_hardly_changes_take_few_bytes() -> None:
    """The form decides the cost: 600 counters of which 20 move."""
    encoder = wire.BatchEncoder(run=UID)
    for second in range(11):
        values = {f"mysql.status.Counter_{n}": n * 1000 + (second * (n + 7) if n < 20 else 0) for n in range(600)}
        encoder.add_sample(node="db1", role="writer", t=second, values=values)
        if second == 0:
            encoder.flush()
    assert len(encoder.flush()[1]) < 4000


def test_size_counts_what_waits_and_begins_anew_after_a_flush() -> None:
    encoder = wire.BatchEncoder(run=UID)
    encoder.add_output(t=0, line="x" * 1000)
    assert 1000 < encoder.size() < 1100
    assert not encoder.is_empty()
    sequence, _ = encoder.flush()
    assert (sequence, encoder.size(), encoder.is_empty()) == (0, 0, True)


def test_a_batch_that_unpacks_to_too_much_is_refused() -> None:
    bomb = gzip.compress(b"0" * 10_000_000)
    with pytest.raises(wire.BadBatch, match="more than 1000 bytes"):
        wire.read_lines(bomb, limit=1000)
    assert wire.read_lines(bomb, limit=10_000_000) == [b"0" * 10_000_000]
