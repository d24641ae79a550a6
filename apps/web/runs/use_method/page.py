"""The USE panel of a run, part of its page: what limits it, every resource, and any reading with its series."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.catalog.pure import derived_metrics
from apps.runs.api import queries
from apps.runs.models import ArchivedRun, Run
from apps.use_method.api import panels
from apps.use_method.pure import HOLD, RESOURCE_OF, SHARE, IndicatorReading, Panel
from apps.web.components import sparklines
from apps.web.components.pages import is_partial, render_page
from apps.web.runs.use_method import cells
from apps.web.runs.use_method import panel as use_method_panel
from apps.web.runs.use_method import sparklines as use_method_sparklines
from apps.web.runs.use_method.sparklines import Sparks


@require_safe
def show(request: HttpRequest, run_id: int) -> HttpResponse:
    """Nine queries for a run whose panel is stored."""
    return _panel(request, run_id, request.GET.get("use", ""))


@require_safe
def open_reading(request: HttpRequest, run_id: int, key: str) -> HttpResponse:
    """One reading with its evidence, formula, limits and series; without htmx the whole panel with it opened."""
    if not is_partial(request):
        return _panel(request, run_id, key)
    run, panel = _found(run_id)
    opened = use_method_panel.reading_of(panel, key)
    if opened is None:
        raise Http404(f"the panel of run {run_id} has no reading {key!r}")
    return render_page(request, "web/runs/use_method/opened.html", _common(request, run) | _detail(run, panel, opened))


def _panel(request: HttpRequest, run_id: int, key: str) -> HttpResponse:
    """An unknown reading (from an older link) is ignored."""
    run, panel = _found(run_id)
    laid = use_method_panel.lay_out(panel, run=reverse("web:run", args=[run_id]), sparks=sparks(run, panel))
    context = _common(request, run) | {"laid": laid}
    opened = use_method_panel.reading_of(panel, key)
    if opened:
        context |= _detail(run, panel, opened)
    return render_page(request, "web/runs/use_method/page.html", context, part="web/runs/use_method/use_method.html")


def _found(run_id: int) -> tuple[Run, Panel]:
    try:
        run = Run.objects.select_related("archived", "system", "workload", "load_level").get(pk=run_id)
        return run, panels.panel_of(run_id)
    except Run.DoesNotExist as error:
        raise Http404(f"there is no run {run_id}") from error


def _common(request: HttpRequest, run: Run) -> dict[str, Any]:
    return {
        "run": run,
        "is_live": run.state != Run.State.SEALED,
        # Charts are drawn only inside the run's page.
        "draws": is_partial(request),
        "hold": HOLD,
        "share": f"{SHARE * 100:.0f}",
    }


def _detail(run: Run, panel: Panel, opened: IndicatorReading) -> dict[str, Any]:
    address = reverse("web:run", args=[run.pk])
    node, metrics = opened.reading.node, opened.indicator.metrics
    metric = opened.reading.metric or next((key for key in metrics if "*" not in key), "")
    found = cells.reading_cell(opened, run=address, measured=panel.measured, where=node)
    return {
        "opened": found,
        "resource": RESOURCE_OF[opened.indicator.key],
        "beside": use_method_panel.beside(panel, opened, run=address),
        "metric": metric,
        "counters": [(key, spec.formula.text if (spec := derived_metrics.find(key)) else "") for key in metrics],
        "stretches": [(start, end, cells.stretch(((start, end),), None)) for start, end in opened.reading.spans],
    }


def sparks(run: Run, panel: Panel) -> Sparks:
    """Sparklines; empty if the run's samples are in the archive, which is not read just for the panel."""
    archived: ArchivedRun | None = getattr(run, "archived", None)
    readings = use_method_sparklines.with_series(panel.readings)
    if not readings or (archived and archived.moved_at):
        return {}
    between = panel.measured
    found = queries.load_series(
        run_ids=[run.pk],
        metrics=sorted({one.metric for one in readings}),
        between=between,
        points=sparklines.POINTS,
    )
    ends = [(float(one.at[0]), float(one.at[-1])) for one in found if len(one.at) and not one.problem]
    if between is None and ends:
        between = min(start for start, _ in ends), max(end for _, end in ends)
    return use_method_sparklines.drawn(readings, found, between, {name for name, _ in panel.nodes}) if between else {}
