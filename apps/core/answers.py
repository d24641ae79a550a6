"""Formats of dataclass fields in the API that their types do not determine. Pure.

A text in `Annotated` describes a field, with its unit: `Annotated[float, "s on the run's clock"]`.
"""

from enum import Enum, auto
from typing import Annotated, TypeVar

T = TypeVar("T")


class Form(Enum):
    HIDDEN = auto()
    UNBOUNDED = auto()
    ROUNDED = auto()
    MILLISECONDS = auto()
    WORDS = auto()


# Not in the API: for pages and calculations.
Hidden = Annotated[T, Form.HIDDEN]
# Infinity becomes null: JSON has none.
Unbounded = Annotated[float, Form.UNBOUNDED]
# Six significant digits; infinity and NaN become null.
Rounded = Annotated[float, Form.ROUNDED]
# s, to a millisecond.
Seconds = Annotated[float, Form.MILLISECONDS]
# A sentence, with ordinary instead of non-breaking spaces.
Words = Annotated[str, Form.WORDS]
