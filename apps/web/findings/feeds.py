"""Findings as an Atom feed: an entry per finding, updated by any activity on it. XML holds no control characters."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.contrib.syndication.views import Feed
from django.http import HttpRequest, HttpResponse
from django.utils.feedgenerator import Atom1Feed
from django.utils.html import format_html, format_html_join
from django.views.decorators.http import conditional_page, require_safe

from apps.accounts.current_user import signed_in
from apps.accounts.models import User
from apps.core.problems import Invalid
from apps.core.text import visible
from apps.regressions.api import FindingFilter, FindingRow, filters
from apps.regressions.api import finding_queries as queries
from apps.regressions.models import Note
from apps.web.components.pages import refused_file

MOST_ENTRIES = 50
LISTED_ACTIONS = 5


@dataclass(frozen=True)
class FeedEntry:
    row: FindingRow
    activity: tuple[tuple[datetime, str], ...]


@dataclass(frozen=True)
class FeedRequest:
    wanted: FindingFilter
    entries: tuple[FeedEntry, ...]


if TYPE_CHECKING:
    FindingFeed = Feed[FeedEntry, FeedRequest]
else:  # only the stubs are generic
    FindingFeed = Feed


class FindingsFeed(FindingFeed):
    feed_type = Atom1Feed
    subtitle = "Changes between releases and in trends, the latest first."
    author_name = "Splashboard"

    def get_object(self, request: HttpRequest, *_args: Any, **_kwargs: Any) -> FeedRequest:
        """Raises Invalid with the invalid parameter."""
        wanted = filters.read(_latest_first(request))
        rows = queries.list_findings(wanted, me=_reader(request), limit=MOST_ENTRIES)
        activity = _activity([row.id for row in rows])
        return FeedRequest(wanted, tuple(FeedEntry(row, activity.get(row.id, ())) for row in rows))

    def title(self, asked: FeedRequest) -> str:
        text = ", ".join(f"{name} {value}" for name, value in _filters(asked))
        return visible(f"Findings: {text}") if text else "Findings"

    def link(self, asked: FeedRequest) -> str:
        """The list with the same filters; the feed's id too, by which readers tell feeds apart."""
        return f"/findings/{_query(asked)}"

    def feed_url(self, asked: FeedRequest) -> str:
        return f"/findings/feed.atom{_query(asked)}"

    def items(self, asked: FeedRequest) -> tuple[FeedEntry, ...]:
        return asked.entries

    def item_title(self, item: FeedEntry) -> str:
        return visible(item.row.title)

    def item_description(self, item: FeedEntry) -> str:
        row = item.row
        shown = row.shown.words if row.shown else "no active change"
        owner = f"owner {row.owner}" if row.owner else "unassigned"
        text = format_html_join(
            "", "<li>{} UTC: {}</li>", ((f"{at:%Y-%m-%d %H:%M}", words) for at, words in item.activity)
        )
        return visible(
            format_html("<p>{}; {}, {}. {}</p><ul>{}</ul>", row.verdict_words, row.state, owner, shown, text)
        )

    def item_link(self, item: FeedEntry) -> str:
        return f"/findings/{item.row.id}/"

    def item_pubdate(self, item: FeedEntry) -> datetime:
        return item.row.found_at

    def item_updateddate(self, item: FeedEntry) -> datetime:
        return item.row.changed_at

    def item_categories(self, item: FeedEntry) -> list[str]:
        return [item.row.verdict, item.row.state, *map(visible, item.row.labels)]


def _filters(asked: FeedRequest) -> list[tuple[str, str]]:
    return [(name, value) for name, value in asked.wanted.as_query() if name != "sort"]


def _query(asked: FeedRequest) -> str:
    found = _filters(asked)
    return f"?{urlencode(found)}" if found else ""


@require_safe
@conditional_page
def findings(request: HttpRequest) -> HttpResponse:
    """Errors are plain text, since clients are programs."""
    try:
        response = FindingsFeed()(request)
    except Invalid as error:
        return refused_file(error)
    # A list that loses its newest entry has an older date than a reader's copy: only the content shows changes.
    del response["Last-Modified"]
    return response


def _latest_first(request: HttpRequest) -> Any:
    query = request.GET.copy()
    query["sort"] = "changed"
    return query


def _reader(request: HttpRequest) -> User | None:
    return signed_in(request)


def _activity(findings: list[int]) -> Mapping[int, tuple[tuple[datetime, str], ...]]:
    """The latest activities of each finding, newest first."""
    found: dict[int, list[tuple[datetime, str]]] = defaultdict(list)
    notes = Note.objects.filter(finding__in=findings).select_related("by").prefetch_related("mentions").order_by("-id")
    for note in notes:
        notes_shown = found[note.finding_id]
        if len(notes_shown) < LISTED_ACTIONS:
            notes_shown.append((note.at, queries.note_row(note).sentence))
    return {finding: tuple(notes_shown) for finding, notes_shown in found.items()}
