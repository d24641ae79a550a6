"""Serializers, and so the OpenAPI schema, derived from the frozen dataclasses that the API answers.

Descriptions and forms of the fields: apps.core.answers.
"""

import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from functools import cache, partial
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints
from uuid import UUID

from rest_framework import serializers

from apps.core.answers import Form
from apps.rest.framework.fields import EnumField, NumberField, SecondsField, TupleField, UnboundedField, WordsField

AnyField = serializers.Field[Any, Any, Any, Any]
Factory = Callable[..., AnyField]

BY_FORM: dict[Form, Factory] = {
    Form.UNBOUNDED: UnboundedField,
    Form.ROUNDED: NumberField,
    Form.MILLISECONDS: SecondsField,
    Form.WORDS: WordsField,
}
BY_TYPE: dict[Any, Factory] = {
    bool: serializers.BooleanField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
    str: serializers.CharField,
    datetime: serializers.DateTimeField,
    date: serializers.DateField,
    UUID: serializers.UUIDField,
    Any: serializers.JSONField,
    object: serializers.JSONField,
}


class Answer(serializers.Serializer[Any]):
    # No docstring: it would describe every subclass in the schema.
    # Has the fields of `of`, its properties named in `also`, and the fields declared by the subclass. `names`: those in
    # the API that are not the dataclass's.
    of: ClassVar[type]
    also: ClassVar[tuple[str, ...]] = ()
    names: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "of" in vars(cls):
            _known[cls.of] = cls

    def get_fields(self) -> dict[str, AnyField]:
        declared = super().get_fields()
        derived = {}
        for attribute, hint in _hints(self.of, self.also).items():
            name = self.names.get(attribute, attribute)
            if name not in declared:
                derived[name] = field_of(hint, **({} if name == attribute else {"source": attribute}))
        return derived | declared


# The serializer of a dataclass: the subclass of Answer that states it, else a derived one.
_known: dict[type, type[Answer]] = {}


def serializer_of(kind: type) -> type[Answer]:
    return _known.get(kind) or type(f"{kind.__name__}Serializer", (Answer,), {"of": kind})


@cache
def _hints(kind: Any, also: Iterable[str]) -> dict[str, Any]:
    """Field or property -> annotation, without hidden ones."""
    hints = get_type_hints(kind, include_extras=True)
    found = {field.name: hints[field.name] for field in fields(kind)}
    found |= {name: get_type_hints(getattr(kind, name).fget, include_extras=True)["return"] for name in also}
    return {name: hint for name, hint in found.items() if Form.HIDDEN not in getattr(hint, "__metadata__", ())}


def field_of(hint: Any, **options: Any) -> AnyField:
    """The field that writes values of this type. Raises TypeError for a type without one form in JSON."""
    notes: list[Any] = []
    while (origin := get_origin(hint)) in (Annotated, Union, types.UnionType):
        if origin is Annotated:
            notes, hint = [*notes, *hint.__metadata__], get_args(hint)[0]
        else:
            hint, options = _not_none(hint), options | {"allow_null": True}
    if texts := [note for note in notes if isinstance(note, str)]:
        options = {"help_text": texts[0]} | options
    forms = [BY_FORM[note] for note in notes if isinstance(note, Form)]
    return (forms[0] if forms else _collection(hint) or _single(hint))(**options)


def _not_none(hint: Any) -> Any:
    kinds = [each for each in get_args(hint) if each is not types.NoneType]
    if len(kinds) > 1:
        raise TypeError(f"{hint} has no single form in JSON: declare the field in a subclass of Answer")
    return kinds[0]


def _collection(hint: Any) -> Factory | None:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return partial(serializers.ChoiceField, choices=arguments)
    if origin is tuple and arguments[-1] is not Ellipsis:
        return partial(TupleField, [field_of(each) for each in arguments])
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return partial(serializers.DictField, child=field_of(arguments[1]))
    if isinstance(origin, type) and issubclass(origin, Iterable):
        return partial(_list, field_of(arguments[0]))
    return None


def _list(item: AnyField, **options: Any) -> AnyField:
    if isinstance(item, serializers.Serializer):
        return type(item)(many=True, **options)
    return serializers.ListField(child=item, **options)


def _single(hint: Any) -> Factory:
    if is_dataclass(hint):
        return serializer_of(hint)  # type: ignore[arg-type]  # is_dataclass: a class or an instance
    if isinstance(hint, type) and issubclass(hint, Enum):
        return partial(EnumField, hint)
    if hint not in BY_TYPE:
        raise TypeError(f"{hint} has no form in JSON: declare the field in a subclass of Answer")
    return BY_TYPE[hint]
