"""Leases: which agent holds which job, and until when. Match, claim, renew, end, expire.

Every step is one conditional UPDATE or one locked row; races are decided by the database's constraints.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID, uuid5

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from apps.catalog.models import LoadLevel
from apps.dispatch.jobs import attempts
from apps.dispatch.jobs.agents import AGENT_ALIVE_FOR, restarts
from apps.dispatch.models import ACTIVE, FINAL, Agent, Job, JobRun, Skip
from apps.runs.models import Run
from workers.protocol import wire
from workers.protocol.secrets import text_without_secrets

MATCH_LASTS = timedelta(seconds=30)
LEASE_LASTS = timedelta(seconds=60)
# Multiplied by the number of attempts begun. Long enough for an agent that returns after an outage to deliver its
# measurements before its job is reassigned.
RETRY_WAITS = timedelta(seconds=15)
# How far clocks of the server's hosts may differ. A moment that lies further ahead than it can have been set was set
# before the clock was set back, and counts as passed: nobody is to wait until it is as late again.
CLOCKS_DIFFER = timedelta(minutes=1)
# The UUIDv5 namespace of run uids; any fixed value would do.
RUN_UIDS = UUID("6f0f5f1e-2b1c-5d0e-9c3e-5a1a3a7d4b10")


class LeaseLost(Exception):
    """The attempt is no longer this agent's, which must stop, clean up and ask for work. The text gives the reason."""


class NoSuchJob(Exception):
    """The job was deleted, or never belonged to this agent."""


# ---------------------------------------------------------------- match and claim


def match_jobs(*, now: datetime) -> int:
    """Assign queued jobs, by position, to idle agents that can run them; returns the number assigned."""
    alive = Agent.objects.filter(
        revoked_at=None, last_seen_at__gte=now - AGENT_ALIVE_FOR, last_seen_at__lte=now + CLOCKS_DIFFER
    )
    idle = alive.exclude(pk__in=_taken(now).values("agent"))
    # Agents with few labels go first, so that versatile agents stay free for the jobs that only they can run.
    return sum(_match(agent, now=now) for agent in sorted(idle, key=lambda agent: (len(agent.labels), agent.pk)))


def _taken(now: datetime) -> QuerySet[Job]:
    """Jobs that block their agent and system for other jobs: leased ones, and those whose agent may return.

    A disconnected agent is still measuring: its first message after the outage must not assign it another job.
    """
    waiting = Q(state="queued", agent__isnull=False) & ~_is_ready(now)
    return Job.objects.filter(Q(state__in=ACTIVE) | waiting)


def _of_earlier_sessions() -> QuerySet[Job]:
    """Unfinished jobs of the campaign on the same system whose session comes before."""
    same = Job.objects.filter(campaign=OuterRef("campaign"), system=OuterRef("system"))
    return same.filter(session__lt=OuterRef("session")).exclude(state__in=FINAL)


def _is_ready(now: datetime) -> Q:
    longest = RETRY_WAITS * attempts.MAX_ATTEMPTS + CLOCKS_DIFFER
    return Q(ready_at=None) | Q(ready_at__lte=now) | Q(ready_at__gt=now + longest)


def _match(agent: Agent, *, now: datetime) -> bool:
    fitting = (
        Job.objects.filter(_is_ready(now), state="queued", attempt__lt=attempts.MAX_ATTEMPTS)
        .filter(system__labels__contained_by=agent.labels)
        .filter(Q(session=1) | Q(system__slug__in=restarts(agent)) & ~Exists(_of_earlier_sessions()))
        .exclude(system__in=_taken(now).values("system"))
        .order_by("campaign_id", "position")
    )
    # After a lost race the next job is tried: up to five now, the others at the next beat.
    for job in fitting.only("pk")[:5]:
        try:
            with transaction.atomic():
                won = Job.objects.filter(pk=job.pk, state="queued").update(
                    state="matched", agent=agent, lease_expires_at=now + MATCH_LASTS, ready_at=None
                )
        except IntegrityError:  # one_job_per_system or one_job_per_agent: another assignment was first
            continue
        if won:
            return True
    return False


@transaction.atomic
def claim(*, agent: Agent, now: datetime) -> wire.JobMessage | None:
    """Begin the next attempt of the job matched to `agent`; None if there is none.

    An agent that asks again before its first message about the attempt has lost the response, and receives the same job
    again.
    """
    held = Job.objects.filter(agent=agent, state__in=("matched", "running"))
    job = held.select_for_update(of=("self",)).select_related("system", "workload", "campaign", "entry").first()
    if job is None or (job.state == "running" and not _is_unacknowledged(job, now=now)):
        return None
    if job.state == "matched":
        job.state, job.attempt, job.started_at = "running", job.attempt + 1, now
        job.lease_expires_at, job.progress = now + LEASE_LASTS, ""
        job.save(update_fields=["state", "attempt", "started_at", "lease_expires_at", "progress"])
    return _message(job, agent=agent)


