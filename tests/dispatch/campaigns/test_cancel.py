"""Cancel works in every state and says what it did."""

from datetime import timedelta

import pytest

from apps.dispatch.campaigns.cancel import cancel_campaign, cancel_job
from apps.dispatch.jobs import leases
from apps.dispatch.models import Job
from tests.support.builders import START, a_campaign, a_job, a_system, a_user, an_agent

AFTER = {
    "queued": "cancelled",
    "matched": "cancelled",
    "running": "cancelling",
    "cancelling": "cancelling",
    "succeeded": "succeeded",
    "failed": "failed",
    "cancelled": "cancelled",
}


@pytest.mark.parametrize("state", [str(state) for state in Job.State.values])
def test_cancel_in_every_state(db: None, state: str) -> None:
    job = a_job(state=state)
    done = cancel_job(job=job, by=None, now=START)
    job.refresh_from_db()
    assert job.state == done.state == AFTER[state]
    assert done.changed == (state in ("queued", "matched", "running"))
    assert f"Job {job.pk}" in done.message
    if state == "running":
        assert done.message == f"Job {job.pk} is being cancelled: agent {job.agent} stops and cleans up."
        assert "is already being cancelled" in cancel_job(job=job, by=None, now=START).message


def test_reason_names_who_cancelled(db: None) -> None:
    job = a_job()
    cancel_job(job=job, by=a_user(username="ann"), now=START)
    job.refresh_from_db()
    assert (job.reason, job.finished_at) == ("cancelled by ann", START)


def test_campaign_cancels_what_is_not_final(db: None) -> None:
    a, b = a_system(), a_system()
    campaign = a_campaign(a, b, repetitions=2)
    agent = an_agent(a, b)
    leases.match_jobs(now=START)
    leases.claim(agent=agent, now=START)
    done = cancel_campaign(campaign=campaign, by=None, now=START)
    assert list(campaign.jobs.order_by("position").values_list("state", flat=True)) == [
        "cancelling",
        *["cancelled"] * 3,
    ]
    assert (done.changed, done.state) == (True, "cancelling")
    assert done.message == ("Cancelled the 3 waiting jobs; 1 running job will stop once the agent has cleaned up.")
    campaign.refresh_from_db()
    assert campaign.cancelled_at == START


@pytest.mark.parametrize(
    ("states", "said"),
    [
        (["queued"], "Cancelled the waiting job."),
        (["queued", "matched"], "Cancelled the 2 waiting jobs."),
        (["running"], "1 running job will stop once the agent has cleaned up."),
    ],
)
def test_the_message_counts_what_was_cancelled(db: None, states: list[str], said: str) -> None:
    campaign = a_campaign(a_system(), repetitions=len(states))
    lease = {"attempt": 1, "started_at": START, "lease_expires_at": START + timedelta(minutes=1)}
    for job, state in zip(campaign.jobs.all(), states, strict=True):
        held = {} if state == "queued" else {"agent": an_agent(job.system), **lease}
        Job.objects.filter(pk=job.pk).update(state=state, **held)
    assert cancel_campaign(campaign=campaign, by=None, now=START).message == said


def test_ended_campaign_is_left_alone(db: None) -> None:
    job = a_job(state="succeeded")
    done = cancel_campaign(campaign=job.campaign, by=None, now=START)
    assert not done.changed
    assert "nothing to cancel" in done.message
    job.campaign.refresh_from_db()
    assert job.campaign.cancelled_at is None
