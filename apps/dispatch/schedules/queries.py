"""Schedules for pages and API: frozen values, read in a constant number of queries."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Annotated, Any

from django.db.models import Count, Prefetch, Q

from apps.core.answers import Hidden, Inline, Name, Shown, component
from apps.dispatch.models import FINAL, Job, Schedule, ScheduledRun
from apps.dispatch.schedules import cron
from apps.dispatch.schedules.services import stated_of

SHOWN_RUNS = 10
COMING = 5


@component("Slot")
@dataclass(frozen=True)
class ScheduledRunRow:
    """`jobs` 0: no campaign was started."""

    id: int
    due_at: datetime
    state: Annotated[str, "started, complete, missing, or not started"]
    reasons: Annotated[tuple[str, ...], "reasons for missing results, one sentence each"]
    begun_at: datetime
    settled_at: Annotated[datetime | None, "null: not settled yet"]
    campaign_id: Annotated[int | None, Name("campaign"), "id; null: none was started"]
    campaign: Hidden[str]
    jobs: Annotated[int, "jobs of its campaign"]
    jobs_ended: Annotated[int, "of these, in any final state"]
    jobs_succeeded: int

    @property
    def word(self) -> str:
        return "under way" if self.state == ScheduledRun.State.STARTED else self.state

    @property
    def brought(self) -> str:
        """Results in words."""
        if not self.jobs:
            return "not started"
        return f"{self.jobs_succeeded:,} of {self.jobs:,} job{'s' if self.jobs > 1 else ''}"


@component("Schedule")
@dataclass(frozen=True)
class ScheduleRow:
    id: int
    name: str
    cron: str
    words: Annotated[str, "`cron` in words"]
    zone: Annotated[str, "the time zone of `cron`"]
    patience: Annotated[float, "deadline, h; outstanding results are then missing"]
    next_at: Annotated[datetime | None, "null: paused or archived"]
    created_by: str
    created_at: datetime
    archived_at: datetime | None
    slots: Annotated[tuple[ScheduledRunRow, ...], f"the latest {SHOWN_RUNS}, newest first"]

    @property
    def state(self) -> Annotated[Shown[str], "on, paused or archived"]:
        if self.archived_at is not None:
            return "archived"
        return "paused" if self.next_at is None else "on"

    @property
    def last(self) -> ScheduledRunRow | None:
        return self.slots[0] if self.slots else None

    @property
    def is_lacking(self) -> Annotated[Shown[bool], "the latest settled scheduled run has missing results"]:
        over = [slot for slot in self.slots if slot.state in (ScheduledRun.State.MISSING, ScheduledRun.State.COMPLETE)]
        return bool(over) and over[0].state == ScheduledRun.State.MISSING


@dataclass(frozen=True)
class ScheduleDetail:
    """A schedule with its plan.

    `coming`: the next times. `clock_change`: effect of the zone's next clock change on them, a sentence. `seen`:
    fingerprint of the stated fields, to detect concurrent edits.
    """

    row: Annotated[ScheduleRow, Inline()]
    plan: Annotated[str, "a campaign file"]
    seen: Annotated[str, "as it is stated now: give it to PUT, which refuses when that has changed"]
    coming: Annotated[tuple[datetime, ...], "the next times; empty: it is not on"]
    clock_change: Annotated[str, "effect of the zone's next clock change; empty: none within a year"]


def list_schedules(*, archived: bool = False) -> list[ScheduleRow]:
    """Schedules in use, by next time, paused ones last; or archived ones, by name."""
    rows = _rows(Schedule.objects.filter(archived_at__isnull=not archived))
    return sorted(rows, key=lambda row: (row.next_at is None, row.next_at or row.created_at, row.name))


def load_schedule(schedule_id: int, *, now: datetime) -> ScheduleDetail | None:
    """None: there is no such schedule."""
    schedules = Schedule.objects.filter(pk=schedule_id)
    schedule = schedules.first()
    if schedule is None:
        return None
    coming, found = times(schedule.cron, schedule.zone, now=now)
    (row,) = _rows(schedules)
    return ScheduleDetail(
        row=row,
        plan=schedule.plan,
        seen=stated_of(schedule).fingerprint,
        coming=coming if row.next_at else (),
        clock_change=found,
    )


def exists(schedule_id: int) -> bool:
    return Schedule.objects.filter(pk=schedule_id).exists()


def times(expression: str, zone: str, *, now: datetime) -> tuple[tuple[datetime, ...], str]:
    """The next times, and a sentence on the zone's next clock change; empty: none within a year.

    `expression` and `zone` must be valid."""
    coming = tuple(islice(cron.after(now, expression=expression, zone=zone), COMING))
    change = cron.clock_change(now, expression=expression, zone=zone)
    return coming, change.sentence if change else ""


def list_scheduled_runs(schedule_id: int, *, limit: int, before: int | None = None) -> list[ScheduledRunRow]:
    """Newest first by id; `before`: scheduled runs with a lower id only, for paging."""
    rows = ScheduledRun.objects.filter(schedule=schedule_id).select_related("campaign").order_by("-pk")
    if before is not None:
        rows = rows.filter(pk__lt=before)
    found = list(rows[:limit])
    jobs = _jobs_of(found)
    return [_row(scheduled, jobs) for scheduled in found]


def schedule_of(campaign_id: int) -> tuple[int, str] | None:
    """Id and name of the schedule that started the campaign; None: planned by a user."""
    found = ScheduledRun.objects.filter(campaign=campaign_id).values_list("schedule", "schedule__name").first()
    return found and (found[0], found[1])


def _rows(schedules: Any) -> list[ScheduleRow]:
    latest = ScheduledRun.objects.select_related("campaign").order_by("-due_at")[:SHOWN_RUNS]
    found = list(schedules.select_related("created_by").prefetch_related(Prefetch("slots", latest, to_attr="latest")))
    jobs = _jobs_of([scheduled for schedule in found for scheduled in schedule.latest])
    return [
        ScheduleRow(
            id=schedule.pk,
            name=schedule.name,
            cron=schedule.cron,
            words=cron.in_words(schedule.cron),
            zone=schedule.zone,
            patience=schedule.patience,
            next_at=schedule.next_at,
            created_by=schedule.created_by.username,
            created_at=schedule.created_at,
            archived_at=schedule.archived_at,
            slots=tuple(_row(scheduled, jobs) for scheduled in schedule.latest),
        )
        for schedule in found
    ]


Counts = dict[int, tuple[int, int, int]]


def _jobs_of(rows: Sequence[ScheduledRun]) -> Counts:
    """Numbers of all, ended and succeeded jobs, by campaign."""
    campaigns = [scheduled.campaign_id for scheduled in rows if scheduled.campaign_id is not None]
    jobs = Job.objects.filter(campaign__in=campaigns).order_by().values_list("campaign")
    counted = jobs.annotate(
        all=Count("pk"), ended=Count("pk", filter=Q(state__in=FINAL)), done=Count("pk", filter=Q(state="succeeded"))
    )
    return {campaign: (number, ended, done) for campaign, number, ended, done in counted}


def _row(scheduled: ScheduledRun, counts: Counts) -> ScheduledRunRow:
    number, ended, done = counts.get(scheduled.campaign_id or 0, (0, 0, 0))
    return ScheduledRunRow(
        id=scheduled.pk,
        due_at=scheduled.due_at,
        state=scheduled.state,
        reasons=tuple(scheduled.reason.splitlines()),
        begun_at=scheduled.begun_at,
        settled_at=scheduled.settled_at,
        campaign_id=scheduled.campaign_id,
        campaign=scheduled.campaign.name if scheduled.campaign else "",
        jobs=number,
        jobs_ended=ended,
        jobs_succeeded=done,
    )
