"""Schedules: campaigns that are started periodically, edited by users and triggered by the beat.

    due -> started -> complete | missing        settled by apps.dispatch.schedules.scheduled_runs
        -> not started                          the previous campaign is unfinished, or the server was down

A due schedule creates a scheduled run in the same transaction as its campaign, under the schedule's row lock and a
unique key, so that two beats start only one campaign.
"""

import logging
import math
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

from django.db import IntegrityError, InterfaceError, OperationalError, transaction

from apps.accounts.models import User
from apps.core.audit.api import Action, record
from apps.core.canonical import canonical_hash
from apps.core.problems import FieldProblem, Invalid
from apps.dispatch.campaigns import file
from apps.dispatch.models import FINAL, Campaign, Job, Schedule, ScheduledRun
from apps.dispatch.schedules import cron

log = logging.getLogger(__name__)

LONGEST_NAME = 120
LONGEST_DEADLINE = 14 * 24.0  # h
# After a downtime, at most this many of the missed times are recorded one by one, the latest.
LISTED_MISSED = 50
LONGEST_ERROR = 300
LOOKED_BACK = timedelta(days=31)
State = ScheduledRun.State


class NoSuchSchedule(LookupError):
    """There is no such schedule."""


class ScheduleChanged(Invalid):
    """The schedule was edited by another user after it was read."""


@dataclass(frozen=True)
class ScheduleFields:
    """The user-defined fields of a schedule; `patience` in h."""

    name: str
    plan: str
    cron: str
    zone: str = "UTC"
    patience: float = 12.0

    @property
    def fingerprint(self) -> str:
        return canonical_hash(asdict(self))


def stated_of(schedule: Schedule) -> ScheduleFields:
    return ScheduleFields(schedule.name, schedule.plan, schedule.cron, schedule.zone, schedule.patience)


def check(stated: ScheduleFields, *, known_id: int | None = None) -> file.Checked:
    """The campaign that each scheduled run would start; nothing is stored.

    `known_id`: of the schedule being edited. Raises Invalid with every problem; fields of the plan begin with `plan`.
    """
    problems = _own_problems(stated, known_id)
    checked = None
    try:
        checked = file.check(_content(stated.plan))
    except Invalid as refused:
        problems += _of_plan(refused)
    if problems or checked is None:
        raise Invalid(problems)
    return checked


@transaction.atomic
def create(*, stated: ScheduleFields, by: User, now: datetime) -> Schedule:
    """Raises Invalid as `check` does."""
    check(stated)
    made = _stored(Schedule(created_by=by), stated, now=now)
    record(Action.SCHEDULE_CREATE, _named(made), after=_times(made))
    return made


@transaction.atomic
def edit(*, schedule_id: int, stated: ScheduleFields, now: datetime, seen: str = "") -> Schedule:
    """A paused schedule stays paused; campaigns already started are not changed. What is due starts as edited; if its
    times change, those that passed count as missed.

    `seen`: fingerprint of the version that was edited; empty: not checked. Raises ScheduleChanged when it differs,
    Invalid, or NoSuchSchedule.
    """
    schedule = _locked(schedule_id)
    if seen and seen != stated_of(schedule).fingerprint:
        problem = f"{schedule.name} was edited by somebody else after you had opened it"
        raise ScheduleChanged([FieldProblem("seen", problem, "compare it with yours; saving replaces it")])
    check(stated, known_id=schedule.pk)
    before = _times(schedule)
    due_at = schedule.next_at if schedule.next_at and schedule.next_at <= now else None
    if due_at and (schedule.cron, schedule.zone) != (_spaced(stated.cron), stated.zone):
        passed, due_at = _passed(schedule, now=now), None
        reason = f"its times were changed {in_utc(now)}, before it was started"
        _note_missed(schedule, passed.times, reason=reason, is_whole=passed.is_whole, now=now)
    _stored(schedule, stated, now=now, is_on=schedule.next_at is not None, due_at=due_at)
    record(Action.SCHEDULE_EDIT, _named(schedule), before=before, after=_times(schedule))
    return schedule


