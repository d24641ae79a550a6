"""The schedule pages: the list, one schedule with its scheduled runs, and the form."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.current_user import may_write, writer
from apps.core.problems import FieldProblem, Invalid
from apps.core.query import whole_number
from apps.dispatch.api import ScheduleFields
from apps.dispatch.api import campaign_file as file
from apps.dispatch.api import campaign_text as text
from apps.dispatch.api import schedule_queries as queries
from apps.dispatch.api import schedules as services
from apps.dispatch.models import Campaign
from apps.dispatch.pure import cron
from apps.regressions.models import Finding
from apps.web.accounts.guards import writers_only
from apps.web.campaigns.files import EXAMPLE
from apps.web.components.forms import PageForm
from apps.web.components.lists import cursor, page_of
from apps.web.components.pages import render_page, takes_only
from workers import tasks

PAGE = 50
START = ScheduleFields(name="", plan=EXAMPLE, cron="30 2 * * *")


@dataclass(frozen=True)
class Due:
    """`text`: the time in the schedule's time zone."""

    isoformat: str
    text: str


class ScheduleForm(PageForm):
    """Its rules: dispatch.schedules. `seen`: fingerprint of the edited version."""

    name = forms.CharField(label="Name", required=False)
    cron = forms.CharField(label="Cron expression", required=False)
    zone = forms.CharField(label="Time zone", required=False)
    patience = forms.CharField(label="Deadline, h", required=False)
    plan = forms.CharField(label="Campaign file", required=False, strip=False)
    seen = forms.CharField(label="", required=False)

    def clean_patience(self) -> float:
        """Not a number, if it is none: the service reports it with the problems of the other fields."""
        try:
            return float(self.cleaned_data["patience"].replace(",", "."))
        except ValueError:
            return math.nan

    def clean_plan(self) -> str:
        return str(self.cleaned_data["plan"]).replace("\r\n", "\n")

    def stated(self) -> ScheduleFields:
        return ScheduleFields(**{name: value for name, value in self.cleaned_data.items() if name != "seen"})


# ---------------------------------------------------------------- reading


@require_safe
@takes_only(archived=("1",))
def show_all(request: HttpRequest) -> HttpResponse:
    archived = request.GET.get("archived") == "1"
    rows = queries.list_schedules(archived=archived)
    used = [row for row in rows if row.state != "archived"]
    findings = _findings([row.id for row in rows])
    context = {
        "rows": [(row, findings.get(row.id)) for row in rows],
        "archived": archived,
        "next": next((row for row in used if row.next_at), None),
        "lacking": [row for row in used if row.is_lacking],
        "may_write": may_write(request),
    }
    return render_page(request, "web/schedules/schedules.html", context)


@require_safe
@takes_only("before")
def show(request: HttpRequest, schedule_id: int) -> HttpResponse:
    now = timezone.now()
    detail = queries.load_schedule(schedule_id, now=now)
    if detail is None:
        raise Http404(f"There is no schedule {schedule_id}.")
    found = queries.list_scheduled_runs(schedule_id, limit=PAGE + 1, before=cursor(request))
    context = {
        "schedule": detail.row,
        "detail": detail,
        "coming": _in_zone(detail.coming, detail.row.zone),
        "plan_problems": _plan_problems(detail.plan) if detail.row.state != "archived" else (),
        "page": page_of(request, found, PAGE, key=lambda row: row.id),
        "finding": _findings([schedule_id]).get(schedule_id),
        "may_write": may_write(request),
    }
    return render_page(request, "web/schedules/schedule.html", context)


@require_safe
def times(request: HttpRequest) -> HttpResponse:
    """The next times of a schedule while it is being typed."""
    stated = {"cron": request.GET.get("cron", ""), "zone": request.GET.get("zone", "")}
    return render_page(request, "web/schedules/times.html", _times(stated["cron"], stated["zone"]))


def _times(expression: str, zone: str) -> dict[str, Any]:
    if wrong := services.time_problems(expression, zone):
        return {"coming": (), "time_problems": wrong}
    coming, change = queries.times(expression, zone, now=timezone.now())
    return {"coming": _in_zone(coming, zone), "words": cron.in_words(expression), "zone": zone, "clock_change": change}


def _in_zone(moments: Sequence[datetime], zone: str) -> list[Due]:
    """Format times in the schedule's zone; templates would convert them to the server's."""
    return [Due(moment.isoformat(), f"{moment.astimezone(ZoneInfo(zone)):%a %Y-%m-%d %H:%M}") for moment in moments]


def _findings(schedule_ids: Sequence[int]) -> dict[int, Finding]:
    """Open findings about missing results, by schedule."""
    open_states = [state for state in Finding.State if state not in ("fixed", "not reproducible")]
    found = Finding.objects.filter(kind="missing", schedule__in=schedule_ids, merged_into=None, state__in=open_states)
    return {finding.schedule_id: finding for finding in found if finding.schedule_id is not None}


