"""The list of findings: number of open ones, the largest first, filters, and triage row by row."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.db.models import F, Func
from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.accounts.current_user import may_write, signed_in
from apps.core.problems import FieldProblem, Invalid
from apps.regressions.api import FindingFilter, filters
from apps.regressions.api import finding_queries as queries
from apps.regressions.models import Finding
from apps.web.components.pages import render_page
from apps.web.findings.wording import list_answer

PAGE = 50
# The page shows open findings unless its address has another state.
OPEN, ALL = "open", "all"
SIZES = ((0.01, "1\u00a0% or more"), (0.02, "2\u00a0% or more"), (0.05, "5\u00a0% or more"), (0.1, "10\u00a0% or more"))
SORT_WORDS = {"size": "size", "newest": "newest", "changed": "last change"}
Choices = list[tuple[str, str]]


@dataclass(frozen=True)
class Facets:
    """Choices of the filters, as (value, words), taken from existing findings."""

    platform: Choices
    hardware: Choices
    release: Choices
    family: Choices
    owner: Choices
    label: Choices


@require_safe
def show(request: HttpRequest) -> HttpResponse:
    """A constant number of queries, for any number of findings."""
    status = 200
    problems: tuple[FieldProblem, ...] = ()
    try:
        chosen, after = read(request.GET)
    except Invalid as error:
        chosen, after = FindingFilter(state=(OPEN,)), None
        status, problems = 400, error.errors
    me = signed_in(request)
    try:
        rows = queries.list_findings(chosen, me=me, limit=PAGE + 1, after=after)
    except Invalid as error:
        rows, status, problems = [], 404, error.errors
    shown = rows[:PAGE]
    last = queries.place_of(shown[-1], chosen.sort) if shown else None
    counts = queries.count_by_state(chosen, me=me)
    context = {
        "rows": shown,
        "chosen": chosen,
        "state": chosen.state[0] if chosen.state else ALL,
        "answer": list_answer(counts, shown if chosen.sort == "size" and after is None else []),
        "problems": problems,
        "facets": facets(),
        "states": _states(counts),
        "verdicts": [(verdict.value, str(verdict.label)) for verdict in Finding.Verdict],
        "sizes": SIZES,
        "sorts": SORT_WORDS.items(),
        "filtered": replace(chosen, sort="size") != FindingFilter(state=(OPEN,)),
        "more": f"{reverse('web:findings')}?{query(chosen, after=last)}" if len(rows) > PAGE else "",
        "first": f"{reverse('web:findings')}?{query(chosen)}" if after is not None else "",
        "next": request.get_full_path(),
        "list_query": query(chosen),
        "api_query": urlencode(chosen.as_query()),
        "may_write": may_write(request),
        "today": timezone.localdate(),
        "me": me,
    }
    return render_page(
        request, "web/findings/findings.html", context, part="web/findings/list_part.html", status=status
    )


def read(given: QueryDict) -> tuple[FindingFilter, queries.FindingPlace | None]:
    """The filter, and the place after which the page begins. Raises Invalid with the parameter."""
    stated = {name: [text for text in given.getlist(name) if text] for name in given if name != "after"}
    if not stated.get("state"):
        stated["state"] = [OPEN]
    if ALL in stated["state"]:
        del stated["state"]
    chosen, after = filters.read(stated), given.get("after", "")
    place = filters.read_place(after, chosen.sort)
    if after and place is None:
        problem = f"{after[:40]!r} is no place in this list"
        raise Invalid([FieldProblem("after", problem, "follow the links of the list")])
    return chosen, place


def query(chosen: FindingFilter, *, after: queries.FindingPlace | None = None) -> str:
    """As a query string of the page, without defaults."""
    pairs = [pair for pair in chosen.as_query() if pair != ("state", OPEN)]
    pairs += [] if chosen.state else [("state", ALL)]
    pairs += [("after", str(after))] if after is not None else []
    return urlencode(pairs)


def facets() -> Facets:
    """Two queries."""
    found = Finding.objects.filter(merged_into=None).order_by()
    places = found.values_list(
        *("platform__slug", "platform__name", "hardware_class__slug", "hardware_class__name"),
        *("release__version", "family", "owner__username"),
    ).distinct()
    rows = list(places)
    labels = found.annotate(own=Func(F("labels"), function="unnest")).values_list("own", flat=True).distinct()
    return Facets(
        platform=_choices((row[0], row[1]) for row in rows),
        hardware=_choices((row[2], row[3]) for row in rows),
        release=_choices((row[4], row[4]) for row in rows),
        family=_choices((row[5], row[5]) for row in rows),
        owner=[(filters.ME, "me"), (filters.NOBODY, "nobody"), *_choices((row[6], row[6]) for row in rows)],
        label=_choices((label, label) for label in labels),
    )


def _choices(pairs: Iterable[tuple[str | None, str | None]]) -> Choices:
    return sorted({(value, words or value) for value, words in pairs if value}, key=lambda pair: pair[1])


def _states(counts: dict[str, int]) -> list[tuple[str, str, int]]:
    """Value, words, and number of findings under the other filters."""
    number: dict[str, int] = {OPEN: sum(counts[state] for state in ("new", "under review", "confirmed"))}
    number |= counts | {ALL: sum(counts.values())}
    return [(value, value, number[value]) for value in (OPEN, *filters.STATES, ALL)]


def table_context(request: HttpRequest, finding_id: int) -> dict[str, Any]:
    """Context of one row of the list after an action."""
    return {
        "row": queries.load_rows([finding_id])[finding_id],
        "may_write": may_write(request),
        "today": timezone.localdate(),
        "me": request.user,
        "next": request.POST.get("next", ""),
        "list_query": request.POST.get("list", ""),
    }
