"""All metrics of a comparison as CSV and Markdown."""

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from apps.comparison.api import everything
from apps.comparison.pure import Comparison, limited_claims
from apps.core.names import with_tool
from apps.core.problems import Invalid
from apps.core.text import and_list, counted
from apps.web.compare import compare
from apps.web.compare.sections.all_metrics import comma_separated, markdown
from apps.web.compare.view import CompareAddress
from apps.web.components.pages import refused_file

TYPES = {"csv": "text/csv", "md": "text/markdown"}


def limits(comparison: Comparison) -> str:
    """What failed checks make of the verdicts in the primary metric, a line each; empty: nothing."""
    levels = {level.id: level.text for level in comparison.levels}
    names = {side.slug: side.name for side in comparison.sides}
    primary = {metric.key for metric in comparison.metrics if metric.primary}
    lines = [
        f"- {and_list([names[slug] for slug in limit.sides])} at {levels[each.level]}: {limit.words} "
        f"({limit.failed} of {counted(limit.runs, 'run')})"
        for each in limited_claims(comparison)
        if each.metric in primary
        for limit in each.limits
    ]
    return "\n".join([*lines, "", ""]) if lines else ""


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
        text = (
            f"{table}\n\n{limits(comparison)}{with_tool(comparison.workload.tool, comparison.workload.name)}: {link}\n"
        )
    response = HttpResponse(text, content_type=f"{TYPES[form]}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="comparison-{comparison.workload.id}.{form}"'
    return response
