"""Counts with their nouns. Pure."""


def counted(count: int, noun: str, *, plural: str = "") -> str:
    """1 run; 1,200 runs. `plural`: of a noun that does not take an s."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
