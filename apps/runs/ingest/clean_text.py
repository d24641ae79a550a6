"""Texts from outside: PostgreSQL holds no NUL, neither in a text nor in a document."""

from collections.abc import Mapping
from typing import Any


def printable(text: str) -> str:
    return text.replace("\0", "\\x00")


def has_nul(value: Any) -> bool:
    """Whether a text in `value`, however deep, holds the character NUL."""
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, Mapping):
        return any(has_nul(key) or has_nul(entry) for key, entry in value.items())
    return isinstance(value, list | tuple) and any(has_nul(entry) for entry in value)
