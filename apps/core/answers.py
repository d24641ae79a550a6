"""How the API gives dataclasses, as far as their types do not determine it. Pure.

A text in `Annotated` describes a field, with its unit: `Annotated[float, "s on the run's clock"]`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Annotated, TypeVar

T = TypeVar("T")


class Form(Enum):
    HIDDEN = auto()
    SHOWN = auto()
    OMITTED = auto()
    UNBOUNDED = auto()
    ROUNDED = auto()
    MILLISECONDS = auto()
    WORDS = auto()
    JSON = auto()


# Not in the API: for pages and calculations.
Hidden = Annotated[T, Form.HIDDEN]
# What a property returns that the API gives like a field.
Shown = Annotated[T, Form.SHOWN]
# Left out, not null, where it is None.
Omitted = Annotated[T | None, Form.OMITTED]
# Infinity becomes null: JSON has none.
Unbounded = Annotated[float, Form.UNBOUNDED]
# Six significant digits; infinity and NaN become null.
Rounded = Annotated[float, Form.ROUNDED]
# s, to a millisecond.
Seconds = Annotated[float, Form.MILLISECONDS]
# A sentence, with ordinary instead of non-breaking spaces.
Words = Annotated[str, Form.WORDS]
# A cell of a table: a text, a number or nothing.
Cell = Annotated[str | float | None, Form.JSON]


@dataclass(frozen=True)
class Name:
    """The field's name in the API."""

    text: str


@dataclass(frozen=True)
class OneOf:
    """The texts that a field takes."""

    values: Iterable[str]


class Inline:
    """The fields of this dataclass, in the API, belong to the one that holds it; `names`: only these of them."""

    def __init__(self, *names: str) -> None:
        self.names = names


# Attribute of a dataclass: name and description of its component in the API's schema.
COMPONENT = "__component__"


def component(name: str = "", text: str = "") -> Callable[[type[T]], type[T]]:
    """`name`: where it is not the dataclass's."""

    def described(kind: type[T]) -> type[T]:
        setattr(kind, COMPONENT, (name or kind.__name__, text))
        return kind

    return described
