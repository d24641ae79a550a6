"""Renew, end, expire: one after the other. Two at once: test_races.py."""

from datetime import timedelta

import pytest

from apps.dispatch.jobs import leases
from apps.dispatch.jobs.agents import agent_of_secret
from apps.dispatch.jobs.leases import LeaseLost, NoSuchJob
from apps.dispatch.models import Agent, Job
from tests.dispatch.steps import AFTER_LEASE, SECOND, a_measured_run, claimed, end, measure_all
from tests.support.builders import START, a_campaign, a_job, a_system, an_agent

HOURS = timedelta(hours=3)

# ---------------------------------------------------------------- renew


def test_renewal_lengthens_the_lease_and_notes_the_progress(db: None) -> None:
    job = a_job(state="running")
    assert job.agent is not None
    answer = leases.renew(agent=job.agent, job_id=job.pk, attempt=1, progress="x" * 200, now=START + 50 * SECOND)
    job.refresh_from_db()
    assert not answer.cancel
    assert job.lease_expires_at == START + 110 * SECOND
    assert job.progress == "x" * 120


def test_renewal_tells_of_a_cancel(db: None) -> None:
    job = a_job(state="cancelling")
    assert job.agent is not None
    assert leases.renew(agent=job.agent, job_id=job.pk, attempt=1, progress="", now=START).cancel


def test_renewal_before_the_expiry_was_noticed_keeps_the_job(db: None) -> None:
    job = a_job(state="running")
    assert job.agent is not None
    leases.renew(agent=job.agent, job_id=job.pk, attempt=1, progress="", now=AFTER_LEASE)
    assert leases.expire_leases(now=AFTER_LEASE) == 0


def test_expired_job_that_nobody_took_is_given_back(db: None) -> None:
    job = a_job(state="running")
    assert job.agent is not None
    assert leases.expire_leases(now=AFTER_LEASE) == 1
    leases.renew(agent=job.agent, job_id=job.pk, attempt=1, progress="4 threads", now=AFTER_LEASE)
    job.refresh_from_db()
    assert (job.state, job.attempt, job.progress) == ("running", 1, "4 threads")


def test_expired_job_that_was_matched_to_its_own_agent_is_given_back(db: None) -> None:
    job = a_job(state="running")
    assert job.agent is not None
    leases.expire_leases(now=AFTER_LEASE)
    later = AFTER_LEASE + 15 * SECOND
    Agent.objects.update(last_seen_at=later)
    assert leases.match_jobs(now=later) == 1
    leases.renew(agent=job.agent, job_id=job.pk, attempt=1, progress="", now=later)
    job.refresh_from_db()
    assert (job.state, job.attempt) == ("running", 1)


def test_agent_that_is_back_gets_no_other_job_and_its_attempt_goes_on(db: None) -> None:
    a, b = a_system("a"), a_system("b")
    campaign = a_campaign(a, b)
    first, second = campaign.jobs.order_by("position")
    agent = an_agent(a, b)
    # The agent works on the later job, so that the queue's order alone would give it the earlier one.
    Job.objects.filter(pk=first.pk).update(state="matched", agent=an_agent(), lease_expires_at=START + 99 * SECOND)
    claimed(second, agent, now=START)
    Job.objects.filter(pk=first.pk).update(state="queued", agent=None, lease_expires_at=None)
    assert leases.expire_leases(now=AFTER_LEASE) == 1
    Agent.objects.update(last_seen_at=AFTER_LEASE)
    Agent.objects.exclude(pk=agent.pk).update(last_seen_at=None)
    assert leases.match_jobs(now=AFTER_LEASE) == 0
    leases.renew(agent=agent, job_id=second.pk, attempt=1, progress="", now=AFTER_LEASE + SECOND)
    second.refresh_from_db()
    assert (second.state, second.attempt) == ("running", 1)


def test_system_of_a_job_whose_agent_may_be_back_is_given_to_no_other_job(db: None) -> None:
    job = a_job(state="running")
    other = a_campaign(job.system).jobs.get()
    leases.expire_leases(now=AFTER_LEASE)
    an_agent(job.system, last_seen_at=AFTER_LEASE)
    assert leases.match_jobs(now=AFTER_LEASE + 14 * SECOND) == 0
    assert leases.match_jobs(now=AFTER_LEASE + 15 * SECOND) == 1
    other.refresh_from_db()
    job.refresh_from_db()
    assert (job.state, other.state) == ("matched", "queued")


