"""The server variables of one run, by node: hundreds of rows, loaded on demand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from apps.runs.models import Run
from apps.web.components.pages import render_page


@dataclass(frozen=True)
class Variable:
    """A server variable on each node with recorded variables; None: the node has no such variable."""

    name: str
    values: tuple[str | None, ...]
    differs: bool


@require_safe
def show(request: HttpRequest, run_id: int) -> HttpResponse:
    """Two queries."""
    try:
        run = Run.objects.select_related("system").get(pk=run_id)
    except Run.DoesNotExist as error:
        raise Http404(f"there is no run {run_id}") from error
    found = run.nodes.filter(configuration__isnull=False).order_by("number")
    held = dict(found.values_list("name", "configuration__variables"))
    context = {"run": run, "nodes": list(held), "variables": by_name(list(held.values()))}
    return render_page(request, "web/runs/variables_page.html", context, part="web/runs/variables.html")


def by_name(held: Sequence[Mapping[str, str]]) -> list[Variable]:
    """Variables by name; `differs` marks differences between nodes."""
    names = sorted({name for variables in held for name in variables})
    rows = [(name, tuple(variables.get(name) for variables in held)) for name in names]
    return [Variable(name, values, len(set(values)) > 1) for name, values in rows]