@transaction.atomic
def pause(*, schedule_id: int) -> Schedule:
    """Start nothing until the schedule is resumed. Raises NoSuchSchedule, or Invalid when it is archived."""
    schedule = _locked(schedule_id)
    if schedule.next_at is not None:
        schedule.next_at = None
        schedule.save(update_fields=["next_at"])
        record(Action.SCHEDULE_PAUSE, _named(schedule))
    return schedule


@transaction.atomic
def resume(*, schedule_id: int, now: datetime) -> Schedule:
    """Continue with the next time, without catching up. Raises NoSuchSchedule, or Invalid when it is archived."""
    schedule = _locked(schedule_id)
    if schedule.next_at is None:
        schedule.next_at = cron.next_after(now, expression=schedule.cron, zone=schedule.zone)
        schedule.save(update_fields=["next_at"])
        record(Action.SCHEDULE_RESUME, _named(schedule))
    return schedule


@transaction.atomic
def archive(*, schedule_id: int, now: datetime) -> Schedule:
    """Stop the schedule permanently; its campaigns are kept. Raises NoSuchSchedule."""
    schedule = _locked(schedule_id, archived=True)
    if schedule.archived_at is None:
        schedule.archived_at, schedule.next_at = now, None
        schedule.save(update_fields=["archived_at", "next_at"])
        record(Action.SCHEDULE_ARCHIVE, _named(schedule))
    return schedule


@transaction.atomic
def run_now(*, schedule_id: int, by: User, now: datetime) -> ScheduledRun:
    """Start its campaign now, outside its times.

    Raises Invalid when the previous campaign is unfinished, the plan is invalid or the schedule is archived, and
    NoSuchSchedule.
    """
    schedule = _locked(schedule_id)
    busy = _still_running(schedule)
    if busy:
        raise Invalid([FieldProblem("", busy, "wait for it, or cancel it")])
    try:
        campaign = file.start(_content(schedule.plan), by=by)
    except Invalid as refused:
        raise Invalid(_of_plan(refused)) from refused
    record(Action.SCHEDULE_RUN, _named(schedule), after=f"campaign {campaign.pk}")
    return ScheduledRun.objects.create(schedule=schedule, due_at=now, state=State.STARTED, campaign=campaign)


def _named(schedule: Schedule) -> str:
    return f"schedule {schedule.pk} {schedule.name}"


def _times(schedule: Schedule) -> str:
    return f"{schedule.cron} {schedule.zone}, plan {canonical_hash(schedule.plan)[:8]}"


def start_due(*, now: datetime) -> int:
    """Start due campaigns; returns how many.

    One transaction per schedule: one that fails, as without the database, is retried at the next tick and does not
    delay the others.
    """
    _correct_times(now=now)
    due = Schedule.objects.filter(next_at__lte=now).order_by("next_at").values_list("pk", flat=True)
    begun = 0
    for pk in list(due):
        try:
            begun += _start(pk, now=now)
        except Exception:
            log.exception("schedule %s is due and could not be started", pk)
    return begun


# ---------------------------------------------------------------- due schedules


@transaction.atomic
def _start(schedule_id: int, *, now: datetime) -> bool:
    """Whether a campaign was started; another beat may have been first."""
    locked = Schedule.objects.select_for_update(of=("self",), skip_locked=True)
    schedule = locked.select_related("created_by").filter(pk=schedule_id, next_at__lte=now).first()
    if schedule is None or schedule.next_at is None:
        return False
    passed = _passed(schedule, now=now)
    *missed, last = passed.times
    schedule.next_at = passed.following
    schedule.save(update_fields=["next_at"])
    reason = f"the server was down: of the missed times, only {in_utc(last)} was caught up"
    _note_missed(schedule, missed, reason=reason, is_whole=passed.is_whole, now=now)
    return _begin(schedule, due_at=last, now=now)


