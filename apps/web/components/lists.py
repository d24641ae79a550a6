"""Lists: search words, one page of a long list, the addresses of its other pages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.http import HttpRequest

from apps.core.query import whole_number

Row = TypeVar("Row")

MOST_TYPED = 200


@dataclass(frozen=True)
class ListPage(Generic[Row]):
    """`newest`, `older`: addresses; empty: there is no such page."""

    rows: list[Row]
    newest: str
    older: str


def typed(request: HttpRequest, name: str, *, most: int = MOST_TYPED) -> str:
    """At most `most` characters of a search field, without NUL, which database columns cannot store."""
    return request.GET.get(name, "").replace("\0", " ").strip()[:most]


def cursor(request: HttpRequest) -> int | None:
    """The id below which the page begins; None: it is the newest page."""
    return whole_number(request.GET.get("before", ""))


def page_of(request: HttpRequest, found: Sequence[Row], size: int, *, key: Callable[[Row], int]) -> ListPage[Row]:
    """`found`: rows below the cursor, the newest first, one more than `size` where there are older ones."""
    shown = list(found[:size])
    return ListPage(
        shown,
        newest=this_page(request, before="") if cursor(request) is not None else "",
        older=this_page(request, before=str(key(shown[-1]))) if len(found) > size else "",
    )


def this_page(request: HttpRequest, **changed: str) -> str:
    """Its address with other parameters; empty ones are left out."""
    query = request.GET.copy()
    for name, value in changed.items():
        query.pop(name, None)
        if value:
            query[name] = value
    return f"{request.path}?{query.urlencode()}" if query else request.path
