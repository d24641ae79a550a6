"""External text: PostgreSQL stores no NUL characters, neither in text nor in JSON."""

from collections.abc import Mapping
from typing import Any


def printable(text: str) -> str:
    return text.replace("\0", "\\x00")


def printable_value(value: Any) -> Any:
    """`value` with `printable` texts, at any depth."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {printable_value(key): printable_value(entry) for key, entry in value.items()}
    return [printable_value(entry) for entry in value] if isinstance(value, list | tuple) else value


def has_nul(value: Any) -> bool:
    """Whether a string in `value`, at any depth, contains the character NUL."""
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, Mapping):
        return any(has_nul(key) or has_nul(entry) for key, entry in value.items())
    return isinstance(value, list | tuple) and any(has_nul(entry) for entry in value)
