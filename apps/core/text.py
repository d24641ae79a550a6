"""Counts with their nouns. Pure."""

from collections.abc import Sequence


def counted(count: int, noun: str, *, plural: str = "") -> str:
    """1 run; 1,200 runs. `plural`: of a noun that does not take an s."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def and_list(words: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"; empty for no words."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
