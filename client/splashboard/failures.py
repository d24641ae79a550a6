"""Exit codes, and the exceptions that end the program with them."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Exit(enum.IntEnum):
    """0 to 2 are results; 3 and above are failures."""

    FINE = 0
    REGRESSION = 1  # `wait`: jobs failed or were cancelled
    CANNOT_TELL = 2  # `wait`: not finished in time
    USE = 3  # options, files, settings
    REFUSED = 4  # the server rejected the request
    UNREACHABLE = 5  # no usable answer
    DEFECT = 6  # of this program
    COMMAND = 7  # `run`: the command failed
    INTERRUPTED = 130


class Failure(Exception):
    """Ends the program with `code`; the text is printed on stderr."""

    code = Exit.DEFECT


class Misuse(Failure):
    code = Exit.USE


@dataclass(frozen=True)
class RefusedField:
    """`field`: empty: none in particular. `remedy`: empty: none is known."""

    field: str
    message: str
    remedy: str

    def __str__(self) -> str:
        words = f"{self.field}: {self.message}" if self.field else self.message
        return f"{words} ({self.remedy})" if self.remedy else words


class RequestRefused(Failure):
    """`status`: of HTTP. `problems`: what is wrong with each invalid field."""

    code = Exit.REFUSED

    def __init__(self, text: str, *, status: int, problems: tuple[RefusedField, ...] = ()) -> None:
        super().__init__(text)
        self.status = status
        self.problems = problems

    @property
    def fields(self) -> tuple[str, ...]:
        """A sentence about each invalid field."""
        return tuple(map(str, self.problems))


class ServerUnreachable(Failure):
    code = Exit.UNREACHABLE
