"""Lists of the server, read page by page, as iterators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Generic, TypeVar, get_args
from urllib.parse import parse_qsl, urlsplit

from splashboard.frames import AsFrame, FrameColumn, columns_of
from splashboard.server import Server
from splashboard.shapes import hints

T = TypeVar("T")
Parameters = list[tuple[str, str]]


def parameters(stated: Mapping[str, Any]) -> Parameters:
    """None: not stated. Several values of a name are repeated; `from_` is `from`."""
    return [
        (name.rstrip("_"), _text(value))
        for name, several in stated.items()
        if several is not None
        for value in (several if isinstance(several, Sequence) and not isinstance(several, str) else [several])
    ]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, (date, datetime)) else str(value)


@dataclass(frozen=True)
class Listing(AsFrame, Generic[T]):
    """Entries of a list. Each iteration reads them anew, a page at a time as they are needed.

    `page`: the dataclass of a page, with `next` and `results`.
    """

    server: Server
    path: str
    page: type
    stated: Mapping[str, Any]

    def __iter__(self) -> Iterator[T]:
        asked = parameters(self.stated)
        while True:
            found: Any = self.server.read(self.path, asked).json(self.page)
            yield from found.results
            if found.next is None:
                return
            # Its host may be another one behind a proxy; its parameters are what counts.
            asked = parse_qsl(urlsplit(found.next).query, keep_blank_values=True)

    def columns(self) -> dict[str, FrameColumn]:
        (entry,) = get_args(hints(self.page)["results"])
        return columns_of(entry, self)
