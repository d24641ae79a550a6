"""The Runs page: filter runs, select some, compare them."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from apps.core.query import whole_number
from apps.runs.api import queries
from apps.web.components.pages import render_page
from apps.web.runs import filters as runs_filters

PAGE = 50


@require_safe
def show(request: HttpRequest) -> HttpResponse:
    filters = runs_filters.read(request.GET)
    before = request.GET.get("before", "")
    cursor = whole_number(before)
    # One more than shown, to detect older runs.
    rows = queries.list_runs(filters.run_filter, limit=PAGE + 1, before=cursor)
    shown, older = rows[:PAGE], rows[PAGE:]
    context = {
        "filters": filters,
        "rows": shown,
        "older": _page(request, shown[-1].id) if older else "",
        "newest": _page(request, None) if cursor is not None else "",
    }
    return render_page(request, "web/runs/runs.html", context, part="web/runs/list_table.html")


def _page(request: HttpRequest, before: int | None) -> str:
    query = request.GET.copy()
    query.pop("before", None)
    if before is not None:
        query["before"] = str(before)
    return f"{request.path}?{query.urlencode()}" if query else request.path
