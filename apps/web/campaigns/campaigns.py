"""The campaign pages: the list, the plan form, and one campaign live."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import Exists, OuterRef
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.current_user import may_write, writer
from apps.catalog.models import System
from apps.comparison.api import baselines
from apps.core.problems import FieldProblem, Invalid
from apps.dispatch import api as dispatch
from apps.dispatch.api import CampaignDetail, JobCell, JobGrid, RunCell, queries, schedule_queries
from apps.dispatch.models import Campaign, Job
from apps.regressions.api import OPEN
from apps.regressions.models import Finding
from apps.runs.api import queries as runs
from apps.web.accounts.guards import writers_only
from apps.web.campaigns import presets, wording
from apps.web.campaigns.plan import PlanForm, prefilled
from apps.web.campaigns.precision import WANTED, precision
from apps.web.campaigns.presets import Preset
from apps.web.components.forms import FormProblem
from apps.web.components.lists import cursor, page_of
from apps.web.components.pages import is_partial, render_page, takes_only
from workers import tasks

PAGE = 50
# Limit of the Compare page.
MOST_SIDES = 4
MOST_FINDINGS = 5
THROUGHPUT = "client.throughput"


@dataclass(frozen=True)
class Now:
    """A job that an agent holds; `throughput` over the last second of its open run, None before the first."""

    job: JobCell
    run: RunCell | None
    throughput: float | None
    unit: str


@dataclass(frozen=True)
class WorkloadGrid:
    """`comparison`: address of the Compare page, empty while there is nothing to compare."""

    grid: JobGrid
    comparison: str


# ---------------------------------------------------------------- the list


@require_safe
@takes_only("before")
def show_all(request: HttpRequest) -> HttpResponse:
    found = queries.list_campaigns(now=timezone.now(), limit=PAGE + 1, before=cursor(request))
    page = page_of(request, found, PAGE, key=lambda row: row.id)
    context = {"rows": page.rows, "page": page, "live": any(not row.progress.is_finished for row in page.rows)}
    return render_page(request, "web/campaigns/campaigns.html", context, part="web/campaigns/list_table.html")


# ---------------------------------------------------------------- the plan


@require_http_methods(["GET", "HEAD", "POST"])
@writers_only
def plan(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        try:
            preset = presets.chosen(request.GET.get("preset", ""), _presets())
        except Invalid as error:
            return _plan_page(request, PlanForm(initial=_initial()), problems=error.errors, status=400)
        if preset and preset.key == presets.ARTICLES:
            return redirect(preset.url)
        own = {**preset.values} if preset else {}
        return _plan_page(request, PlanForm(initial=_initial() | own | prefilled(request.GET)))
    form = PlanForm(request.POST)
    campaign = form.plan(user=writer(request), now=timezone.now())
    if campaign is None:
        return _plan_page(request, form, status=422)
    tasks.enqueue(tasks.match_jobs)
    return redirect("web:campaign", campaign.pk)


@require_safe
def size(request: HttpRequest) -> HttpResponse:
    """Number of jobs and runs and duration of the plan while it is being typed."""
    key = request.GET.get("preset", "")
    chosen = next((each for each in _presets() if each.key == key), None)
    changed = chosen is not None and presets.is_changed(chosen, request.GET)
    context = _size(PlanForm(request.GET)) | {"preset": chosen, "is_changed": changed, "is_counted_anew": True}
    return render_page(request, "web/campaigns/size.html", context)


def _presets() -> tuple[Preset, ...]:
    offered = list(PlanForm().offered)
    unreachable = queries.unreachable(offered, now=timezone.now())
    return presets.presets([system for system in offered if system.slug not in unreachable])


def _size(form: PlanForm) -> dict[str, Any]:
    """Context of the summary; `waiting_jobs`: jobs on chosen systems that no agent can reach."""
    counted = form.size()
    if counted is None:
        return {"size": None}
    chosen, repetitions = list(form.cleaned_data["systems"]), form.cleaned_data["repetitions"]
    unreached = queries.unreachable(chosen, now=timezone.now())
    sessions = form.cleaned_data["sessions"]
    found = precision(chosen, form.counted_entries(), repetitions=repetitions) if sessions == 1 else ()
    return {
        "size": counted,
        "repetitions": repetitions,
        "sessions": sessions,
        "session_plan": form.session_plan(),
        "ramps": form.cleaned_data["climb"],
        "precision": found,
        "wanted": WANTED,
        "missing": [each for each in found if each.misses],
        "out_of_reach": sorted(unreached),
        "waiting_jobs": counted.jobs // len(chosen) * len(unreached),
    }


def _initial() -> dict[str, Any]:
    return {name: field.initial for name, field in PlanForm().fields.items() if field.initial is not None}


def _plan_page(
    request: HttpRequest, form: PlanForm, *, problems: Sequence[FieldProblem] = (), status: int = 200
) -> HttpResponse:
    counted = form if form.is_bound else PlanForm(_as_typed(form.initial))
    unreachable = queries.unreachable(form.offered, now=timezone.now())
    key = (request.POST if form.is_bound else request.GET).get("preset", "")
    offered = _presets()
    preset = next((each for each in offered if each.key == key), None)
    context = {
        "form": form,
        "presets": [(each, PlanForm(_as_typed(each.values)).size() if each.values else None) for each in offered],
        "preset": preset,
        "is_changed": preset is not None and presets.is_changed(preset, counted.data),
        # Reachable systems come first.
        "systems": sorted(form.offered, key=lambda system: system.slug in unreachable),
        "unreachable": unreachable,
        "refused": queries.refusals([each for each in form.offered if each.slug in unreachable], now=timezone.now()),
        **_size(counted),
        "problems": [
            *(FormProblem(each.field, each.field, each.text(), "presets") for each in problems),
            *(form.problems() if form.is_bound else ()),
        ],
        "chosen_systems": set(form["systems"].value() or ()),
        "offers": form.offers(),
    }
    return render_page(request, "web/campaigns/new.html", context, status=status)


def _as_typed(values: Mapping[str, Any]) -> QueryDict:
    return QueryDict(urlencode(values, doseq=True))


# ---------------------------------------------------------------- one campaign


@require_safe
def show(request: HttpRequest, campaign_id: int) -> HttpResponse:
    return _campaign_page(request, campaign_id)


def _campaign_page(request: HttpRequest, campaign_id: int, *, notice: str = "") -> HttpResponse:
    now = timezone.now()
    detail = queries.load_campaign(campaign_id, now=now)
    if detail is None:
        raise Http404(f"There is no campaign {campaign_id}.")
    pins = baselines.pins(grid.entry.workload.id for grid in detail.grids)
    context = {
        "campaign": detail.row,
        "detail": detail,
        "current": _current(detail),
        "troubles": wording.troubles(detail.jobs),
        "parts": [_part(grid, detail, pins.get(grid.entry.workload.id)) for grid in detail.grids],
        "findings": _findings(campaign_id) if detail.row.progress.is_finished else [],
        "schedule": schedule_queries.schedule_of(campaign_id),
        "may_cancel": any(job.may_be_cancelled for job in detail.jobs),
        "notice": notice,
        "may_write": may_write(request),
    }
    return render_page(request, "web/campaigns/campaign.html", context, part="web/campaigns/live.html")


def _findings(campaign_id: int) -> list[tuple[int, str, str]]:
    """Open findings on the releases and hardware of its systems: id, title, state; deteriorations first."""
    there = {"release": OuterRef("release"), "hardware_class": OuterRef("hardware_class")}
    measured = System.objects.filter(campaigns=campaign_id, **there)
    found = Finding.objects.filter(Exists(measured), state__in=OPEN, merged_into=None)
    return list(found.order_by("-verdict", "-changed_at").values_list("pk", "title", "state")[:MOST_FINDINGS])


def _current(detail: CampaignDetail) -> list[Now]:
    jobs = detail.current
    open_runs = [job.open_run.id for job in jobs if job.open_run]
    series = runs.load_series(run_ids=open_runs, metrics=[THROUGHPUT]) if open_runs else []
    last: dict[int, tuple[float, str]] = {}
    for values in series:
        seen = values.values[values.values == values.values]  # NaN: not observed
        if seen.size:
            last[values.run_id] = (float(seen[-1]), values.unit)
    current = []
    for job in jobs:
        throughput, unit = last.get(job.open_run.id, (None, "")) if job.open_run else (None, "")
        current.append(Now(job=job, run=job.open_run, throughput=throughput, unit=unit))
    return current


def _part(grid: JobGrid, detail: CampaignDetail, pin: baselines.Pin | None) -> WorkloadGrid:
    workload = grid.entry.workload
    measured = {
        job.system.slug for job in detail.jobs if job.workload == workload and any(run.is_complete for run in job.runs)
    }
    sides = baselines.first([system.slug for system in detail.row.systems if system.slug in measured], pin)[:MOST_SIDES]
    query = urlencode({"side": sides, "workload": workload.id, "campaign": detail.row.id}, doseq=True)
    return WorkloadGrid(grid, f"/compare/?{query}" if len(sides) > 1 else "")


@require_POST
@writers_only
def cancel(request: HttpRequest, campaign_id: int) -> HttpResponse:
    campaign = get_object_or_404(Campaign, pk=campaign_id)
    done = dispatch.cancel_campaign(campaign=campaign, by=writer(request), now=timezone.now())
    return _after(request, campaign_id, done)


@require_POST
@writers_only
def cancel_job(request: HttpRequest, job_id: int) -> HttpResponse:
    job = get_object_or_404(Job, pk=job_id)
    done = dispatch.cancel_job(job=job, by=writer(request), now=timezone.now())
    return _after(request, job.campaign_id, done)


def _after(request: HttpRequest, campaign_id: int, done: dispatch.Cancellation) -> HttpResponse:
    if is_partial(request):
        return _campaign_page(request, campaign_id, notice=done.message)
    messages.info(request, done.message)
    return redirect("web:campaign", campaign_id)
