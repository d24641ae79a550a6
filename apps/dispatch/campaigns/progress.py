"""Progress of campaigns and their remaining time: estimated from the plan, then from the runs' actual durations."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Count, Min, Q

from apps.dispatch.campaigns.plan import job_seconds
from apps.dispatch.models import ACTIVE, FINAL, Campaign, Entry, Job, JobRun, Skip
from apps.dispatch.values import Progress


@dataclass
class Counts:
    """Counts by entry, and `begun` by campaign: when its first job began.

    `states`: jobs by state. `done`: successful runs; of these, `excluded` were excluded by a user and `doubted`
    failed a quality check. `skipped`: skipped levels. `unreachable`: waiting jobs that no agent can reach.
    """

    states: dict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    done: Mapping[int, int] = field(default_factory=dict)
    skipped: Mapping[int, int] = field(default_factory=dict)
    excluded: Mapping[int, int] = field(default_factory=dict)
    doubted: Mapping[int, int] = field(default_factory=dict)
    unreachable: Mapping[int, int] = field(default_factory=dict)
    begun: dict[int, datetime] = field(default_factory=dict)


def count(campaigns: Sequence[int], *, unreachable: Mapping[int, int]) -> Counts:
    """Counts of the campaigns with these ids. Three queries."""
    counts = Counts(unreachable=unreachable)
    jobs = Job.objects.filter(campaign__in=campaigns).order_by().values_list("campaign", "entry", "state")
    for campaign, entry, state, number, first in jobs.annotate(number=Count("pk"), first=Min("started_at")):
        counts.states[entry][state] = number
        if first is not None:
            counts.begun[campaign] = min(first, counts.begun.get(campaign, first))
    measured = JobRun.objects.filter(job__campaign__in=campaigns, run__outcome="succeeded").order_by()
    rows = list(
        measured.values_list("job__entry").annotate(
            done=Count("pk"),
            excluded=Count("pk", filter=Q(run__is_excluded=True)),
            doubted=Count("pk", filter=Q(run__is_excluded=False) & ~Q(run__failed_checks=[])),
        )
    )
    counts.done = {entry: done for entry, done, _, _ in rows}
    counts.excluded = {entry: excluded for entry, _, excluded, _ in rows}
    counts.doubted = {entry: doubted for entry, _, _, doubted in rows}
    skipped = Skip.objects.filter(job__campaign__in=campaigns).order_by()
    counts.skipped = dict(skipped.values_list("job__entry").annotate(number=Count("pk")))
    return counts


def of(campaign: Campaign, entries: Sequence[Entry], counts: Counts, *, now: datetime) -> Progress:
    shares = [_Share(entry, counts) for entry in entries]
    states = sum((share.states for share in shares), Counter[str]())
    final = sum(states[state] for state in FINAL)
    runs_done = sum(share.done for share in shares)
    begun = counts.begun.get(campaign.pk)
    elapsed = (now - begun).total_seconds() if begun else 0.0
    rate = runs_done / elapsed * 3600 if runs_done and elapsed > 0 and final < states.total() else None
    remaining = None
    if any(share.coming > 0 for share in shares):
        if rate is None:
            planned = sum(share.coming * share.job_seconds for share in shares)
            remaining = max(0.0, planned - elapsed)
        else:
            # Runs of different lengths are weighted by their planned duration.
            passed = sum(share.done * share.run_seconds for share in shares)
            remaining = elapsed * sum(share.left * share.run_seconds for share in shares) / passed
    return Progress(
        jobs=states.total(),
        jobs_done=final,
        jobs_active=sum(states[state] for state in ACTIVE),
        jobs_failed=states["failed"],
        jobs_cancelled=states["cancelled"],
        jobs_cancelling=states["cancelling"],
        jobs_unreachable=sum(share.unreachable for share in shares),
        runs=sum(share.states.total() * share.levels - share.skipped for share in shares),
        runs_done=runs_done,
        runs_skipped=sum(share.skipped for share in shares),
        runs_excluded=sum(counts.excluded.get(entry.pk, 0) for entry in entries),
        runs_doubted=sum(counts.doubted.get(entry.pk, 0) for entry in entries),
        rate=rate,
        remaining=remaining,
        by_plan=remaining is not None and rate is None,
        was_cancelled=campaign.cancelled_at is not None,
    )


class _Share:
    """One entry's share of its campaign's progress."""

    def __init__(self, entry: Entry, counts: Counts) -> None:
        self.states = counts.states[entry.pk]
        self.levels = len(entry.load_levels.all())
        self.done = counts.done.get(entry.pk, 0)
        self.skipped = counts.skipped.get(entry.pk, 0)
        self.unreachable = counts.unreachable.get(entry.pk, 0)
        self.job_seconds = job_seconds(load_levels=self.levels, warmup=entry.warmup, duration=entry.duration)
        self.run_seconds = self.job_seconds / max(1, self.levels)
        final = sum(self.states[state] for state in FINAL)
        self.coming = self.states.total() - final - self.states["cancelling"] - self.unreachable
        # A failed or cancelled job may have measured some of its levels; the others will not be measured.
        of_unfinished = max(0, self.done + self.skipped - self.states["succeeded"] * self.levels)
        self.left = max(0, self.coming * self.levels - of_unfinished)
