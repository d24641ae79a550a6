"""Input errors: field, fault and remedy."""

from collections.abc import Sequence
from dataclasses import dataclass

# Shown for an empty name, because an empty field means the input as a whole.
NAMELESS = '""'


@dataclass(frozen=True)
class FieldProblem:
    """`field`: the caller's name for it, nested with dots; empty: the input as a whole."""

    field: str
    message: str
    remedy: str = ""

    def sentence(self) -> str:
        return f"{self.field}: {self.text()}" if self.field else self.text()

    def text(self) -> str:
        """Beside the field, which needs no name there."""
        return f"{self.message} ({self.remedy})" if self.remedy else self.message


class Invalid(ValueError):
    """Invalid input, with all problems found, not only the first."""

    def __init__(self, errors: Sequence[FieldProblem]) -> None:
        self.errors = tuple(errors)
        super().__init__("; ".join(error.sentence() for error in errors))
