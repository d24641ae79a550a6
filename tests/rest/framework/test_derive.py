"""A dataclass as JSON and as a schema: names, forms and descriptions as its fields state them."""

import math
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Literal

import pytest

from apps.core.answers import Hidden, Rounded, Seconds, Unbounded, Words
from apps.rest.framework.derive import Answer, field_of, serializer_of


class Mood(Enum):
    CALM = "calm"


@dataclass(frozen=True)
class Spot:
    at: Annotated[Seconds, "s on the run's clock"]
    span: tuple[float, float] | None


@dataclass(frozen=True)
class Thing:
    name: Words
    mood: Mood
    kind: Literal["a", "b"]
    ratio: Annotated[Rounded | None, "after over before"]
    high: Unbounded
    secret: Hidden[str]
    spots: tuple[Spot, ...]
    counts: dict[str, int | None]

    @property
    def size(self) -> Annotated[int, "how many spots"]:
        return len(self.spots)


class ThingSerializer(Answer):
    of = Thing
    also = ("size",)
    names = {"mood": "temper"}


THING = Thing("6\N{NO-BREAK SPACE}s", Mood.CALM, "a", 1 / 3, math.inf, "x", (Spot(1.23456, (0.5, 2.0)),), {"n": None})


def test_every_field_is_written_in_its_form() -> None:
    assert ThingSerializer(THING).data == {
        "name": "6 s",
        "temper": "calm",
        "kind": "a",
        "ratio": 0.333333,
        "high": None,
        "spots": [{"at": 1.235, "span": [0.5, 2.0]}],
        "counts": {"n": None},
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


@pytest.mark.parametrize("hint", [int | str, bytes])
def test_a_type_without_one_form_in_json_is_refused(hint: object) -> None:
    with pytest.raises(TypeError, match="declare the field"):
        field_of(hint)
