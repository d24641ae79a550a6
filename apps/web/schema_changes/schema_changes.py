"""The schema changes page: effects on a load, by platform, statement and algorithm."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.comparison.api import ChangeFilter, schema_changes
from apps.comparison.pure import AS_CHOSEN, title_of
from apps.core.problems import Invalid
from apps.core.query import Address
from apps.published.queries import list_figures
from apps.published.values import FigureFilter
from apps.web.components.pages import refused_file, render_page
from apps.web.schema_changes import sheet as schema_changes_sheet
from apps.web.schema_changes.stalls import stall_chart
from workers.protocol.workloads.schema_changes import SETTLE

QUESTION = "ddl"


@require_safe
def show(request: HttpRequest) -> HttpResponse:
    try:
        chosen = read(request.GET)
    except Invalid as error:
        return render_page(
            request,
            "web/schema_changes/schema_changes.html",
            _context(ChangeFilter()) | {"problems": error.errors},
            status=400,
        )
    return render_page(request, "web/schema_changes/schema_changes.html", _context(chosen))


@require_safe
def export(request: HttpRequest, ending: str) -> HttpResponse:
    """The same tables as a file."""
    try:
        chosen = read(request.GET)
    except Invalid as error:
        return refused_file(error)
    found = _sheet(chosen)[1]
    if ending == "md":
        link = request.build_absolute_uri(f"{reverse('web:schema-changes')}?{query(chosen)}")
        text, media_type = schema_changes_sheet.markdown(found, link=link), "text/markdown"
    else:
        text, media_type = schema_changes_sheet.comma_separated(found), "text/csv"
    headers = {"Content-Disposition": f'attachment; filename="schema-changes.{ending}"'}
    return HttpResponse(text, content_type=f"{media_type}; charset=utf-8", headers=headers)


def read(given: QueryDict) -> ChangeFilter:
    """Raises Invalid."""
    address = Address(given, "system", "operation", "algorithm", "campaign")
    found = ChangeFilter(
        systems=tuple(dict.fromkeys(address.texts("system"))),
        operation=address.text("operation"),
        algorithm=address.text("algorithm"),
        campaign=address.number("campaign"),
    )
    address.check()
    return found


def query(chosen: ChangeFilter) -> str:
    pairs = [("system", slug) for slug in chosen.systems]
    pairs += [(name, text) for name in ("operation", "algorithm") if (text := getattr(chosen, name))]
    pairs += [("campaign", str(chosen.campaign))] if chosen.campaign is not None else []
    return urlencode(pairs)


def _sheet(chosen: ChangeFilter) -> tuple[Any, schema_changes_sheet.ChangeSheet]:
    found = schema_changes(chosen)
    return found, schema_changes_sheet.sheet(found, list_figures(FigureFilter(questions=(QUESTION,))))


def _context(chosen: ChangeFilter) -> dict[str, Any]:
    found, sheet = _sheet(chosen)
    asked = query(chosen)
    tail = f"?{asked}" if asked else ""
    return {
        "found": found,
        "sheet": sheet,
        "settings": [(setting, stall_chart(setting)) for setting in sheet.settings],
        "chosen": chosen,
        "heads": schema_changes_sheet.HEADS,
        "span": len(schema_changes_sheet.HEADS) + 2,
        "charts": schema_changes_sheet.charts_of(sheet),
        "settle": f"{SETTLE:g}",
        "runs": sum(len(change.trials) for change in found.changes),
        "operations": [(each, title_of(each)) for each in found.operations],
        "algorithms": [
            (each, "as the server chooses" if each == AS_CHOSEN else each.upper()) for each in found.algorithms
        ],
        "page_url": f"{reverse('web:schema-changes')}{tail}",
        "markdown_url": f"{reverse('web:schema-changes-export', args=['md'])}{tail}",
        "csv_url": f"{reverse('web:schema-changes-export', args=['csv'])}{tail}",
        "json_url": f"{reverse('api:schema-changes')}{tail}",
    }
