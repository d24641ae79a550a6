"""All metrics of a comparison as CSV and Markdown."""

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from apps.comparison.api import everything
from apps.core.names import with_tool
from apps.core.problems import Invalid
from apps.web.compare import compare
from apps.web.compare.sections.all_metrics import comma_separated, markdown
from apps.web.compare.view import CompareAddress
from apps.web.components.pages import refused_file

TYPES = {"csv": "text/csv", "md": "text/markdown"}


@require_safe
def everything_as(request: HttpRequest, form: str) -> HttpResponse:
    """Takes the query string of the comparison. CSV has all rows, Markdown those that the page shows."""
    if form not in TYPES:
        raise Http404(f"{form!r} is not known; choose csv or md")
    try:
        address = CompareAddress.read(request.GET)
        comparison = compare.seen_at(request, address).comparison
    except Invalid as error:
        return refused_file(error)
    found = everything(comparison)
    if form == "csv":
        text = comma_separated(comparison, found)
    else:
        link = request.build_absolute_uri(f"{address.url()}#all-metrics")
        table = markdown(comparison, found, show_all=address.option("show") == "all")
        text = f"{table}\n\n{with_tool(comparison.workload.tool, comparison.workload.name)}: {link}\n"
    response = HttpResponse(text, content_type=f"{TYPES[form]}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="comparison-{comparison.workload.id}.{form}"'
    return response
