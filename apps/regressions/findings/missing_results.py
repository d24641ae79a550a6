"""A scheduled benchmark that brought no result is a finding: one of each schedule, with a change for each system and
workload.

What is missing again while that is known adds no second change: its reason says since when and how often. Once people
closed the finding as fixed or not reproducible it is news. A change is gone when a campaign of the schedule, or one
that repeats the finding, has brought all its results since.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Count, Q

from apps.dispatch.api import MissingResult, Settled, in_utc, scheduled_runs
from apps.dispatch.models import Job, ScheduledRun
from apps.regressions.findings import reconcile
from apps.regressions.findings.reconcile import CLOSED, DetectedChange, FindingKey
from apps.regressions.models import Change, Finding, Repetition

MISSING = Change.Kind.MISSING
# What is missing: schedule, system, workload.
Key = tuple[int, int, int]


@transaction.atomic
def look(*, now: datetime) -> list[Finding]:
    """Settles scheduled runs; reports what is missing and what came since. The findings that changed."""
    reconcile.lock()
    settled = scheduled_runs.settle(now=now)
    related = ("slot__schedule", "slot__campaign", "finding")
    known = list(Change.objects.filter(kind=MISSING, gone_at=None).select_related(*related))
    brought = _brought(known, now)
    came = [change for change in known if _has_come(change, *brought)]
    held = {_key(change): change for change in known if change not in came and change.finding.state not in CLOSED}
    detected: list[tuple[FindingKey, DetectedChange]] = []
    for scheduled, lack in _missing(settled):
        before = held.get((scheduled.schedule_id, lack.system.pk, lack.workload.pk))
        if before is None or before.slot_id == scheduled.pk:
            key = FindingKey(kind=Finding.Kind.MISSING, family="", schedule=scheduled.schedule)
            detected.append((key, _detected(scheduled, lack)))
        else:
            before.reason, before.judged_at = _again(before, lack), now
            before.save(update_fields=["reason", "judged_at"])
    return reconcile.settle(detected, looked_at=came) if detected or came else []


def _missing(settled: Sequence[Settled]) -> Iterable[tuple[ScheduledRun, MissingResult]]:
    for each in settled:
        if each.slot.state == ScheduledRun.State.MISSING:
            for lack in each.lacks or _of_the_last(each.slot):
                yield each.slot, lack


def _of_the_last(scheduled: ScheduledRun) -> list[MissingResult]:
    """Where nothing could be planned: all that the campaign before it was to bring."""
    before = (
        ScheduledRun.objects.filter(schedule=scheduled.schedule_id, due_at__lt=scheduled.due_at)
        .exclude(campaign=None)
        .first()
    )
    if before is None:
        return []
    jobs = Job.objects.filter(campaign=before.campaign_id).select_related("system", "workload").order_by("position")
    pairs = {(job.system_id, job.workload_id): job for job in jobs}
    why = scheduled.reason.replace("\n", ": ", 1).replace("\n", "; ")
    return [MissingResult(job.system, job.workload, 1, 1, why) for job in pairs.values()]


def _detected(scheduled: ScheduledRun, lack: MissingResult) -> DetectedChange:
    return DetectedChange(
        kind=MISSING,
        verdict=Change.Verdict.MISSING,
        system=lack.system.pk,
        workload=lack.workload.pk,
        slot=scheduled.pk,
        reason=lack.reason,
    )


def _again(change: Change, lack: MissingResult) -> str:
    first = _scheduled_run(change)
    since = ScheduledRun.objects.filter(
        schedule=first.schedule_id, state=ScheduledRun.State.MISSING, due_at__gte=first.due_at
    )
    return f"{lack.reason}; missing since {in_utc(first.due_at)}, {since.count()} times"


def _scheduled_run(change: Change) -> ScheduledRun:
    assert change.slot is not None, "a missing result without its scheduled run was stored"  # noqa: S101
    return change.slot


def _key(change: Change) -> Key:
    return _scheduled_run(change).schedule_id, change.system_id, change.workload_id


Brought = dict[Key, datetime]


def _brought(known: Sequence[Change], now: datetime) -> tuple[Brought, Brought]:
    """When the last campaign that brought all its results was planned: of schedules, and of repetitions (their key:
    finding, system, workload)."""
    repeated: dict[int, set[int]] = defaultdict(set)
    findings = {change.finding_id for change in known}
    for finding, campaign in Repetition.objects.filter(finding__in=findings).values_list("finding", "campaign"):
        repeated[campaign].add(finding)
    of_schedule = Q(campaign__slot__schedule__in={_scheduled_run(change).schedule_id for change in known})
    rows = (
        Job.objects.filter(of_schedule | Q(campaign__in=repeated))
        .filter(campaign__created_at__gte=min(map(_expected_at, known), default=now))
        .filter(system__in={change.system_id for change in known})
        .filter(workload__in={change.workload_id for change in known})
        .order_by()
        .values_list("campaign", "campaign__created_at", "campaign__slot__schedule", "system", "workload")
        .annotate(jobs=Count("pk"), done=Count("pk", filter=Q(state="succeeded")))
    )
    by_schedule: Brought = {}
    by_finding: Brought = {}
    for campaign, planned, schedule, system, workload, jobs, done in rows:
        if jobs == done:
            if schedule is not None:
                _keep(by_schedule, (schedule, system, workload), planned)
            for finding in repeated.get(campaign, ()):
                _keep(by_finding, (finding, system, workload), planned)
    return by_schedule, by_finding


def _keep(brought: Brought, key: Key, planned: datetime) -> None:
    brought[key] = max(planned, brought.get(key, planned))


def _has_come(change: Change, by_schedule: Brought, by_finding: Brought) -> bool:
    expected = _expected_at(change)
    found = (by_schedule.get(_key(change)), by_finding.get((change.finding_id, change.system_id, change.workload_id)))
    return any(planned is not None and planned >= expected for planned in found)


def _expected_at(change: Change) -> datetime:
    scheduled = _scheduled_run(change)
    return scheduled.campaign.created_at if scheduled.campaign else scheduled.begun_at
