"""Agents of other versions of the protocol."""

import pytest
from django.utils import timezone

from apps.dispatch.models import Job
from tests.rest.talk import Talk, the_agent
from tests.support.builders import a_job, a_system
from workers.protocol import versions, wire

OLD = {versions.HEADER: str(versions.OLDEST - 1)}
HELLO = wire.HelloMessage(version="0.0.1")


def test_agent_that_is_too_old_is_told_what_to_do_and_gets_no_job(talk: Talk) -> None:
    system = a_system()
    agent = the_agent(system)
    job = a_job(state="matched", agent=agent, systems=[system])
    for answer in (talk.say("POST", "claim", **OLD), talk.say("POST", "hello", HELLO, **OLD)):
        assert answer.status_code == 426
        assert "Install the agent of this server's release" in answer.json()["detail"]
    agent.refresh_from_db()
    assert (agent.labels, agent.version) == ([], "0.0.1")
    assert Job.objects.get(pk=job.pk).attempt == 0


def test_agent_that_is_too_old_ends_what_it_began(talk: Talk) -> None:
    system = a_system()
    agent = the_agent(system)
    now = timezone.now()
    job = a_job(state="running", agent=agent, systems=[system], started_at=now)
    assert talk.say("POST", f"jobs/{job.pk}/renew", wire.RenewMessage(attempt=1), **OLD).status_code == 200
    end = wire.JobEndMessage(attempt=1, outcome="failed", reason="replaced")
    assert talk.say("POST", f"jobs/{job.pk}/end", end, **OLD).status_code == 200


@pytest.mark.parametrize("stated", [None, str(versions.VERSION), str(versions.VERSION + 1)])
def test_agent_before_versions_were_stated_and_a_newer_one_get_jobs(talk: Talk, stated: str | None) -> None:
    the_agent()
    headers = {versions.HEADER: stated} if stated else {}
    assert talk.say("POST", "hello", HELLO, **headers).status_code == 200
    assert talk.say("POST", "claim", **headers).status_code == 204


@pytest.mark.parametrize("stated", ["", "-1", "two", "9" * 5000])
def test_version_that_is_none_is_named(talk: Talk, stated: str) -> None:
    the_agent()
    answer = talk.say("POST", "claim", **{versions.HEADER: stated})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == versions.HEADER