def test_agent_that_is_back_after_the_wait_gets_its_attempt_and_gives_up_what_was_matched_to_it(db: None) -> None:
    a, b = a_system("a"), a_system("b")
    job = a_job(state="running", systems=[a])
    agent = job.agent
    assert agent is not None
    other = a_campaign(b).jobs.get()
    later = AFTER_LEASE + 15 * SECOND
    leases.expire_leases(now=AFTER_LEASE)
    Job.objects.filter(pk=other.pk).update(state="matched", agent=agent, lease_expires_at=later + 30 * SECOND)
    leases.renew(agent=agent, job_id=job.pk, attempt=1, progress="", now=later)
    job.refresh_from_db()
    other.refresh_from_db()
    assert (job.state, job.attempt) == ("running", 1)
    assert (other.state, other.agent) == ("queued", None)


def test_expired_job_that_another_took_is_lost(db: None) -> None:
    job = a_job(state="running")
    first, second = job.agent, an_agent(job.system)
    assert first is not None
    leases.expire_leases(now=AFTER_LEASE)
    claimed(job, second, now=AFTER_LEASE + 15 * SECOND)
    with pytest.raises(LeaseLost, match="attempt 2 has begun"):
        leases.renew(agent=first, job_id=job.pk, attempt=1, progress="", now=AFTER_LEASE + 16 * SECOND)


def test_expired_job_is_lost_when_its_system_was_given_to_another_job(db: None) -> None:
    job = a_job(state="running")
    first = job.agent
    assert first is not None
    leases.expire_leases(now=AFTER_LEASE)
    a_job(state="running", systems=[job.system], started_at=AFTER_LEASE)
    with pytest.raises(LeaseLost, match="was reassigned"):
        leases.renew(agent=first, job_id=job.pk, attempt=1, progress="", now=AFTER_LEASE + SECOND)
    job.refresh_from_db()
    assert (job.state, job.agent) == ("queued", None)


def test_expired_job_is_lost_when_another_job_ran_on_its_system_and_is_over(db: None) -> None:
    job = a_job(state="running")
    first = job.agent
    assert first is not None
    leases.expire_leases(now=AFTER_LEASE)
    a_job(state="succeeded", systems=[job.system], started_at=AFTER_LEASE, attempt=1)
    with pytest.raises(LeaseLost):
        leases.renew(agent=first, job_id=job.pk, attempt=1, progress="", now=AFTER_LEASE + 30 * SECOND)


def test_finished_or_foreign_or_unknown_attempts_are_not_renewed(db: None) -> None:
    job = a_job(state="running")
    assert job.agent is not None
    with pytest.raises(NoSuchJob):
        leases.renew(agent=job.agent, job_id=job.pk, attempt=2, progress="", now=START)
    with pytest.raises(NoSuchJob):
        leases.renew(agent=job.agent, job_id=job.pk + 1000, attempt=1, progress="", now=START)
    with pytest.raises(NoSuchJob, match="does not hold"):
        leases.renew(agent=an_agent(), job_id=job.pk, attempt=1, progress="", now=START)
    with pytest.raises(NoSuchJob, match="does not hold"):
        end(job, an_agent(), "failed")
    measure_all(job)
    end(job, job.agent, "succeeded")
    with pytest.raises(LeaseLost, match="has succeeded"):
        leases.renew(agent=job.agent, job_id=job.pk, attempt=1, progress="", now=START)


def test_attempt_that_its_agent_ended_is_not_revived_by_a_late_renewal(db: None) -> None:
    job = a_job(state="running")
    agent = job.agent
    assert agent is not None
    end(job, agent, "failed", reason="no tables")
    with pytest.raises(LeaseLost):
        leases.renew(agent=agent, job_id=job.pk, attempt=1, progress="", now=START)
    job.refresh_from_db()
    assert job.state == "queued"


# ---------------------------------------------------------------- end


def test_success_with_every_level_measured_ends_the_job(db: None) -> None:
    job = a_job(state="running")
    assert job.agent is not None
    measure_all(job)
    end(job, job.agent, "succeeded")
    assert (job.state, job.reason, job.finished_at) == ("succeeded", "", START)


