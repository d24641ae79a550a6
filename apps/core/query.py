"""Strict parsing of query parameters. Pure."""

MOST_DIGITS = 18  # fits PostgreSQL's bigint


def whole_number(text: str, *, digits: int = MOST_DIGITS) -> int | None:
    """The integer of at most `digits` ASCII digits; None: `text` is anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= digits else None