def _is_unacknowledged(job: Job, *, now: datetime) -> bool:
    """Whether no message followed the claim: neither a run nor a renewal, which would have moved the lease."""
    if job.started_at is None or job.lease_expires_at is None or job.lease_expires_at < now:
        return False
    untouched = job.lease_expires_at == job.started_at + LEASE_LASTS
    return untouched and not JobRun.objects.filter(job=job, attempt=job.attempt).exists()


def _message(job: Job, *, agent: Agent) -> wire.JobMessage:
    return wire.JobMessage(
        id=job.pk,
        attempt=job.attempt,
        system=job.system.slug,
        tool=job.workload.tool,
        workload=job.workload.name,
        parameters=job.workload.parameters,
        repetition=job.repetition,
        warmup=job.entry.warmup,
        duration=job.entry.duration,
        lease_seconds=LEASE_LASTS.total_seconds(),
        runs=[
            wire.PlannedRun(
                uid=str(run_uid(job=job, attempt=job.attempt, agent_id=agent.pk, load_level=level)),
                load_level=wire.LoadLevelMessage(threads=level.threads, rate=level.rate),
            )
            for level in missing_levels(job)
        ],
        ladder=wire.RampMessage(least_gain=job.entry.least_gain) if job.entry.ends_when_refused else None,
        restart=_begins_session(job),
    )


def _begins_session(job: Job) -> bool:
    """Whether the server is to be started anew first. Once a run came after a restart, no attempt of the session
    repeats it: what it measured would then lie in two sessions."""
    of_session = Job.objects.filter(campaign=job.campaign_id, system=job.system_id, session=job.session)
    return job.session > 1 and not of_session.filter(restart_seconds__isnull=False).exists()


def run_uid(*, job: Job, attempt: int, agent_id: int, load_level: LoadLevel) -> UUID:
    """The run's uid, derived from agent, attempt and load level, so that an upload proves that it was requested.

    The campaign's creation time is included: job 1 of a recreated database is a different job.
    """
    level = (load_level.threads, load_level.rate)
    return uid_of(made=job.campaign.created_at, job_id=job.pk, attempt=attempt, agent_id=agent_id, level=level)


def uid_of(*, made: datetime, job_id: int, attempt: int, agent_id: int, level: tuple[int, float | None]) -> UUID:
    """`run_uid` from column values: when the campaign was made, and the level's threads and rate."""
    threads, rate = level
    return uuid5(RUN_UIDS, f"{made.isoformat()}/{job_id}/{attempt}/{agent_id}/{threads}/{rate}")


def missing_levels(job: Job) -> Sequence[LoadLevel]:
    """Load levels without a successful run, in order: a retry repeats no measurement."""
    done = JobRun.objects.filter(job=job, run__outcome="succeeded").values("run__load_level")
    return list(job.entry.load_levels.exclude(pk__in=done).exclude(skips__job=job))


def planned_runs(job: Job, *, attempt: int, agent_id: int) -> dict[UUID, LoadLevel]:
    """Every run that the attempt may produce, by uid."""
    levels = job.entry.load_levels.all()
    return {run_uid(job=job, attempt=attempt, agent_id=agent_id, load_level=level): level for level in levels}


# ---------------------------------------------------------------- hold


def renew(*, agent: Agent, job_id: int, attempt: int, progress: str, now: datetime) -> wire.RenewAnswer:
    """Extend the lease. Raises LeaseLost or NoSuchJob."""
    with transaction.atomic():
        job = held_job(agent=agent, job_id=job_id, attempt=attempt, now=now)
        if job is not None:
            job.lease_expires_at, job.progress = now + LEASE_LASTS, progress[:120]
            job.save(update_fields=["lease_expires_at", "progress"])
            return wire.RenewAnswer(cancel=job.state == "cancelling", lease_seconds=LEASE_LASTS.total_seconds())
    # Outside the transaction, so that writes of `held_job` are kept.
    raise _lost(agent=agent, job_id=job_id, attempt=attempt)


