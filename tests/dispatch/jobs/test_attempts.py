"""Attempts of a job: which are the last, and what is said of them."""

import pytest

from apps.dispatch.jobs import attempts
from tests.dispatch.steps import SECOND, claimed, end
from tests.support.builders import START, a_job, an_agent


def test_a_failure_that_would_come_again_is_final_at_once(db: None) -> None:
    job = a_job(state="running")
    assert job.agent is not None
    denied = "cannot create schema bench: 1044 Access denied"
    end(job, job.agent, "failed", reason=denied, is_permanent=True)
    assert (job.state, job.reason, job.ready_at) == ("failed", f"attempt 1: {denied}", None)


def test_the_same_reason_of_attempts_in_succession_is_said_once(db: None) -> None:
    job = a_job()
    agent = an_agent(job.system)
    for attempt, reason in enumerate(("no route", "no route", "no disk"), start=1):
        now = START + attempt * 100 * SECOND
        claimed(job, agent, now=now)
        end(job, agent, "failed", reason=reason, now=now)
    assert job.reason == "attempts 1 to 2: no route; attempt 3: no disk"


def test_a_reason_shows_no_secret(db: None) -> None:
    job = a_job(state="running")
    assert job.agent is not None
    end(job, job.agent, "failed", reason="mysqldump --password=hunter2 failed", is_permanent=True)
    assert job.reason == "attempt 1: mysqldump --password=* failed"


@pytest.mark.parametrize(
    ("known", "attempt", "found"),
    [
        ("", 1, "attempt 1: new"),
        ("attempt 1: silent", 1, "attempt 1: new"),
        ("attempts 1 to 2: new", 3, "attempts 1 to 3: new"),
        ("attempts 1 to 2: old", 2, "attempt 1: old; attempt 2: new"),
        ("attempt 1: old; attempt 2: new", 3, "attempt 1: old; attempts 2 to 3: new"),
        ("attempts 1 to 999999999: old", 2, "attempt 1: old; attempt 2: new"),
    ],
)
def test_a_later_reason_of_an_attempt_replaces_an_earlier_one(known: str, attempt: int, found: str) -> None:
    assert attempts.with_reason(known, "new", attempt=attempt) == found