def test_success_without_its_runs_is_not_believed(db: None) -> None:
    job = a_job(state="running")
    assert job.agent is not None
    a_measured_run(job, threads=1)
    a_measured_run(job, threads=4, outcome="failed")
    end(job, job.agent, "succeeded")
    assert job.state == "queued"
    assert "no successful run arrived for 4 threads" in job.reason


def test_failure_goes_back_waits_and_tries_only_what_is_missing(db: None) -> None:
    job = a_job(state="running")
    agent = job.agent
    assert agent is not None
    a_measured_run(job, threads=1)
    end(job, agent, "failed", reason="sysbench died")
    assert (job.state, job.reason, job.ready_at) == ("queued", "attempt 1: sysbench died", START + 15 * SECOND)
    assert leases.match_jobs(now=START + 14 * SECOND) == 0
    assert leases.match_jobs(now=START + 15 * SECOND) == 1
    message = leases.claim(agent=agent, now=START + 15 * SECOND)
    assert message is not None
    assert message.attempt == 2
    assert [run.load_level.threads for run in message.runs] == [4]


def test_third_failure_is_final_with_the_reasons_of_all(db: None) -> None:
    job = a_job()
    agent = an_agent(job.system)
    for attempt in (1, 2, 3):
        now = START + attempt * 100 * SECOND
        claimed(job, agent, now=now)
        end(job, agent, "failed", reason=f"reason {attempt}", now=now)
    assert job.state == "failed"
    assert job.reason == "attempt 1: reason 1; attempt 2: reason 2; attempt 3: reason 3"


def test_reason_of_an_attempt_is_stored_once_and_is_bounded(db: None) -> None:
    job = a_job(state="running")
    agent = job.agent
    assert agent is not None
    leases.expire_leases(now=AFTER_LEASE)
    end(job, agent, "failed", reason="begin" + "x" * 5000 + "end", now=AFTER_LEASE)
    assert job.reason.startswith("attempt 1: beginx")
    assert job.reason.endswith("xend")
    assert len(job.reason) < 700
    assert "silent" not in job.reason


def test_failure_after_the_last_run_is_final_because_nothing_is_left_to_measure(db: None) -> None:
    job = a_job(state="running")
    assert job.agent is not None
    measure_all(job)
    end(job, job.agent, "failed", reason="clean-up: table is locked")
    assert (job.state, job.reason) == ("failed", "attempt 1: clean-up: table is locked")


def test_agent_that_stops_on_its_own_gives_the_job_back(db: None) -> None:
    job = a_job(state="running")
    assert job.agent is not None
    end(job, job.agent, "cancelled")
    assert (job.state, job.reason) == ("queued", "attempt 1: the agent stopped before the job was done")


@pytest.mark.parametrize("outcome", ["cancelled", "failed", "succeeded"])
def test_cancelling_job_ends_cancelled_when_it_is_not_whole(db: None, outcome: str) -> None:
    job = a_job(state="cancelling", reason="cancelled by ann")
    assert job.agent is not None
    end(job, job.agent, outcome)
    assert (job.state, job.reason) == ("cancelled", "cancelled by ann")


def test_cancelling_job_that_was_done_before_has_succeeded(db: None) -> None:
    job = a_job(state="cancelling")
    assert job.agent is not None
    measure_all(job)
    end(job, job.agent, "succeeded")
    assert job.state == "succeeded"


@pytest.mark.parametrize("outcome", ["succeeded", "failed"])
def test_end_sent_twice_changes_nothing(db: None, outcome: str) -> None:
    job = a_job(state="running")
    agent = job.agent
    assert agent is not None
    if outcome == "succeeded":
        measure_all(job)
    end(job, agent, outcome, reason="first")
    before = Job.objects.filter(pk=job.pk).values().get()
    end(job, agent, outcome, reason="second", attempt=1, now=START + SECOND)
    assert Job.objects.filter(pk=job.pk).values().get() == before


def test_end_of_an_expired_attempt_that_nobody_took_counts(db: None) -> None:
    job = a_job(state="running")
    agent = job.agent
    assert agent is not None
    leases.expire_leases(now=AFTER_LEASE)
    measure_all(job)
    end(job, agent, "succeeded", now=AFTER_LEASE + SECOND)
    assert job.state == "succeeded"


