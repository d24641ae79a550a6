"""JSON of requests: anything invalid is named by its place, in time that grows with the length."""

import json
import time
from typing import Any

import pytest
from rest_framework.exceptions import ValidationError

from apps.core import limits
from apps.rest.framework.bodies import InvalidJson, decode_json

# Reading such a body takes a second where time grows with the length, and minutes where it grows with its square.
LONGEST = 10.0  # s


def read(text: bytes) -> object:
    assert len(text) <= limits.JSON
    try:
        return decode_json(text)
    except (InvalidJson, ValidationError) as error:
        return error


@pytest.mark.parametrize(
    "text",
    [
        b"{" + b",".join(b'"%d":0' % number for number in range(150_000)) + b',"149999":0}',
        b'{"' + b"a" * 1_000_000 + b'": [' + b"0," * 500_000 + b"0]}",
        b'{"' + b"a" * 1_000_000 + b'": {' + b",".join(b'"%d":0' % number for number in range(80_000)) + b"}}",
    ],
    ids=["names", "entries below a long name", "names below a long name"],
)
def test_long_json_takes_time_in_proportion_to_its_length(text: bytes) -> None:
    began = time.process_time()
    read(text)
    assert time.process_time() - began < LONGEST


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
