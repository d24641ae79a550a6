"""Uploads of agents about their jobs' runs: always accepted, counted only while the attempt is current."""

from datetime import datetime, timedelta
from uuid import UUID

import msgspec
from django.db import connection, transaction
from django.db.models import Count, F, Max, Q
from django.db.models.functions import Coalesce, Greatest

from apps.accounts.credentials import digest_of
from apps.core import binary_cursor
from apps.core.audit.api import Action, record
from apps.dispatch.jobs.agents import SEEN_WRITTEN_EVERY, agent_of_secret
from apps.dispatch.jobs.leases import NoSuchJob, held_job, planned_runs, run_uid, uid_of
from apps.dispatch.models import FINAL, Agent, Job, JobRun
from apps.runs.api import accept
from apps.runs.models import Run
from apps.runs.pure import session_name
from workers.protocol import wire

# Prefix of the reason of a run whose attempt was over before its end arrived.
LEASE_LOST = "lease lost"
# The sweep closes an open run of a dead attempt: after the first period of silence if its agent has nothing left to
# send, after the second in any case, since an outage may last a night.
SILENT_FOR = timedelta(minutes=10)
SILENT_AT_MOST = timedelta(hours=24)
AGENT_SPEAKS_EVERY = timedelta(minutes=2)


# The columns that identify a run's owner. Needed for every batch; building these joins in Django takes longer than the
# rest of the request.
_RUN = """
SELECT r.id, r.uid, r.state, job.id, job.state, of_job.attempt, campaign.created_at, level.threads, level.rate
FROM runs_run r
JOIN dispatch_jobrun of_job ON of_job.run_id = r.id
JOIN dispatch_job job ON job.id = of_job.job_id
JOIN dispatch_campaign campaign ON campaign.id = job.campaign_id
JOIN catalog_loadlevel level ON level.id = r.load_level_id
WHERE r.uid = %s
"""


# The run in the usual case, for accept.accept_batch_of: its job is running at the agent with this secret, which
# connected recently. While an attempt runs, its job is held by the agent for which it was planned.
_MEASURED_RUN = """
SELECT r.id, r.uid, r.state, r.batches_expected FROM runs_run r
JOIN dispatch_jobrun of_job ON of_job.run_id = r.id
JOIN dispatch_job job ON job.id = of_job.job_id
JOIN dispatch_agent agent ON agent.id = job.agent_id
WHERE r.uid = %(uid)s AND job.state = 'running' AND job.attempt = of_job.attempt
  AND agent.digest = %(digest)s AND agent.revoked_at IS NULL AND agent.last_seen_at >= %(seen_after)s
"""


class NoSuchRun(Exception):
    """No run of this agent has this uid."""


def open_run(*, agent: Agent, uid: UUID, message: wire.RunMessage, now: datetime) -> Run:
    """Open a run that was planned for this agent; idempotent.

    A dead attempt's run is accepted too: its data is kept, but never counted.
    Raises NoSuchJob when there is no such job, NoSuchRun when the run was not planned for this agent, or an error of
    ingest.
    """
    job = Job.objects.select_related("campaign", "entry", "system", "workload").filter(pk=message.job).first()
    if job is None:
        raise NoSuchJob(f"there is no job {message.job}: it was deleted, or it is another server's")
    load_level = planned_runs(job, attempt=message.attempt, agent_id=agent.pk).get(uid)
    if load_level is None or not 0 < message.attempt <= job.attempt:
        raise NoSuchRun(f"run {uid} was not planned for agent {agent.name} in attempt {message.attempt} of {job}")
    with transaction.atomic():
        held_job(agent=agent, job_id=job.pk, attempt=message.attempt, now=now)
        run = accept.open_run(
            uid=uid,
            system=job.system,
            workload=job.workload,
            load_level=load_level,
            repetition=job.repetition,
            provenance=Run.Provenance.AGENT,
            message=message,
            session=session_name(campaign=job.campaign_id, session=job.session),
        )
        _, is_new = JobRun.objects.get_or_create(run=run, defaults={"job": job, "attempt": message.attempt})
        if is_new and message.restart_seconds is not None:
            Job.objects.filter(pk=job.pk).update(restart_seconds=message.restart_seconds)
        if is_new:
            record(
                Action.RUN_OPEN, f"run {run.pk} of {job.system.slug}", after=f"job {job.pk}, attempt {message.attempt}"
            )
    return run


