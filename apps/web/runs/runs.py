"""The Runs page: filter runs, select some, compare them."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from apps.runs.api import queries
from apps.web.components.lists import cursor, page_of
from apps.web.components.pages import is_partial, render_page
from apps.web.runs import filters as runs_filters

PAGE = 50


@require_safe
def show(request: HttpRequest) -> HttpResponse:
    filters = runs_filters.read(request.GET)
    found = (
        queries.list_runs(filters.run_filter, limit=PAGE + 1, before=cursor(request)) if not filters.problems else []
    )
    page = page_of(request, found, PAGE, key=lambda row: row.id)
    context = {"filters": filters, "rows": page.rows, "page": page}
    # htmx ignores error responses; status 200 makes the sentences visible.
    status = 400 if filters.problems and not is_partial(request) else 200
    return render_page(request, "web/runs/runs.html", context, part="web/runs/list_table.html", status=status)