def test_end_of_a_lost_attempt_is_refused(db: None) -> None:
    job = a_job(state="running")
    first = job.agent
    assert first is not None
    leases.expire_leases(now=AFTER_LEASE)
    claimed(job, an_agent(job.system), now=AFTER_LEASE + 15 * SECOND)
    with pytest.raises(LeaseLost):
        end(job, first, "succeeded", attempt=1)
    job.refresh_from_db()
    assert (job.state, job.attempt) == ("running", 2)


# ---------------------------------------------------------------- expire


def test_unclaimed_match_goes_back_without_costing_an_attempt(db: None) -> None:
    job = a_job()
    an_agent(job.system)
    leases.match_jobs(now=START)
    assert leases.expire_leases(now=START + 29 * SECOND) == 0
    assert leases.expire_leases(now=START + 31 * SECOND) == 1
    job.refresh_from_db()
    assert (job.state, job.attempt, job.agent) == ("queued", 0, None)


def test_three_expired_attempts_fail_the_job_with_their_reason(db: None) -> None:
    job = a_job()
    agent = an_agent(job.system, name="box")
    now = START
    for _ in range(3):
        claimed(job, agent, now=now)
        now += 61 * SECOND
        assert leases.expire_leases(now=now) == 1
        job.refresh_from_db()
        assert job.state == "queued"
        now += 46 * SECOND
    Agent.objects.update(last_seen_at=now)
    assert leases.match_jobs(now=now) == 0
    assert leases.expire_leases(now=now) == 1
    job.refresh_from_db()
    assert job.state == "failed"
    assert job.reason.startswith("attempts 1 to 3: agent box was silent")


def test_last_attempt_may_still_come_back_before_it_is_failed(db: None) -> None:
    job = a_job(state="running", attempt=3)
    agent = job.agent
    assert agent is not None
    leases.expire_leases(now=AFTER_LEASE)
    measure_all(job)
    end(job, agent, "succeeded", now=AFTER_LEASE + 40 * SECOND)
    assert job.state == "succeeded"


def test_expiry_after_the_last_run_is_a_success_that_says_what_is_unknown(db: None) -> None:
    job = a_job(state="running")
    measure_all(job)
    leases.expire_leases(now=AFTER_LEASE)
    job.refresh_from_db()
    assert job.state == "succeeded"
    assert "clean-up unknown" in job.reason


def test_cancelling_job_ends_with_its_lease(db: None) -> None:
    job = a_job(state="cancelling", reason="cancelled by ann")
    leases.expire_leases(now=AFTER_LEASE)
    job.refresh_from_db()
    assert job.state == "cancelled"
    assert job.reason.startswith("cancelled by ann; agent ")


def test_nothing_expires_before_its_time(db: None) -> None:
    a_job(state="running")
    assert leases.expire_leases(now=START + 59 * SECOND) == 0


# ---------------------------------------------------------------- the server's clock is set back


def test_lease_from_before_the_clock_was_set_back_ends(db: None) -> None:
    job = a_job(state="running", lease_expires_at=START + HOURS)
    assert leases.expire_leases(now=START) == 1
    job.refresh_from_db()
    assert (job.state, job.agent is None) == ("queued", False)


def test_wait_from_before_the_clock_was_set_back_is_over(db: None) -> None:
    job = a_job(attempt=1, ready_at=START + HOURS)
    an_agent(job.system)
    assert leases.match_jobs(now=START) == 1


def test_last_attempt_from_before_the_clock_was_set_back_ends(db: None) -> None:
    system = a_system()
    job = a_job(systems=[system], attempt=3, agent=an_agent(system), ready_at=START + HOURS, reason="attempt 3: lost")
    assert leases.expire_leases(now=START) == 1
    job.refresh_from_db()
    assert job.state == "failed"


def test_agent_last_seen_before_the_clock_was_set_back_gets_nothing_until_it_is_seen_again(db: None) -> None:
    job = a_job()
    an_agent(job.system, secret="its own", last_seen_at=START + HOURS)
    assert leases.match_jobs(now=START) == 0
    agent_of_secret(secret="its own", now=START)
    assert leases.match_jobs(now=START) == 1
