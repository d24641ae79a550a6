"""What tests of the leases do to jobs, step by step."""

from datetime import datetime, timedelta

from apps.dispatch.jobs import leases
from apps.dispatch.models import Agent, Campaign, Job, JobRun
from tests.support.builders import START, a_load_level, a_run
from workers.protocol.wire import JobEndMessage

SECOND = timedelta(seconds=1)
AFTER_LEASE = START + timedelta(seconds=61)


def states(campaign: Campaign) -> list[str]:
    return list(campaign.jobs.order_by("position").values_list("state", flat=True))


def a_measured_run(job: Job, *, threads: int, attempt: int = 1, outcome: str = "succeeded") -> JobRun:
    reason = "broken" if outcome == "failed" else ""
    run = a_run(system=job.system, load_level=a_load_level(threads), outcome=outcome, reason=reason)
    return JobRun.objects.create(run=run, job=job, attempt=attempt)


def measure_all(job: Job) -> None:
    for level in leases.missing_levels(job):
        a_measured_run(job, threads=level.threads, attempt=job.attempt)


def claimed(job: Job, agent: Agent, *, now: datetime) -> None:
    Agent.objects.filter(pk=agent.pk).update(last_seen_at=now)
    assert leases.match_jobs(now=now) == 1
    message = leases.claim(agent=agent, now=now)
    assert message is not None
    assert message.id == job.pk
    job.refresh_from_db()


def end(
    job: Job,
    agent: Agent,
    outcome: str,
    *,
    reason: str = "",
    now: datetime = START,
    attempt: int = 0,
    is_permanent: bool = False,
) -> None:
    message = JobEndMessage(attempt=attempt or job.attempt, outcome=outcome, reason=reason, is_permanent=is_permanent)
    leases.end_job(agent=agent, job_id=job.pk, message=message, now=now)
    job.refresh_from_db()
