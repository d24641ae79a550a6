"""Leaving out repetitions that are no longer needed: which are complete, and what becomes of the waiting jobs."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from apps.dispatch.models import FINAL, Campaign, Entry, Job, JobRun, Skip

LONGEST_REASON = 500
REPETITION, SESSION = "repetition", "session"


@dataclass(frozen=True)
class RepeatedEntry:
    """An entry of which a repetition is complete, or a session if there are several, that nobody looked at yet: `unit`
    number `looked` of at most `most`. `runs`: run -> its unit, of the complete ones. `levels`: ids still to be
    measured. `comparisons`: of all its load levels and systems with the first system."""

    campaign: Campaign
    entry: Entry
    looked: int
    most: int
    unit: str
    systems: tuple[str, ...]
    runs: Mapping[int, int]
    levels: tuple[int, ...]
    comparisons: int


def due() -> list[RepeatedEntry]:
    """Entries of unfinished campaigns with `until`. Four queries each; none without such a campaign."""
    entries = (
        Entry.objects.exclude(campaign__until="")
        .filter(jobs__state="queued")
        .select_related("campaign", "workload")
        .distinct()
    )
    return [found for entry in entries if (found := _looked(entry)) is not None]


def _looked(entry: Entry) -> RepeatedEntry | None:
    jobs = list(entry.jobs.select_related("system").order_by("position"))
    unit = _unit(entry)
    waiting = min((getattr(job, unit) for job in jobs if job.state not in FINAL), default=0)
    complete = waiting - 1
    if complete <= entry.looked:
        return None
    of_done = JobRun.objects.filter(job__entry=entry, **{f"job__{unit}__lte": complete})
    # An older one that is not sealed by now may never be: it is missing.
    if of_done.filter(**{f"job__{unit}": complete}).exclude(run__state="sealed").exists():
        return None
    coming = Skip.objects.filter(job__entry=entry, **{f"job__{unit}__gt": complete})
    skipped = set(coming.values_list("load_level", flat=True))
    # As in the plan, whose first system the others are compared with.
    first = [job for job in jobs if job.repetition == 1]
    planned = [level.pk for level in entry.load_levels.all()]
    systems = tuple(dict.fromkeys(job.system.slug for job in first))
    return RepeatedEntry(
        campaign=entry.campaign,
        entry=entry,
        looked=complete,
        most=entry.campaign.sessions if unit == SESSION else entry.campaign.repetitions,
        unit=unit,
        systems=systems,
        runs=dict(of_done.values_list("run", f"job__{unit}")),
        levels=tuple(level for level in planned if level not in skipped),
        comparisons=len(planned) * max(1, len(systems) - 1),
    )


def _unit(entry: Entry) -> str:
    """What a verdict takes as one independent repetition, and the field of a job that numbers it."""
    return SESSION if entry.campaign.sessions > 1 else REPETITION


@transaction.atomic
def leave_out(looked: RepeatedEntry, reasons: Mapping[int, str], *, now: datetime) -> int:
    """Skip the load levels (id -> reason) in the waiting jobs of later repetitions or sessions; a job without any left
    is done. Returns the number of jobs that ended so."""
    Entry.objects.filter(pk=looked.entry.pk).update(looked=looked.looked)
    if not reasons:
        return 0
    waiting = looked.entry.jobs.select_for_update(of=("self",)).filter(state="queued")
    jobs = list(waiting.filter(**{f"{looked.unit}__gt": looked.looked}).order_by("pk"))
    Skip.objects.bulk_create(
        (
            Skip(job=job, load_level_id=level, reason=reason[:LONGEST_REASON])
            for job in jobs
            for level, reason in reasons.items()
        ),
        ignore_conflicts=True,
    )
    if set(looked.levels) - set(reasons):
        return 0
    for job in jobs:
        job.state, job.finished_at = Job.State.SUCCEEDED, now
    Job.objects.bulk_update(jobs, ["state", "finished_at"])
    return len(jobs)
