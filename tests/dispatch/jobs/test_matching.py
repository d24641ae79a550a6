"""Which job is given to whom, and what a claim answers. Two at once: test_races.py."""

from datetime import timedelta
from typing import Any

import pytest

from apps.dispatch.jobs import leases
from tests.dispatch.steps import AFTER_LEASE, SECOND, a_measured_run, claimed, states
from tests.support.builders import START, a_campaign, a_job, a_load_level, a_system, an_agent

# ---------------------------------------------------------------- match


def test_jobs_are_matched_by_position_one_per_system_and_agent(db: None) -> None:
    a, b = a_system("a"), a_system("b")
    campaign = a_campaign(a, b, repetitions=2)
    an_agent(a, b)
    assert leases.match_jobs(now=START) == 1
    assert states(campaign) == ["matched", "queued", "queued", "queued"]
    an_agent(a, b)
    assert leases.match_jobs(now=START) == 1
    assert states(campaign) == ["matched", "matched", "queued", "queued"]
    an_agent(a, b)
    assert leases.match_jobs(now=START) == 0


def test_agent_without_the_labels_gets_nothing(db: None) -> None:
    system = a_system(labels=["system:x", "region:eu"])
    a_campaign(system)
    an_agent(labels=["system:x"])
    assert leases.match_jobs(now=START) == 0
    an_agent(labels=["region:eu", "system:x", "more"])
    assert leases.match_jobs(now=START) == 1


@pytest.mark.parametrize(
    "fields",
    [{"last_seen_at": START - timedelta(seconds=31)}, {"last_seen_at": None}, {"revoked_at": START}],
)
def test_silent_or_revoked_agent_gets_nothing(db: None, fields: dict[str, Any]) -> None:
    system = a_system()
    a_campaign(system)
    an_agent(system, **fields)
    assert leases.match_jobs(now=START) == 0


def test_specialist_is_served_before_the_versatile(db: None) -> None:
    a, b = a_system("a"), a_system("b")
    campaign = a_campaign(a, b)
    an_agent(a, b, name="versatile")
    an_agent(a, name="specialist")
    assert leases.match_jobs(now=START) == 2
    assert list(campaign.jobs.order_by("position").values_list("agent__name", flat=True)) == ["specialist", "versatile"]


def test_older_campaign_goes_first(db: None) -> None:
    system = a_system()
    older, newer = a_campaign(system), a_campaign(system)
    an_agent(system)
    leases.match_jobs(now=START)
    assert (states(older), states(newer)) == (["matched"], ["queued"])


# ---------------------------------------------------------------- claim


def test_claim_says_all_that_the_agent_needs(db: None) -> None:
    job = a_campaign(a_system("a"), threads=(4, 1), warmup=2.0, duration=7.0).jobs.get()
    agent = an_agent(job.system)
    leases.match_jobs(now=START)
    message = leases.claim(agent=agent, now=START)
    assert message is not None
    assert (message.id, message.attempt, message.system, message.tool) == (job.pk, 1, "a", "sysbench")
    assert (message.warmup, message.duration, message.lease_seconds) == (2.0, 7.0, 60.0)
    assert message.parameters == job.workload.parameters
    assert [run.load_level.threads for run in message.runs] == [1, 4]
    assert len({run.uid for run in message.runs}) == 2
    job.refresh_from_db()
    assert (job.state, job.attempt, job.lease_expires_at) == ("running", 1, START + timedelta(seconds=60))


def test_claim_without_a_match_is_none(db: None) -> None:
    job = a_job()
    assert leases.claim(agent=an_agent(job.system), now=START) is None


def test_claim_whose_answer_was_lost_is_answered_again_with_the_same_attempt(db: None) -> None:
    job = a_job()
    agent = an_agent(job.system)
    leases.match_jobs(now=START)
    first = leases.claim(agent=agent, now=START)
    assert first is not None
    assert leases.claim(agent=agent, now=START + 40 * SECOND) == first
    job.refresh_from_db()
    assert (job.attempt, job.lease_expires_at) == (1, START + 60 * SECOND)
    assert leases.claim(agent=agent, now=AFTER_LEASE) is None


def test_claim_again_is_none_once_the_attempt_was_heard_of(db: None) -> None:
    renewed, begun = a_job(), a_job()
    for job in (renewed, begun):
        agent = an_agent(job.system)
        claimed(job, agent, now=START)
        if job is renewed:
            leases.renew(agent=agent, job_id=job.pk, attempt=1, progress="", now=START + SECOND)
        else:
            a_measured_run(job, threads=1)
        assert leases.claim(agent=agent, now=START + 2 * SECOND) is None


def test_run_uids_differ_by_attempt_agent_and_campaign(db: None) -> None:
    job, other = a_job(), a_job()
    level = a_load_level(1)
    uids = {
        leases.run_uid(job=job, attempt=1, agent_id=1, load_level=level),
        leases.run_uid(job=job, attempt=2, agent_id=1, load_level=level),
        leases.run_uid(job=job, attempt=1, agent_id=2, load_level=level),
        leases.run_uid(job=other, attempt=1, agent_id=1, load_level=level),
    }
    assert len(uids) == 4
