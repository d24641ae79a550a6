"""Where the numbers of a JSON document stand in its bytes. Pure."""

import re
from dataclasses import dataclass

TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|[{}\[\],]|[^\s{}\[\],:"]++', re.DOTALL)


@dataclass(frozen=True)
class Place:
    start: int
    end: int


def number_places(content: bytes, start: int, end: int) -> dict[tuple[str | int, ...], Place]:
    """Path of keys and indices -> bytes, of each number of the valid document at `content[start:end]`."""
    found: dict[tuple[str | int, ...], Place] = {}
    path: list[str | int] = []
    key = True  # whether a text that comes next is a key
    for token in TOKEN.finditer(content, start, end):
        text = token[0]
        if text in (b"{", b"["):
            path.append(0 if text == b"[" else "")
            key = text == b"{"
        elif text in (b"}", b"]"):
            path.pop()
            key = False
        elif text == b",":
            last = path[-1] if path else ""
            key = isinstance(last, str)
            if isinstance(last, int):
                path[-1] = last + 1
        elif text[:1] == b'"':
            if key and path:
                path[-1] = text[1:-1].decode("latin-1")
                key = False
        elif text[:1] in b"-0123456789":
            found[tuple(path)] = Place(token.start(), token.end())
    return found
