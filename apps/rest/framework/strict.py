"""Fields and bodies that refuse unknown input instead of guessing or ignoring it."""

import math
from typing import Any, NoReturn

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.core.problems import NAMELESS
from apps.core.query import unknown_choice

SLUG = r"^[A-Za-z0-9][A-Za-z0-9_.-]*$"
OF_SLUG = "must begin with a letter or digit and have only ASCII letters, digits, '-', '_' and '.'"


class Strict(serializers.Serializer[Any]):
    """A body in which unknown names are refused: a misspelt one must not be ignored. Nor does a number pass as text."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict) and (unknown := sorted(set(data) - set(self.fields))):
            known = ", ".join(self.fields)
            errors = {name or NAMELESS: [f"unknown name; known here: {known}"] for name in unknown}
            raise serializers.ValidationError(errors)
        if isinstance(data, dict) and (
            numbers := [name for name, value in data.items() if self._is_no_text(name, value)]
        ):
            raise serializers.ValidationError({name: ["must be a text"] for name in numbers})
        return super().to_internal_value(data)

    def _is_no_text(self, name: str, value: Any) -> bool:
        return type(self.fields[name]) in (serializers.CharField, NameField) and isinstance(value, int | float)


class SlugField(serializers.RegexField):
    """Of all catalog rows: "c3.8xlarge" is one, which Django's and DRF's own fields refuse."""

    default_error_messages = {"invalid": OF_SLUG}

    def __init__(self, **options: Any) -> None:
        super().__init__(SLUG, **options)


class NameField(serializers.CharField):
    """A name that people read in lists and charts: one line."""

    default_error_messages = {"unseen": "has a line break or another character that is not seen: leave it out"}

    def to_internal_value(self, data: Any) -> str:
        name = str(super().to_internal_value(data))
        if not name.isprintable():
            self.fail("unseen")
        return name


class ChoiceField(serializers.ChoiceField):
    """Lists the choices in its error message."""

    default_error_messages = {"invalid_choice": "{words}"}

    def fail(self, key: str, **details: Any) -> NoReturn:
        words = unknown_choice(str(details.get("input")), map(str, self.choices))
        super().fail(key, words=words, **details)


class MultipleChoiceField(ChoiceField, serializers.MultipleChoiceField):
    """Lists the choices in its error message."""


class FiniteField(serializers.FloatField):
    default_error_messages = {"not_finite": "must be a finite number"}

    def to_internal_value(self, data: Any) -> float:
        if isinstance(data, bool):
            self.fail("invalid")
        try:
            value = float(super().to_internal_value(data))
        except OverflowError:
            self.fail("not_finite")
        if not math.isfinite(value):
            self.fail("not_finite")
        return value


SCALAR = {"oneOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]}


@extend_schema_field(SCALAR)
class ScalarField(serializers.Field[Any, Any, Any, Any]):
    """A string, number or boolean, stored unchanged."""

    default_error_messages = {
        "no_scalar": "must be a text, a number, or true or false",
        "long": "must have at most 2,000 characters",
    }

    def to_internal_value(self, data: Any) -> str | int | float | bool:
        if not isinstance(data, str | int | float):
            self.fail("no_scalar")
        if isinstance(data, str) and len(data) > 2000:
            self.fail("long")
        return data

    def to_representation(self, value: Any) -> Any:
        return value
