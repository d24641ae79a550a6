"""JSON of requests: anything invalid is named by its place, in time that grows with the length."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.exceptions import ValidationError

from apps.core import limits
from apps.rest.framework.bodies import InvalidJson, decode_json

# Of ten times the length: as many times as long where time grows with the length, a hundred where with its square.
TIMES = 10
MOST = 3 * TIMES


def read(text: bytes) -> object:
    assert len(text) <= limits.JSON
    try:
        return decode_json(text)
    except (InvalidJson, ValidationError) as error:
        return error


def some_names(count: int) -> bytes:
    return b",".join(b'"%d":0' % number for number in range(count))


@pytest.mark.parametrize(
    "body",
    [
        lambda times: b"{" + some_names(times * 15_000) + b',"%d":0}' % (times * 15_000 - 1),
        lambda times: b'{"' + b"a" * (times * 100_000) + b'": [' + b"0," * (times * 50_000) + b"0]}",
        lambda times: b'{"' + b"a" * (times * 100_000) + b'": {' + some_names(times * 8_000) + b"}}",
    ],
    ids=["names", "entries below a long name", "names below a long name"],
)
def test_long_json_takes_time_in_proportion_to_its_length(body: Callable[[int], bytes]) -> None:
    """A disturbance of the machine makes one pair of readings unequal, not five."""
    short, long = body(1), body(TIMES)
    ratios: list[float] = []
    while len(ratios) < 5 and not any(ratio < MOST for ratio in ratios):
        ratios.append(cpu_seconds(long) / cpu_seconds(short))
    assert min(ratios) < MOST, ratios


def cpu_seconds(text: bytes) -> float:
    began = time.process_time()
    read(text)
    return time.process_time() - began


def test_a_name_that_is_given_twice_is_named() -> None:
    assert str(read(b'{"a": 1, "b": {"c": 1, "d": 2, "c": 3}}')) == "'c' is given twice in one object"


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": {"b": [0, {"c": 2**70}]}}, "a.b.1.c"),
        ({"a": {"": "\0"}}, "a."),
        ({"": "\0"}, '""'),
        ({"a": {"b\0": 1}}, "a"),
        ([["\0"]], "0.0"),
    ],
)
def test_what_cannot_be_stored_is_named_by_its_place(value: object, path: str) -> None:
    found: Any = read(json.dumps(value).encode())
    assert list(found.detail) == [path]


def test_what_is_in_a_part_of_a_form_is_named_by_that_part() -> None:
    with pytest.raises(ValidationError) as refused:
        decode_json(b'["\\u0000"]', name="description")
    assert refused.value.detail == {"description.0": ["contains NUL, which cannot be stored"]}