def _correct_times(*, now: datetime) -> None:
    """A clock that was ahead set times beyond the next one; after its correction they would wait until it is so late
    again."""
    for schedule in Schedule.objects.filter(next_at__gt=now):
        try:
            following = cron.next_after(now, expression=schedule.cron, zone=schedule.zone)
            if following and schedule.next_at and following < schedule.next_at:
                _correct(schedule.pk, now=now)
        except Exception:
            log.exception("the next time of schedule %s could not be computed", schedule.pk)


@transaction.atomic
def _correct(schedule_id: int, *, now: datetime) -> None:
    schedule = Schedule.objects.select_for_update().filter(pk=schedule_id, next_at__gt=now).first()
    if schedule is None:
        return
    later = ScheduledRun.objects.filter(schedule=schedule, due_at__gt=now)
    # Taken for missed by that clock.
    later.filter(state=State.NOT_STARTED).delete()
    begun = set(later.values_list("due_at", flat=True))
    times = cron.after(now, expression=schedule.cron, zone=schedule.zone)
    following = next((moment for moment in times if moment not in begun), None)
    if following != schedule.next_at:
        log.warning(
            "schedule %s is due %s instead of %s: the clock was set back", schedule, following, schedule.next_at
        )
        schedule.next_at = following
        schedule.save(update_fields=["next_at"])


@dataclass(frozen=True)
class _Passed:
    """Times from the due one until now, the latest; `is_whole`: all of them. `following`: the next one."""

    times: list[datetime]
    is_whole: bool
    following: datetime | None


def _passed(schedule: Schedule, *, now: datetime) -> _Passed:
    """Of a schedule that is due."""
    assert schedule.next_at is not None  # noqa: S101  for mypy
    times, following = [schedule.next_at], None
    horizon = max(schedule.next_at, now - LOOKED_BACK)
    # By a clock that was ahead.
    begun = set(ScheduledRun.objects.filter(schedule=schedule, due_at__gt=horizon).values_list("due_at", flat=True))
    for moment in cron.after(horizon, expression=schedule.cron, zone=schedule.zone):
        if moment in begun:
            continue
        if moment > now:
            following = moment
            break
        times.append(moment)
    is_whole = horizon == schedule.next_at and len(times) <= LISTED_MISSED + 1
    return _Passed(times[-LISTED_MISSED - 1 :], is_whole, following)


def _begin(schedule: Schedule, *, due_at: datetime, now: datetime) -> bool:
    scheduled = ScheduledRun(schedule=schedule, due_at=due_at, state=State.STARTED)
    scheduled.reason = _still_running(schedule)
    if scheduled.reason:
        scheduled.state = State.NOT_STARTED
    else:
        try:
            with transaction.atomic():
                scheduled.campaign = file.start(_content(schedule.plan), by=schedule.created_by)
        except Invalid as refused:
            text = "\n".join(problem.sentence() for problem in refused.errors)
            # No result will come: `scheduled_runs.settle` reports it.
            scheduled.state, scheduled.reason = State.MISSING, f"the plan was refused\n{text}"
        except (OperationalError, InterfaceError):
            # The database is away, or another transaction was in the way: the next tick has its time.
            raise
        except Exception as error:
            log.exception("schedule %s is due and its plan could not be started", schedule.pk)
            first = f"{type(error).__name__}: {error}".partition("\n")[0]
            scheduled.state, scheduled.reason = State.MISSING, f"the plan could not be started\n{first[:LONGEST_ERROR]}"
    scheduled.settled_at = now if scheduled.state == State.NOT_STARTED else None
    scheduled.save()
    return scheduled.state == State.STARTED


def _note_missed(schedule: Schedule, missed: list[datetime], *, reason: str, is_whole: bool, now: datetime) -> None:
    if not is_whole:
        reason += "; earlier times are not listed"
    ScheduledRun.objects.bulk_create(
        ScheduledRun(schedule=schedule, due_at=moment, state=State.NOT_STARTED, reason=reason, settled_at=now)
        for moment in missed
    )


