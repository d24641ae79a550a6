"""External text: PostgreSQL stores no NUL characters, neither in text nor in JSON."""

from collections.abc import Mapping
from typing import Any


def printable(text: str) -> str:
    return text.replace("\0", "\\x00")


def has_nul(value: Any) -> bool:
    """Whether a string in `value`, at any depth, contains the character NUL."""
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, Mapping):
        return any(has_nul(key) or has_nul(entry) for key, entry in value.items())
    return isinstance(value, list | tuple) and any(has_nul(entry) for entry in value)
