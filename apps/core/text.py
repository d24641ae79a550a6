"""Counts with their nouns; texts of strangers as they may be shown. Pure."""

import re
from collections.abc import Sequence

# Control characters but for white space, and those that turn the direction of the text behind them.
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def counted(count: int, noun: str, *, plural: str = "") -> str:
    """1 run; 1,200 runs. `plural`: of a noun that does not take an s."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def and_list(words: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"; empty for no words."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def visible(text: str) -> str:
    """`text` with what would be unseen, or would reorder the rest of a line, as an escape such as \\u202e."""
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
