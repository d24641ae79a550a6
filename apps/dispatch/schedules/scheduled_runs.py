"""Outcome of scheduled runs: complete, or missing results with the reasons.

A scheduled run is complete when all jobs of its campaign have succeeded, which requires all their runs. It is missing
when all jobs have ended and one has not succeeded, or when the schedule's deadline (`patience`) has passed. One that is
completed later becomes complete, marked as late.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F, Q

from apps.catalog.models import System, Workload
from apps.dispatch.jobs.agents import AGENT_ALIVE_FOR
from apps.dispatch.models import FINAL, Agent, Job, ScheduledRun
from apps.dispatch.schedules.services import in_utc

State = ScheduledRun.State
LONGEST_REASON = 300


@dataclass(frozen=True)
class MissingResult:
    """Missing results of a system and a workload: `missing` of `repetitions`, and why."""

    system: System
    workload: Workload
    missing: int
    repetitions: int
    why: str

    @property
    def sentence(self) -> str:
        return f"{self.system.slug} × {self.workload.name}: {self.reason}"

    @property
    def reason(self) -> str:
        if self.missing == self.repetitions:
            return self.why
        return f"{self.missing} of {self.repetitions} repetitions: {self.why}"


@dataclass(frozen=True)
class Settled:
    """A scheduled run whose state was just settled; `lacks`: its missing results, empty if nothing could be planned."""

    slot: ScheduledRun
    lacks: Sequence[MissingResult]


def settle(*, now: datetime) -> list[Settled]:
    """Settle scheduled runs that are over, and missing ones that received more results since. Idempotent."""
    unsettled = Q(state=State.STARTED) | Q(state=State.MISSING, settled_at=None)
    late = Q(state=State.MISSING, campaign__jobs__finished_at__gt=F("settled_at"))
    keys = set(ScheduledRun.objects.filter(unsettled | late).values_list("pk", flat=True))
    locked = ScheduledRun.objects.select_for_update(of=("self",), skip_locked=True).select_related(
        "schedule", "campaign"
    )
    slots = list(locked.filter(pk__in=keys).order_by("due_at"))
    jobs = _jobs([scheduled.campaign_id for scheduled in slots if scheduled.campaign_id is not None])
    agents = list(Agent.objects.filter(revoked_at=None)) if slots else []
    found = (_settled(scheduled, jobs.get(scheduled.campaign_id or 0, []), agents, now=now) for scheduled in slots)
    return [each for each in found if each is not None]


def deadline(scheduled: ScheduledRun) -> datetime:
    """When outstanding results become missing. A scheduled run started late, after a downtime, gets the full time."""
    return max(scheduled.due_at, scheduled.begun_at) + timedelta(hours=scheduled.schedule.patience)


def lacks_of(jobs: Sequence[Job], agents: Sequence[Agent], *, now: datetime) -> list[MissingResult]:
    """Missing results of one campaign's jobs, in job order."""
    pairs: dict[tuple[int, int], list[Job]] = defaultdict(list)
    for job in jobs:
        pairs[job.system_id, job.workload_id].append(job)
    found = []
    for own in pairs.values():
        unsuccessful = [job for job in own if job.state != "succeeded"]
        if unsuccessful:
            first = unsuccessful[0]
            found.append(
                MissingResult(
                    first.system, first.workload, len(unsuccessful), len(own), _why(unsuccessful, agents, now=now)
                )
            )
    return found


def _settled(scheduled: ScheduledRun, jobs: Sequence[Job], agents: Sequence[Agent], *, now: datetime) -> Settled | None:
    """None: not over yet."""
    lacks = lacks_of(jobs, agents, now=now)
    was = scheduled.state
    if scheduled.campaign_id is None:
        scheduled.state, scheduled.reason = State.MISSING, scheduled.reason or "its campaign was deleted"
    elif not lacks:
        scheduled.state = State.COMPLETE
        scheduled.reason = "came late" if was == State.MISSING else ""
    elif was == State.MISSING or now >= deadline(scheduled) or all(job.state in FINAL for job in jobs):
        scheduled.state = State.MISSING
        scheduled.reason = "\n".join(lack.sentence for lack in lacks)
    else:
        return None
    scheduled.settled_at = now
    scheduled.save(update_fields=["state", "reason", "settled_at"])
    return Settled(scheduled, lacks)


def _jobs(campaigns: Sequence[int]) -> Mapping[int, list[Job]]:
    found: dict[int, list[Job]] = defaultdict(list)
    jobs = Job.objects.filter(campaign__in=campaigns).select_related("system", "workload", "agent")
    for job in jobs.order_by("campaign", "position"):
        found[job.campaign_id].append(job)
    return found


def _why(unsuccessful: Sequence[Job], agents: Sequence[Agent], *, now: datetime) -> str:
    """Why the worst of these unsuccessful jobs, all of one system and workload, has not succeeded."""
    by_state = {
        state: [job for job in unsuccessful if job.state == state] for state in {job.state for job in unsuccessful}
    }
    for state in ("failed", "cancelled"):
        if state in by_state:
            job = by_state[state][0]
            words = "failed" if state == "failed" else "was cancelled"
            reason = job.reason if state == "failed" else job.reason.removeprefix("cancelled").strip()
            return f"job {job.pk} {words}{': ' if state == 'failed' else ' ' if reason else ''}{reason}"[
                :LONGEST_REASON
            ]
    for job in unsuccessful:
        if job.state != "queued":
            doing = f" ({job.progress})" if job.progress else ""
            return f"job {job.pk} is still {job.state} on agent {job.agent}{doing}"
    return _why_waiting(unsuccessful[0], agents, now=now)


def _why_waiting(job: Job, agents: Sequence[Agent], *, now: datetime) -> str:
    able = [agent for agent in agents if set(agent.labels).issuperset(job.system.labels)]
    tried = f"; it was tried before: {job.reason}"[:LONGEST_REASON] if job.reason else ""
    if not able:
        for agent in agents:
            if reason := agent.refused_systems.get(job.system.slug):
                return f"it gets no jobs of agent {agent}: {reason}"[:LONGEST_REASON] + tried
        labels = ", ".join(job.system.labels)
        return f"no agent {f'has the labels {labels}' if labels else 'is registered'}{tried}"
    alive = [agent for agent in able if agent.last_seen_at and agent.last_seen_at >= now - AGENT_ALIVE_FOR]
    if alive:
        return f"job {job.pk} still waits for agent {alive[0].name}, which is busy{tried}"
    seen = [(agent.last_seen_at, agent.name) for agent in able if agent.last_seen_at]
    if not seen:
        return f"agent {able[0].name} has never connected{tried}"
    last, name = max(seen)
    return f"agent {name} not seen since {in_utc(last)}{tried}"
