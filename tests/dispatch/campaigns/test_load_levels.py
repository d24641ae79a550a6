"""A ladder that ended early: what was not run is owed no more, and the campaign's progress says so."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from apps.dispatch import queries
from apps.dispatch.jobs import leases
from apps.dispatch.models import Job, JobRun
from tests.support.builders import START, a_campaign, a_load_level, a_run, a_system, an_agent, an_entry
from workers.protocol import wire


def claimed(**entry: Any) -> tuple[Job, wire.JobMessage]:
    """The only job of a campaign at 1, 8 and 64 threads, claimed by an agent."""
    system = a_system()
    agent = an_agent(system)
    campaign = a_campaign(system, entries=[an_entry(threads=(1, 8, 64), **entry)])
    leases.match_jobs(now=START)
    message = leases.claim(agent=agent, now=START)
    assert message is not None
    return campaign.jobs.get(), message


def measured(job: Job, threads: int) -> None:
    run = a_run(system=job.system, workload=job.workload, load_level=a_load_level(threads))
    JobRun.objects.create(run=run, job=job, attempt=1)


def end(job: Job, *skipped: tuple[str, str], outcome: str = "succeeded") -> Job:
    assert job.agent is not None
    skips = [wire.SkippedRun(uid=UUID(uid), reason=reason) for uid, reason in skipped]
    message = wire.JobEndMessage(attempt=1, outcome=outcome, reason="", skipped=skips)
    leases.end_job(agent=job.agent, job_id=job.pk, message=message, now=START + timedelta(seconds=10))
    return Job.objects.get(pk=job.pk)


def test_the_agent_is_sent_how_its_load_levels_end(db: None) -> None:
    assert claimed(ends_when_refused=True, least_gain=0.1)[1].ladder == wire.RampMessage(least_gain=0.1)
    assert claimed(ends_when_refused=True)[1].ladder == wire.RampMessage(least_gain=None)
    assert claimed()[1].ladder is None


def test_a_job_whose_ladder_ended_has_succeeded(db: None) -> None:
    job, message = claimed(ends_when_refused=True)
    measured(job, 1)
    _, refused, above = message.runs
    job = end(job, (refused.uid, "connections refused"), (above.uid, "not run: connections were refused at 8 threads"))
    assert (job.state, job.reason) == ("succeeded", "")
    assert [(skip.load_level.threads, skip.reason) for skip in job.skips.all()] == [
        (8, "connections refused"),
        (64, "not run: connections were refused at 8 threads"),
    ]
    progress = queries.list_campaigns(now=START)[0].progress
    assert (progress.state, progress.runs, progress.runs_done, progress.runs_skipped) == ("done", 1, 1, 2)


def test_what_is_skipped_without_a_reason_to_is_owed_still(db: None) -> None:
    job, message = claimed()
    measured(job, 1)
    job = end(job, *((run.uid, "I would rather not") for run in message.runs))
    assert job.state == "queued"
    assert "no successful run arrived for 8 threads, 64 threads" in job.reason


def test_runs_of_others_and_of_failed_jobs_are_not_skipped(db: None) -> None:
    job, message = claimed(ends_when_refused=True)
    measured(job, 1)
    assert end(job, (str(uuid4()), "whose?")).state == "queued"
    job, message = claimed(ends_when_refused=True)
    job = end(job, (message.runs[2].uid, "not run"), outcome="failed")
    assert (job.state, job.skips.count()) == ("queued", 0)


def test_what_is_left_is_weighed_by_each_entrys_times(db: None) -> None:
    """A short entry that is done says little about a long one that is to come."""
    system = a_system()
    agent = an_agent(system)
    entries = [an_entry(threads=(1,), duration=8.0), an_entry(threads=(1,), duration=48.0)]
    a_campaign(system, entries=entries)
    leases.match_jobs(now=START)
    leases.claim(agent=agent, now=START)
    short = Job.objects.get(state="running")
    measured(short, 1)
    assert end(short).state == "succeeded"
    # The short job took 30 s where the plan had 10 + 2 + 8: the long one, of 60 s, will take 90 s.
    progress = queries.list_campaigns(now=START + timedelta(seconds=30))[0].progress
    assert (progress.runs, progress.runs_done, progress.by_plan) == (2, 1, False)
    assert progress.remaining == 90
