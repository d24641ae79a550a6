"""Numbers and yes/no of the environment: what is neither is refused by the variable's name."""

import os
from collections.abc import Mapping

from django.core.exceptions import ImproperlyConfigured

from config.launch.places import NO, YES

MOST_DIGITS = 9


def flag(name: str, *, default: bool, environ: Mapping[str, str] = os.environ) -> bool:
    """Raises ImproperlyConfigured. An empty variable is one that is not set."""
    text = environ.get(name, "").strip()
    if not text:
        return default
    if text.lower() not in (*YES, *NO):
        raise ImproperlyConfigured(f"{name} is {text!r}: set it to true or false")
    return text.lower() in YES


def number(name: str, *, default: int, unit: str = "", environ: Mapping[str, str] = os.environ) -> int:
    """A whole number from 0 on. Raises ImproperlyConfigured. An empty variable is one that is not set."""
    text = environ.get(name, "").strip()
    if not text:
        return default
    if not (text.isascii() and text.isdecimal()) or len(text) > MOST_DIGITS:
        of = f" of {unit}" if unit else ""
        raise ImproperlyConfigured(f"{name} is {text[:40]!r}: set it to a whole number{of}, 0 or more")
    return int(text)
