"""Parameters of a request's address, read strictly. Pure."""

MOST_DIGITS = 18  # any such number fits a bigint of PostgreSQL


def whole_number(text: str, *, digits: int = MOST_DIGITS) -> int | None:
    """Of ASCII digits alone, at most so many; None: it is anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= digits else None