def held_job(*, agent: Agent, job_id: int, attempt: int, now: datetime) -> Job | None:
    """The job, locked until the end of the transaction, if this is its current attempt; else None.

    An attempt whose lease expired gets it back if neither its job nor its system was taken meanwhile.
    """
    job = Job.objects.select_for_update(of=("self",)).select_related("campaign", "entry").filter(pk=job_id).first()
    if job is None or job.agent_id != agent.pk or job.attempt != attempt or attempt < 1 or job.state in FINAL:
        return None
    if job.state in ("running", "cancelling"):
        return job
    return job if _give_lease_back(job, now=now) else None


def job_on(*, agent: Agent, slug: str) -> Job:
    """The job that this agent is running on this system. Raises LeaseLost if there is none."""
    job = Job.objects.select_related("system").filter(agent=agent, system__slug=slug, state="running").first()
    if job is None:
        raise LeaseLost(f"agent {agent.name} runs no job on system {slug!r} now")
    return job


def open_run_of(job: Job) -> Run | None:
    """The run being measured; None between runs."""
    return Run.objects.filter(job_run__job=job, job_run__attempt=job.attempt, state="open").order_by("-pk").first()


def _give_lease_back(job: Job, *, now: datetime) -> bool:
    began_since = Job.objects.filter(system=job.system_id, started_at__gt=job.started_at).exclude(pk=job.pk)
    try:
        with transaction.atomic():
            # Another job that ran on the system meanwhile was measured concurrently with this one.
            if not began_since.exists():
                _release_match(job)
                job.state, job.lease_expires_at, job.ready_at = "running", now + LEASE_LASTS, None
                job.save(update_fields=["state", "lease_expires_at", "ready_at"])
                return True
    except IntegrityError:  # one_job_per_system or one_job_per_agent
        job.refresh_from_db()
    if job.state == "queued":
        Job.objects.filter(pk=job.pk).update(agent=None)
    return False


def _release_match(job: Job) -> None:
    """Requeue a job that was matched to this job's agent meanwhile: the agent is still busy and will not claim it."""
    others = Job.objects.filter(agent=job.agent_id, state="matched").exclude(pk=job.pk)
    # A locked row is left to its holder; waiting for it here could deadlock.
    for other in others.select_for_update(skip_locked=True, of=("self",)):
        Job.objects.filter(pk=other.pk).update(state="queued", agent=None, lease_expires_at=None)


def _lost(*, agent: Agent, job_id: int, attempt: int) -> Exception:
    job = Job.objects.filter(pk=job_id).select_related("agent", "campaign").first()
    if job is None or not _was_given(job, attempt=attempt, agent=agent):
        return NoSuchJob(f"agent {agent.name} does not hold attempt {attempt} of job {job_id}")
    if job.state in FINAL:
        why = f"the job has {job.state}" + (f": {job.reason}" if job.reason else "")
    elif job.attempt > attempt:
        why = f"attempt {job.attempt} has begun"
    else:
        why = "its lease ran out, or the attempt was ended; the job or its system was reassigned"
    return LeaseLost(f"attempt {attempt} of job {job_id} is no longer held by agent {agent.name}: {why}")


def _was_given(job: Job, *, attempt: int, agent: Agent) -> bool:
    """Whether the attempt was, or may have been, the agent's: without a run, an attempt has no record of its agent."""
    if attempt < 1 or attempt > job.attempt:
        return False
    runs = [job_run.run for job_run in job.job_runs.filter(attempt=attempt).select_related("run__load_level")]
    own = {run_uid(job=job, attempt=attempt, agent_id=agent.pk, load_level=run.load_level) for run in runs}
    if own & {run.uid for run in runs}:
        return True
    # A match sets the agent of the next attempt; the cancelled job may have been in that state.
    of_this_attempt = attempt == job.attempt and job.state not in ("matched", "cancelled")
    if of_this_attempt and job.agent_id is not None:
        return job.agent_id == agent.pk
    return not runs


# ---------------------------------------------------------------- end and expire


def end_job(*, agent: Agent, job_id: int, message: wire.JobEndMessage, now: datetime) -> None:
    """End the attempt; idempotent. Raises LeaseLost or NoSuchJob."""
    if _ended_before(agent=agent, job_id=job_id, attempt=message.attempt):
        return
    with transaction.atomic():
        job = held_job(agent=agent, job_id=job_id, attempt=message.attempt, now=now)
        if job is not None:
            _end(job, message=message, now=now)
            return
    raise _lost(agent=agent, job_id=job_id, attempt=message.attempt)


def _ended_before(*, agent: Agent, job_id: int, attempt: int) -> bool:
    """Whether the attempt was already ended: an agent repeats the request when the response was lost.

    `agent` is kept on a job that it ended.
    """
    ended = Q(state__in=FINAL, agent=agent) | Q(state="queued", agent=None)
    return Job.objects.filter(ended, pk=job_id, attempt=attempt).exists()


