"""How a part of the product refuses input: field by field, with what to do about it."""

from collections.abc import Sequence
from dataclasses import dataclass

# How a name without any character is called: an empty field would mean the input as a whole.
NAMELESS = '""'


@dataclass(frozen=True)
class FieldProblem:
    """`field` as the caller named it, nested with dots; empty: the input as a whole."""

    field: str
    message: str
    remedy: str = ""

    def sentence(self) -> str:
        text = f"{self.field}: {self.message}" if self.field else self.message
        return f"{text} ({self.remedy})" if self.remedy else text


class Invalid(ValueError):
    """Input that breaks a rule; holds every problem found, not only the first."""

    def __init__(self, errors: Sequence[FieldProblem]) -> None:
        self.errors = tuple(errors)
        super().__init__("; ".join(error.sentence() for error in errors))
