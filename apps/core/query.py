"""Strict reading of an address's parameters, with the same messages for pages and API. Pure."""

from collections.abc import Collection, Iterable, Iterator
from typing import Protocol

from apps.core.problems import NAMELESS, FieldProblem, Invalid

MOST_DIGITS = 18  # fits PostgreSQL's bigint
NOT_A_NUMBER = "is not a number"
NO_NAME = "has characters that no name has"


def whole_number(text: str, *, digits: int = MOST_DIGITS) -> int | None:
    """The integer of at most `digits` ASCII digits; None: `text` is anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= digits else None


def unknown_parameter(known: Iterable[str]) -> str:
    return f"unknown parameter; known here: {', '.join(known) or 'none'}"


def unknown_choice(given: str, known: Iterable[str]) -> str:
    return f"{given!r:.60} is not known; choose from: {', '.join(known)}"


class Given(Protocol):
    """Django's QueryDict."""

    def __iter__(self) -> Iterator[str]: ...

    def getlist(self, key: str, /) -> list[str]: ...


class Address:
    """The parameters of a page's address, of which `known` are allowed; problems are collected until `check`.

    Empty values come from form fields that were not filled in.
    """

    def __init__(self, given: Given, *known: str) -> None:
        self._given = {name: [text for text in given.getlist(name) if text] for name in given}
        words = unknown_parameter(dict.fromkeys(known))
        self._problems = [FieldProblem(name or NAMELESS, words) for name in sorted(self._given.keys() - set(known))]

    def refuse(self, name: str, message: str, remedy: str = "") -> None:
        self._problems.append(FieldProblem(name, message, remedy))

    def check(self) -> None:
        """Raises Invalid with all problems."""
        if self._problems:
            raise Invalid(list(dict.fromkeys(self._problems)))

    def texts(self, name: str) -> list[str]:
        found = self._given.get(name, [])
        if not all(text.isprintable() for text in found):
            self.refuse(name, NO_NAME)
        return found

    def text(self, name: str, default: str = "") -> str:
        return next(reversed(self.texts(name)), default)

    def number(self, name: str) -> int | None:
        return next(reversed(self._numbers(name, self.texts(name))), None)

    def numbers(self, name: str) -> list[int]:
        """Separated by commas."""
        return self._numbers(name, [text for texts in self.texts(name) for text in texts.split(",") if text])

    def _numbers(self, name: str, texts: Iterable[str]) -> list[int]:
        found = [whole_number(text) for text in texts]
        if None in found:
            self.refuse(name, NOT_A_NUMBER)
        return [number for number in found if number is not None]

    def choice(self, name: str, known: Collection[str]) -> str:
        return next(reversed(self.choices(name, known)), "")

    def choices(self, name: str, known: Collection[str]) -> list[str]:
        found = self.texts(name)
        for text in found:
            if text not in known:
                self.refuse(name, unknown_choice(text, known))
        return found
