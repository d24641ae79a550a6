"""Serializers, and so the OpenAPI schema, derived from the frozen dataclasses that the API answers.

Descriptions and forms of the fields: apps.core.answers.
"""

import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from functools import cache, cached_property, partial
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, Union, cast, get_args, get_origin, get_type_hints
from uuid import UUID

from rest_framework import serializers

from apps.core.answers import COMPONENT, Form, Inline, Name, OneOf
from apps.rest.framework.fields import EnumField, NumberField, SecondsField, TupleField, UnboundedField, WordsField

AnyField = serializers.Field[Any, Any, Any, Any]
Factory = Callable[..., AnyField]
N = TypeVar("N")

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
    # Has the fields of `of`, and those declared by the subclass.
    of: ClassVar[type]
    is_derived: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "of" not in vars(cls):
            return
        cls.__doc__ = _component(cls.of)[1] or cls.__doc__
        if not cls.is_derived and _registry.setdefault(cls.of, cls) is not cls:
            raise TypeError(f"{cls.of.__name__} is stated by {_registry[cls.of].__name__} already")

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        # Its subclass may have been imported after `serializer_of`: the order of imports must not change the schema.
        stated = _registry.get(cls.of) if cls.is_derived else None
        return cast(Self, stated(*args, **kwargs)) if stated else super().__new__(cls, *args, **kwargs)

    def get_fields(self) -> dict[str, AnyField]:
        declared = super().get_fields()
        derived: dict[str, AnyField] = {}
        for attribute, hint in _hints(self.of).items():
            if (inline := _note(hint, Inline)) is not None:
                derived |= _inlined(attribute, get_args(hint)[0], inline)
                continue
            name = renamed.text if (renamed := _note(hint, Name)) else attribute
            if name not in declared:
                derived[name] = field_of(hint, **({} if name == attribute else {"source": attribute}))
        return derived | declared

    @cached_property
    def _omitted(self) -> list[str]:
        fields = self.fields.items()
        return [name for name, field in fields if not (field.required or field.read_only or field.allow_null)]

    def to_representation(self, instance: Any) -> dict[str, Any]:
        written = super().to_representation(instance)
        for name in self._omitted:
            if written.get(name) is None:
                written.pop(name, None)
        return written


# Dataclass -> the subclass of Answer that states its serializer.
_registry: dict[type, type[Answer]] = {}


@cache
def _derived(kind: type) -> type[Answer]:
    return type(f"{_component(kind)[0]}Serializer", (Answer,), {"of": kind, "is_derived": True})


def serializer_of(kind: type) -> type[Answer]:
    """Also before the subclass of Answer that states it is imported: instances are that subclass's."""
    return _registry.get(kind) or _derived(kind)


def _component(kind: type) -> tuple[str, str]:
    """Name and description."""
    found: tuple[str, str] = vars(kind).get(COMPONENT, (kind.__name__, ""))
    return found


@cache
def _hints(kind: Any) -> dict[str, Any]:
    """Field or property -> annotation, without hidden ones."""
    hints = get_type_hints(kind, include_extras=True)
    found = {field.name: hints[field.name] for field in fields(kind)} | _shown(kind)
    return {name: hint for name, hint in found.items() if Form.HIDDEN not in _notes(hint)}


def _shown(kind: type) -> dict[str, Any]:
    """Properties with a Shown value."""
    members = {name: member for each in reversed(kind.__mro__) for name, member in vars(each).items()}
    getters = {name: getattr(member, "fget", None) or getattr(member, "func", None) for name, member in members.items()}
    hints = {name: getattr(getter, "__annotations__", {}).get("return") for name, getter in getters.items()}
    return {name: hint for name, hint in hints.items() if Form.SHOWN in _notes(hint)}


def _notes(hint: Any) -> tuple[Any, ...]:
    return getattr(hint, "__metadata__", ())


def _note(hint: Any, kind: type[N]) -> N | None:
    return next((note for note in _notes(hint) if isinstance(note, kind)), None)


def _inlined(attribute: str, kind: type, inline: Inline) -> dict[str, AnyField]:
    found = serializer_of(kind)().get_fields()
    chosen = {name: found[name] for name in inline.names or found}
    for name, field in chosen.items():
        source = field.source or name
        field.source = attribute if source == "*" else f"{attribute}.{source}"
    return chosen


def field_of(hint: Any, **options: Any) -> AnyField:
    """The field that writes values of this type. Raises TypeError for a type without one form in JSON."""
    notes: list[Any] = []
    while (origin := get_origin(hint)) in (Annotated, Union, types.UnionType):
        if origin is Annotated:
            notes, hint = [*notes, *hint.__metadata__], get_args(hint)[0]
            if Form.JSON in notes:
                hint = object
        else:
            hint, options = _not_none(hint), options | {"allow_null": True}
    if texts := [note for note in notes if isinstance(note, str)]:
        options = {"help_text": texts[0]} | options
    if Form.UNBOUNDED in notes:
        options |= {"allow_null": True}
    if Form.OMITTED in notes:
        options |= {"required": False, "allow_null": False}
    return (_stated(notes) or _collection(hint) or _single(hint))(**options)


def _stated(notes: Iterable[Any]) -> Factory | None:
    for note in notes:
        if isinstance(note, OneOf):
            return partial(serializers.ChoiceField, choices=[str(each) for each in note.values])
        if isinstance(note, Form) and note in BY_FORM:
            return BY_FORM[note]
    return None


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