def _end(job: Job, *, message: wire.JobEndMessage, now: datetime) -> None:
    if message.outcome == "succeeded":
        _note_skipped(job, message.skipped)
    missing = missing_levels(job)
    reason = text_without_secrets(message.reason).strip()
    if message.outcome == "succeeded" and missing:
        levels = ", ".join(str(level) for level in missing)
        reason = f"the agent reported success, but no successful run arrived for {levels}"
    elif message.outcome == "cancelled" and job.state != "cancelling":
        reason = reason or "the agent stopped before the job was done"
    if message.outcome == "succeeded" and not missing:
        _finish(job, state="succeeded", reason="", now=now)
    elif job.state == "cancelling":
        _finish(job, state="cancelled", reason=job.reason, now=now)
    else:
        reason = reason or "no reason given by the agent"
        _give_up(job, reason=reason, may_come_back=False, is_permanent=message.is_permanent, now=now)


def _note_skipped(job: Job, skipped: Sequence[wire.SkippedRun]) -> None:
    """Store skipped levels of the attempt's plan, if the entry may end early; other levels are ignored."""
    if not skipped or not job.entry.ends_when_refused or job.agent_id is None:
        return
    planned = planned_runs(job, attempt=job.attempt, agent_id=job.agent_id)
    levels = ((planned.get(skip.uid), text_without_secrets(skip.reason)) for skip in skipped)
    rows = [
        Skip(job=job, load_level=level, reason=reason[: attempts.LONGEST_REASON]) for level, reason in levels if level
    ]
    Skip.objects.bulk_create(rows, ignore_conflicts=True)


def _give_up(job: Job, *, reason: str, may_come_back: bool, now: datetime, is_permanent: bool = False) -> None:
    """Requeue the job, or fail it. `may_come_back`: the agent may return and regain the job."""
    reason = attempts.with_reason(job.reason, reason, attempt=job.attempt)
    if not may_come_back and (is_permanent or job.attempt >= attempts.MAX_ATTEMPTS or not missing_levels(job)):
        _finish(job, state="failed", reason=reason, now=now)
        return
    job.state, job.reason, job.lease_expires_at, job.progress = "queued", reason, None, ""
    job.ready_at = now + RETRY_WAITS * job.attempt
    if not may_come_back:
        job.agent = None
    job.save(update_fields=["state", "reason", "lease_expires_at", "progress", "ready_at", "agent"])


def _finish(job: Job, *, state: str, reason: str, now: datetime) -> None:
    job.state, job.reason, job.finished_at, job.lease_expires_at, job.progress = state, reason, now, None, ""
    job.save(update_fields=["state", "reason", "finished_at", "lease_expires_at", "progress"])


def expire_leases(*, now: datetime) -> int:
    """Take jobs back from agents that were silent for longer than their lease; returns how many."""
    over = Q(lease_expires_at__lt=now) | Q(lease_expires_at__gt=now + LEASE_LASTS + CLOCKS_DIFFER)
    silent = Q(over, state__in=ACTIVE)
    # Last attempts whose agent did not return within `ready_at`.
    hopeless = Q(_is_ready(now), state="queued", attempt__gte=attempts.MAX_ATTEMPTS, ready_at__isnull=False)
    expired = Job.objects.filter(silent | hopeless).values_list("pk", flat=True)
    return sum(_expire(job_id, over=silent | hopeless, now=now) for job_id in list(expired))


@transaction.atomic
def _expire(job_id: int, *, over: Q, now: datetime) -> bool:
    # A locked row is being renewed or ended: leave it to its holder.
    rows = Job.objects.select_for_update(skip_locked=True, of=("self",)).select_related("agent", "campaign", "entry")
    job = rows.filter(over, pk=job_id).first()
    if job is None:
        return False
    silent = f"agent {job.agent} was silent for longer than its lease of {LEASE_LASTS.total_seconds():.0f} s"
    if job.state == "queued":
        _finish(job, state="failed", reason=job.reason, now=now)
    elif job.state == "matched":
        # No attempt had begun.
        Job.objects.filter(pk=job.pk).update(state="queued", agent=None, lease_expires_at=None)
    elif job.state == "cancelling":
        _finish(job, state="cancelled", reason=f"{job.reason}; {silent}", now=now)
    elif missing_levels(job):
        _give_up(job, reason=silent, may_come_back=True, now=now)
    else:
        reason = f"{silent}, but only after the last run: clean-up unknown"
        _finish(job, state="succeeded", reason=reason, now=now)
    return True