def _plan_problems(plan: str) -> Sequence[FieldProblem]:
    """Why the next scheduled run would fail: the catalog may have changed since the plan was stored."""
    try:
        file.check(plan.encode(errors="replace"))
    except Invalid as refused:
        return refused.errors
    return ()


# ---------------------------------------------------------------- the form


@require_http_methods(["GET", "HEAD", "POST"])
@writers_only
def new(request: HttpRequest) -> HttpResponse:
    """`campaign` in the query string: copy the plan of that campaign."""
    if request.method != "POST":
        return _page(request, _unsent(_prefilled(request.GET)))
    return _sent(request, lambda form: services.create(stated=form.stated(), by=writer(request), now=timezone.now()).pk)


@require_http_methods(["GET", "HEAD", "POST"])
@writers_only
def edit(request: HttpRequest, schedule_id: int) -> HttpResponse:
    detail = queries.load_schedule(schedule_id, now=timezone.now())
    if detail is None:
        raise Http404(f"There is no schedule {schedule_id}.")
    if request.method != "POST":
        row = detail.row
        stated = ScheduleFields(row.name, detail.plan, row.cron, row.zone, row.patience)
        return _page(request, _unsent(stated, seen=detail.seen), known=detail)

    def keep(form: ScheduleForm) -> int:
        seen = form.cleaned_data["seen"]
        return services.edit(schedule_id=schedule_id, stated=form.stated(), now=timezone.now(), seen=seen).pk

    return _sent(request, keep, known=detail)


def _prefilled(query: QueryDict) -> ScheduleFields:
    asked = query.get("campaign", "")
    if whole_number(asked) is None:
        return START
    campaign = get_object_or_404(Campaign, pk=int(asked))
    return ScheduleFields(name=campaign.name, plan=text.of(campaign), cron=START.cron)


def _unsent(stated: ScheduleFields, *, seen: str = "") -> ScheduleForm:
    return ScheduleForm(initial=asdict(stated) | {"patience": f"{stated.patience:g}", "seen": seen})


def _sent(
    request: HttpRequest, keep: Callable[[ScheduleForm], int], *, known: queries.ScheduleDetail | None = None
) -> HttpResponse:
    form = ScheduleForm(request.POST)
    if "check" in request.POST:
        checked = form.attempt(lambda: services.check(form.stated(), known_id=known.row.id if known else None))
        return _page(request, form, known=known, checked=checked)
    kept = form.attempt(lambda: keep(form))
    if kept is None:
        return _page(request, form, known=known)
    messages.info(request, f"{form.cleaned_data['name']} is saved.")
    return redirect("web:schedule", kept)


def _page(
    request: HttpRequest,
    form: ScheduleForm,
    *,
    known: queries.ScheduleDetail | None = None,
    checked: file.Checked | None = None,
) -> HttpResponse:
    is_conflict = form.has_error("seen")
    context = {
        "form": form,
        "known": known.row if known else None,
        # Once the conflict has been shown, saving again is intentional.
        "seen": known.seen if known and is_conflict else form["seen"].value(),
        "checked": checked,
        "problems": form.problems(),
        "zones": sorted(cron.zones()),
        "example": cron.EXAMPLE,
        **_times(*(str(form[name].value() or "").strip() for name in ("cron", "zone"))),
    }
    status = 409 if is_conflict else 422 if form.errors else 200
    return render_page(request, "web/schedules/form.html", context, status=status)


# ---------------------------------------------------------------- actions


@require_POST
@writers_only
def act(request: HttpRequest, schedule_id: int) -> HttpResponse:
    """`action`: run, pause, resume or archive."""
    actions: dict[str, Callable[[], str]] = {
        "run": lambda: _run(request, schedule_id),
        "pause": lambda: _done(services.pause(schedule_id=schedule_id), "is paused"),
        "resume": lambda: _done(services.resume(schedule_id=schedule_id, now=timezone.now()), "is resumed"),
        "archive": lambda: _done(services.archive(schedule_id=schedule_id, now=timezone.now()), "is archived"),
    }
    action = actions.get(request.POST.get("action", ""))
    if action is None:
        raise Http404("There is no such action.")
    try:
        messages.info(request, action())
    except services.NoSuchSchedule as error:
        raise Http404(str(error)) from error
    except Invalid as refused:
        for problem in refused.errors:
            messages.error(request, problem.sentence())
    return redirect("web:schedule", schedule_id)


def _run(request: HttpRequest, schedule_id: int) -> str:
    scheduled = services.run_now(schedule_id=schedule_id, by=writer(request), now=timezone.now())
    tasks.enqueue(tasks.match_jobs)
    return f"Campaign {scheduled.campaign} started."


def _done(schedule: Any, words: str) -> str:
    return f"{schedule} {words}."
