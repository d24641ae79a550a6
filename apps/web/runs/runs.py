"""The Runs page: filter and order runs, select some, compare them."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from apps.accounts.current_user import signed_in
from apps.accounts.services import filters_of
from apps.runs.api import queries
from apps.web.components.lists import cursor, page_of, this_page
from apps.web.components.pages import is_partial, render_page
from apps.web.runs import filters as runs_filters
from apps.web.runs.filters import Filters

PAGE = 50
# Columns whose largest values are looked for first.
FROM_THE_TOP = ("run", "started", "throughput", "p95")


@dataclass(frozen=True)
class Sort:
    """Of a column's heading: `url` orders the list by it, or turns the order around; `now`: for aria-sort, or empty."""

    url: str
    now: str


@require_safe
def show(request: HttpRequest) -> HttpResponse:
    filters = runs_filters.read(request.GET)
    found = []
    if not filters.problems:
        found = queries.list_runs(filters.run_filter, limit=PAGE + 1, before=cursor(request), order=filters.order)
    page = page_of(request, found, PAGE, key=lambda row: row.id)
    context = {
        "filters": filters,
        "rows": page.rows,
        "page": page,
        "sorts": _sorts(request, filters.order),
        "is_newest_first": filters.order == queries.NEWEST,
        **_saved(request, filters),
    }
    # htmx ignores error responses; status 200 makes the sentences visible.
    status = 400 if filters.problems and not is_partial(request) else 200
    return render_page(request, "web/runs/runs.html", context, part="web/runs/list_table.html", status=status)


def _sorts(request: HttpRequest, order: str) -> dict[str, Sort]:
    """By column. A heading begins with the order that is asked for most, then turns it around."""
    found = {}
    for column in (each for each in queries.ORDERS if not each.startswith("-")):
        first = f"-{column}" if column in FROM_THE_TOP else column
        turned = f"-{column}" if order == column else column
        wanted = turned if order in (column, f"-{column}") else first
        now = {column: "ascending", f"-{column}": "descending"}.get(order, "")
        found[column] = Sort(this_page(request, sort="" if wanted == queries.NEWEST else wanted, before=""), now)
    return found


def _saved(request: HttpRequest, filters: Filters) -> dict[str, object]:
    """The reader's saved filters, with the one that is applied now; `query`: what would be saved, empty: nothing."""
    user = signed_in(request)
    if user is None:
        return {}
    query = "" if filters.problems else runs_filters.kept(request.GET)
    saved = filters_of(user)
    return {"saved": saved, "applied": next((each for each in saved if each.query == query), None), "query": query}
