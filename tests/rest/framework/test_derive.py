"""A dataclass as JSON and as a schema: names, forms and descriptions as its fields state them."""

import math
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Literal

import pytest

from apps.core.answers import (
    Cell,
    Hidden,
    Inline,
    Name,
    Omitted,
    OneOf,
    Rounded,
    Seconds,
    Shown,
    Unbounded,
    Words,
    component,
)
from apps.rest.framework.derive import Answer, field_of, serializer_of
from apps.rest.framework.lists import listing


class Mood(Enum):
    CALM = "calm"


@dataclass(frozen=True)
class Spot:
    at: Annotated[Seconds, "s on the run's clock"]
    span: tuple[float, float] | None


@dataclass(frozen=True)
class Thing:
    name: Words
    mood: Annotated[Mood, Name("temper")]
    kind: Literal["a", "b"]
    color: Annotated[str, OneOf(("red", "green"))]
    ratio: Annotated[Rounded | None, "after over before"]
    high: Unbounded
    secret: Hidden[str]
    spots: tuple[Spot, ...]
    counts: dict[str, int | None]
    cells: tuple[Cell, ...]

    @property
    def size(self) -> Annotated[Shown[int], "how many spots"]:
        return len(self.spots)

    @property
    def inner(self) -> int:
        return 1


class ThingSerializer(Answer):
    of = Thing


@component("Box", "Holds a thing.")
@dataclass(frozen=True)
class BoxRow:
    thing: Annotated[Thing, Inline("temper", "size")]
    lid: Omitted[str] = None


THING = Thing(
    name="6\N{NO-BREAK SPACE}s",
    mood=Mood.CALM,
    kind="a",
    color="red",
    ratio=1 / 3,
    high=math.inf,
    secret="x",
    spots=(Spot(1.23456, (0.5, 2.0)),),
    counts={"n": None},
    cells=("a", 1.5, None),
)


def test_every_field_is_written_in_its_form() -> None:
    assert ThingSerializer(THING).data == {
        "name": "6 s",
        "temper": "calm",
        "kind": "a",
        "color": "red",
        "ratio": 0.333333,
        "high": None,
        "spots": [{"at": 1.235, "span": [0.5, 2.0]}],
        "counts": {"n": None},
        "cells": ["a", 1.5, None],
        "size": 1,
    }


def test_descriptions_and_nulls_come_from_the_annotations() -> None:
    fields = ThingSerializer().fields
    described = {name: str(field.help_text) for name, field in fields.items() if field.help_text}
    assert described == {"ratio": "after over before", "size": "how many spots"}
    assert {name for name, field in fields.items() if field.allow_null} == {"ratio", "high"}
    assert serializer_of(Spot)().fields["span"].allow_null


def test_the_stated_serializer_is_used_wherever_the_dataclass_is() -> None:
    assert serializer_of(Thing) is ThingSerializer
    assert isinstance(field_of(Thing), ThingSerializer)


def test_a_serializer_that_is_stated_later_is_used_where_the_dataclass_was_before() -> None:
    @dataclass(frozen=True)
    class Late:
        name: str

    @dataclass(frozen=True)
    class Holder:
        late: Late

    before, page = serializer_of(Late), listing(serializer_of(Late), name="Late")

    class LateAnswer(Answer):
        of = Late

    assert isinstance(before(), LateAnswer)
    assert isinstance(before(many=True).child, LateAnswer)  # type: ignore[attr-defined]  # many: a ListSerializer
    assert isinstance(field_of(Holder).fields["late"], LateAnswer)  # type: ignore[attr-defined]  # a serializer
    assert isinstance(page().fields["results"].child, LateAnswer)  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="LateAnswer already"):
        type("SecondAnswer", (Answer,), {"of": Late})


def test_a_dataclass_has_the_fields_of_one_that_it_holds_inline() -> None:
    kind = serializer_of(BoxRow)
    assert kind(BoxRow(THING)).data == {"temper": "calm", "size": 1}
    assert (kind.__name__, kind.__doc__) == ("BoxSerializer", "Holds a thing.")
    assert not kind().fields["lid"].required


@pytest.mark.parametrize("hint", [int | str, bytes])
def test_a_type_without_one_form_in_json_is_refused(hint: object) -> None:
    with pytest.raises(TypeError, match="declare the field"):
        field_of(hint)
