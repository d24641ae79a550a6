"""Missing results of scheduled benchmarks as findings: one per schedule, with a change for each system and workload.

A result that is missing again while its change holds adds no second change: the reason states since when and how often.
After people closed the finding as fixed or not reproducible, it is reported as new. A change is gone when a campaign of
the schedule, or one that repeats the finding, has produced all its results since.
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
# Schedule, system and workload of a missing result.
Key = tuple[int, int, int]


@transaction.atomic
def look(*, now: datetime) -> list[Finding]:
    """Evaluates finished scheduled runs; reports missing results and those that arrived. Returns the changed
    findings."""
    reconcile.lock()
    settled = scheduled_runs.settle(now=now)
    related = ("slot__schedule", "slot__campaign", "finding")
    known = list(Change.objects.filter(kind=MISSING, gone_at=None).select_related(*related))
    completed = _completed(known, now)
    arrived = [change for change in known if _has_arrived(change, *completed)]
    current = {_key(change): change for change in known if change not in arrived and change.finding.state not in CLOSED}
    detected: list[tuple[FindingKey, DetectedChange]] = []
    for scheduled, lack in _missing(settled):
        before = current.get((scheduled.schedule_id, lack.system.pk, lack.workload.pk))
        if before is None or before.slot_id == scheduled.pk:
            key = FindingKey(kind=Finding.Kind.MISSING, family="", schedule=scheduled.schedule)
            detected.append((key, _detected(scheduled, lack)))
        else:
            before.reason, before.judged_at = _again(before, lack), now
            before.save(update_fields=["reason", "judged_at"])
    return reconcile.settle(detected, looked_at=arrived) if detected or arrived else []


def _missing(settled: Sequence[Settled]) -> Iterable[tuple[ScheduledRun, MissingResult]]:
    for each in settled:
        if each.slot.state == ScheduledRun.State.MISSING:
            for lack in each.lacks or _of_the_last(each.slot):
                yield each.slot, lack


def _of_the_last(scheduled: ScheduledRun) -> list[MissingResult]:
    """If nothing could be planned: all expected results of the previous campaign."""
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


Completed = dict[Key, datetime]


def _completed(known: Sequence[Change], now: datetime) -> tuple[Completed, Completed]:
    """Planning time of the last complete campaign, by schedule, system and workload, and of repetitions by finding,
    system and workload."""
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
    by_schedule: Completed = {}
    by_finding: Completed = {}
    for campaign, planned, schedule, system, workload, jobs, done in rows:
        if jobs == done:
            if schedule is not None:
                _keep(by_schedule, (schedule, system, workload), planned)
            for finding in repeated.get(campaign, ()):
                _keep(by_finding, (finding, system, workload), planned)
    return by_schedule, by_finding


def _keep(completed: Completed, key: Key, planned: datetime) -> None:
    completed[key] = max(planned, completed.get(key, planned))


def _has_arrived(change: Change, by_schedule: Completed, by_finding: Completed) -> bool:
    expected = _expected_at(change)
    found = (by_schedule.get(_key(change)), by_finding.get((change.finding_id, change.system_id, change.workload_id)))
    return any(planned is not None and planned >= expected for planned in found)


def _expected_at(change: Change) -> datetime:
    scheduled = _scheduled_run(change)
    return scheduled.campaign.created_at if scheduled.campaign else scheduled.begun_at
