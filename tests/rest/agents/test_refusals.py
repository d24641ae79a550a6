"""What agents are refused is seen in the log."""

import logging

import pytest
from django.test import Client

from apps.core.server.repeated_warnings import RepeatedWarnings
from apps.rest.agents import agents
from tests.rest.talk import Talk, a_batch, a_run_message, the_agent
from tests.support.builders import a_campaign, an_agent


def test_what_belongs_to_another_agent_is_refused_and_logged_once_in_a_while(
    talk: Talk, client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    times = iter((1.0, 2.0, 700.0, 700.0, 700.0))  # s
    log = logging.getLogger("refusals")
    monkeypatch.setattr(agents, "warnings", RepeatedWarnings(log, clock=lambda: next(times)))
    job = a_campaign(threads=(1,)).jobs.get()
    the_agent(job.system)
    an_agent(secret="other", name="intruder")
    claimed = talk.claim()
    uid = claimed.runs[0].uid
    talk.say("PUT", f"runs/{uid}", a_run_message(claimed))
    thief = Talk(client, "other")
    for _ in range(3):
        assert thief.put_bytes(f"runs/{uid}/batches/0", a_batch(uid)).status_code == 404
    assert thief.put_bytes(f"runs/{uid}/streams/1/batches/0", a_batch(uid)).status_code == 404
    assert thief.say("POST", f"jobs/{job.pk}/renew", {"attempt": 1}).status_code == 410
    lines = [record.getMessage() for record in caplog.records if record.name == "refusals"]
    assert lines[:2] == [f"agent intruder was refused (StoreBatch): run {uid} is another agent's"] * 2
    assert [line.partition(": ")[0] for line in lines[2:]] == [
        "agent intruder was refused (StoreStreamBatch)",
        "agent intruder was refused (RenewLease)",
    ]