def _still_running(schedule: Schedule) -> str:
    """Why no further campaign may start; empty: one may."""
    unfinished = Job.objects.filter(campaign__slot__schedule=schedule).exclude(state__in=FINAL)
    job = unfinished.select_related("campaign").first()
    if job is None:
        return ""
    campaign: Campaign = job.campaign
    left, jobs = unfinished.filter(campaign=campaign).count(), campaign.jobs.count()
    due = f"the campaign that was due {in_utc(campaign.slot.due_at)}"
    return f"{due} is not done: {left:,} of its {jobs:,} jobs {'have' if left > 1 else 'has'} not ended"


def in_utc(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


# ---------------------------------------------------------------- user input


def _stored(
    schedule: Schedule, stated: ScheduleFields, *, now: datetime, is_on: bool = True, due_at: datetime | None = None
) -> Schedule:
    """`due_at`: a time that passed and stays due."""
    schedule.name, schedule.plan = stated.name.strip(), stated.plan
    schedule.cron, schedule.zone, schedule.patience = _spaced(stated.cron), stated.zone, stated.patience
    following = due_at or cron.next_after(now, expression=schedule.cron, zone=schedule.zone)
    schedule.next_at = following if is_on else None
    try:
        with transaction.atomic():
            schedule.save()
    except IntegrityError as error:
        raise Invalid([_taken(schedule.name)]) from error
    return schedule


def _spaced(expression: str) -> str:
    return " ".join(expression.split())


def _locked(schedule_id: int, *, archived: bool = False) -> Schedule:
    locked = Schedule.objects.select_for_update(of=("self",)).select_related("created_by")
    schedule = locked.filter(pk=schedule_id).first()
    if schedule is None:
        raise NoSuchSchedule(f"There is no schedule {schedule_id}.")
    if schedule.archived_at is not None and not archived:
        raise Invalid([FieldProblem("", f"{schedule.name} is archived", "create a new schedule from its plan")])
    return schedule


def _own_problems(stated: ScheduleFields, known_id: int | None) -> list[FieldProblem]:
    problems = []
    name = stated.name.strip()
    if not name:
        problems.append(FieldProblem("name", "is empty", "give it a descriptive name"))
    elif len(name) > LONGEST_NAME:
        problems.append(FieldProblem("name", f"has {len(name)} characters", f"use at most {LONGEST_NAME}"))
    elif Schedule.objects.filter(name=name).exclude(pk=known_id or 0).exists():
        problems.append(_taken(name))
    problems += time_problems(stated.cron, stated.zone)
    if not (math.isfinite(stated.patience) and 0 < stated.patience <= LONGEST_DEADLINE):
        message = "is not a number" if math.isnan(stated.patience) else f"{stated.patience:g} h is out of range"
        problems.append(FieldProblem("patience", message, f"use more than 0, at most {LONGEST_DEADLINE:g} h"))
    return [*problems, *_not_storable(stated)]


def time_problems(expression: str, zone: str) -> list[FieldProblem]:
    """Problems of `cron` and `zone`; empty: its times can be computed."""
    problems = []
    try:
        cron.check(expression)
    except cron.NoCron as error:
        problems.append(FieldProblem("cron", str(error), cron.EXAMPLE))
    if zone not in cron.zones():
        problems.append(FieldProblem("zone", f"there is no time zone {zone[:60]!r}", "use one such as Europe/Berlin"))
    return problems


def _not_storable(stated: ScheduleFields) -> list[FieldProblem]:
    texts = {"name": stated.name, "plan": stated.plan}
    return [
        FieldProblem(name, "contains NUL, which cannot be stored", "leave it out")
        for name, text in texts.items()
        if "\0" in text
    ]


def _taken(name: str) -> FieldProblem:
    return FieldProblem("name", f"{name!r} already exists, possibly archived", "choose another name")


def _content(plan: str) -> bytes:
    return plan.encode(errors="replace")


def _of_plan(refused: Invalid) -> list[FieldProblem]:
    return [
        FieldProblem(f"plan.{problem.field}".rstrip("."), problem.message, problem.remedy) for problem in refused.errors
    ]
