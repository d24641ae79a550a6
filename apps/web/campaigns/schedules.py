"""The schedule pages: the list, one schedule with its scheduled runs, and the form."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

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
from apps.web.accounts import writers_only
from apps.web.campaigns.files import EXAMPLE
from apps.web.components.lists import cursor, page_of
from apps.web.components.pages import render_page
from workers import tasks

PAGE = 50
START = ScheduleFields(name="", plan=EXAMPLE, cron="30 2 * * *")
FIELDS = ("name", "cron", "zone", "patience")


@dataclass(frozen=True)
class Field:
    """A form field: value as typed, and its errors."""

    name: str
    value: str
    errors: Sequence[str] = ()


@dataclass(frozen=True)
class Due:
    """`said`: the time as text, in the schedule's time zone."""

    isoformat: str
    said: str


# ---------------------------------------------------------------- reading


@require_safe
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
        return _form(request, _prefilled(request.GET))
    return _sent(request, lambda stated: services.create(stated=stated, by=writer(request), now=timezone.now()).pk)


@require_http_methods(["GET", "HEAD", "POST"])
@writers_only
def edit(request: HttpRequest, schedule_id: int) -> HttpResponse:
    detail = queries.load_schedule(schedule_id, now=timezone.now())
    if detail is None:
        raise Http404(f"There is no schedule {schedule_id}.")
    if request.method != "POST":
        row = detail.row
        return _form(request, ScheduleFields(row.name, detail.plan, row.cron, row.zone, row.patience), known=detail)
    seen = request.POST.get("seen", "")
    return _sent(
        request,
        lambda stated: services.edit(schedule_id=schedule_id, stated=stated, now=timezone.now(), seen=seen).pk,
        known=detail,
    )


def _prefilled(query: QueryDict) -> ScheduleFields:
    asked = query.get("campaign", "")
    if whole_number(asked) is None:
        return START
    campaign = get_object_or_404(Campaign, pk=int(asked))
    return ScheduleFields(name=campaign.name, plan=text.of(campaign), cron=START.cron)


def _sent(
    request: HttpRequest, keep: Callable[[ScheduleFields], int], *, known: queries.ScheduleDetail | None = None
) -> HttpResponse:
    typed = {name: request.POST.get(name, "").strip() for name in FIELDS}
    try:
        patience = float(typed["patience"].replace(",", "."))
    except ValueError:
        patience = float("nan")
    plan = request.POST.get("plan", "").replace("\r\n", "\n")
    stated = ScheduleFields(typed["name"], plan, typed["cron"], typed["zone"], patience)
    known_id = known.row.id if known else None
    seen = request.POST.get("seen", "")
    try:
        if "check" in request.POST:
            checked = services.check(stated, known_id=known_id)
            return _form(request, stated, typed=typed, known=known, seen=seen, checked=checked)
        kept = keep(stated)
    except services.ScheduleChanged as refused:
        # The conflict has been shown: saving again is intentional.
        return _form(request, stated, typed=typed, known=known, problems=refused.errors, status=409)
    except Invalid as refused:
        return _form(request, stated, typed=typed, known=known, seen=seen, problems=refused.errors)
    messages.info(request, f"{stated.name} is saved.")
    return redirect("web:schedule", kept)


def _form(
    request: HttpRequest,
    stated: ScheduleFields,
    *,
    typed: dict[str, str] | None = None,
    known: queries.ScheduleDetail | None = None,
    seen: str = "",
    checked: file.Checked | None = None,
    problems: Sequence[FieldProblem] = (),
    status: int = 422,
) -> HttpResponse:
    """`seen`: fingerprint of the edited version, empty: that of `known`. `status`: used if there are problems."""
    values = typed or {name: getattr(stated, name) for name in FIELDS} | {"patience": f"{stated.patience:g}"}
    own = {name: [_words(each) for each in problems if each.field == name] for name in FIELDS}
    context = {
        "fields": {name: Field(name, values[name], own[name]) for name in FIELDS},
        "plan": stated.plan,
        "known": known.row if known else None,
        "seen": seen or (known.seen if known else ""),
        "checked": checked,
        "problems": problems,
        "plan_problems": [_words(each) for each in problems if each.field.partition(".")[0] == "plan"],
        "zones": sorted(cron.zones()),
        "example": cron.EXAMPLE,
        **_times(stated.cron, stated.zone),
    }
    return render_page(request, "web/schedules/form.html", context, status=status if problems else 200)


def _words(problem: FieldProblem) -> str:
    return f"{problem.message}: {problem.remedy}" if problem.remedy else problem.message


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