def run_of(*, agent: Agent, uid: UUID, now: datetime) -> Run:
    """The opened run, if it belongs to this agent; an expired lease of its attempt is restored. Raises NoSuchRun.

    Only `id`, `uid` and `state` are loaded; Django fetches other fields on access.
    """
    found = binary_cursor.fetch(_RUN, [uid], prepare=True)
    if not found:
        raise NoSuchRun(f"no run {uid} was opened: open it first by a PUT to its address")
    *of_run, job_id, state, attempt, made, threads, rate = found[0]
    if uid_of(made=made, job_id=job_id, attempt=attempt, agent_id=agent.pk, level=(threads, rate)) != uid:
        raise NoSuchRun(f"run {uid} is another agent's")
    if state in ("queued", "matched"):
        with transaction.atomic():
            held_job(agent=agent, job_id=job_id, attempt=attempt, now=now)
    return Run.from_db(connection.alias, ("id", "uid", "state"), of_run)


def store_batch(
    *, secret: str, uid: UUID, sequence: int, checksum: str, payload: bytes, now: datetime
) -> accept.StoredBatch | None:
    """Store a batch of a run of the agent with this secret: usually one statement. None: no agent has it.

    Raises NoSuchRun, or accept.Refused.
    """
    of_run = {"uid": uid, "digest": digest_of(secret), "seen_after": now - SEEN_WRITTEN_EVERY}
    stored = accept.accept_batch_of(_MEASURED_RUN, of_run, sequence=sequence, checksum=checksum, payload=payload)
    if stored is not None:
        return stored
    agent = agent_of_secret(secret=secret, now=now)
    if agent is None:
        return None
    run = run_of(agent=agent, uid=uid, now=now)
    return accept.accept_batch(run=run, sequence=sequence, checksum=checksum, payload=payload)


@transaction.atomic
def end_run(*, agent: Agent, run: Run, message: wire.RunEndMessage, now: datetime) -> None:
    """End the run; a dead attempt's run ends as cancelled for any outcome, so that it is never counted.

    Idempotent. Raises errors of ingest.
    """
    job_run = JobRun.objects.get(run=run)
    job = held_job(agent=agent, job_id=job_run.job_id, attempt=job_run.attempt, now=now)
    run = Run.objects.get(pk=run.pk)
    if run.state == Run.State.OPEN:
        overruled = job is None and message.outcome == Run.Outcome.SUCCEEDED
    else:
        overruled = run.outcome == Run.Outcome.CANCELLED and run.reason.startswith(LEASE_LOST)
    if overruled:
        reason = f"{LEASE_LOST}: attempt {job_run.attempt} of job {job_run.job_id} was over before this end arrived"
        message = msgspec.structs.replace(message, outcome=Run.Outcome.CANCELLED, reason=reason)
    accept.end_run(run=run, message=message)


def close_abandoned_runs(*, now: datetime) -> list[int]:
    """End as cancelled the open runs of dead attempts that can receive no more data; returns their ids."""
    dead = (
        Q(job_run__job__state__in=FINAL)
        | Q(job_run__attempt__lt=F("job_run__job__attempt"))
        | Q(job_run__job__state="queued", job_run__job__agent=None)
    )
    runs = Run.objects.filter(dead, state="open").annotate(
        last_word=Greatest("created_at", Coalesce(Max("batches__received_at"), "created_at")),
        batch_count=Count("batches"),
    )
    closed = []
    for run in runs.filter(last_word__lt=now - SILENT_FOR).select_related("load_level", "job_run__job__campaign"):
        if run.last_word < now - SILENT_AT_MOST or _has_nothing_left(run.job_run, now=now):
            message = wire.RunEndMessage(
                outcome=Run.Outcome.CANCELLED,
                reason=f"{LEASE_LOST}: its agent never reported the end of this run",
                ended_at=run.last_word.isoformat(),
                batches=run.batch_count,
            )
            accept.end_run(run=run, message=message)
            closed.append(run.pk)
    return closed


def _has_nothing_left(job_run: JobRun, *, now: datetime) -> bool:
    """Whether the agent that began the attempt is online and reports an empty spool."""
    level = job_run.run.load_level
    agents = Agent.objects.filter(last_seen_at__gte=now - AGENT_SPEAKS_EVERY)
    return any(
        agent.health.get("spool_messages") == 0
        for agent in agents
        if run_uid(job=job_run.job, attempt=job_run.attempt, agent_id=agent.pk, load_level=level) == job_run.run.uid
    )
