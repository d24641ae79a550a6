"""Without room on the server its agents keep what they have, and send it once there is some."""

import errno
from typing import Any

import pytest

from apps.core.server import space
from apps.runs.models import Artifact, Batch
from apps.runs.storage import artifacts
from tests.rest.talk import Talk, a_batch, a_run_message, the_agent
from tests.support.builders import a_campaign
from workers.agent.runtime.client import MessageFate, verdict
from workers.protocol import wire


def test_full_disk_keeps_the_artifact_with_the_agent_until_there_is_room(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = a_campaign(threads=(1,)).jobs.get()
    the_agent(job.system)
    claimed = talk.claim()
    path = f"runs/{claimed.runs[0].uid}/artifacts/out.txt"
    talk.say("PUT", f"runs/{claimed.runs[0].uid}", a_run_message(claimed))

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(artifacts, "keep", full)
        refused = talk.put_bytes(path, b"text")
    assert (refused.status_code, refused.json()["type"]) == (507, "urn:splashboard:problem:disk-full")
    assert talk.put_bytes(path, b"text").status_code == 507, "one write that failed ends the others for a while"
    monkeypatch.setattr(space, "gate", space.SpaceGate())
    # What the agent makes of it: kept in its spool and sent again.
    assert verdict(refused.status_code) is MessageFate.RETRY
    assert not Artifact.objects.exists()
    assert talk.put_bytes(path, b"text").status_code == 201


def test_a_nearly_full_disk_keeps_everything_with_the_agent_but_not_its_lease(
    talk: Talk, monkeypatch: pytest.MonkeyPatch, enqueued: list[Any]
) -> None:
    job = a_campaign(threads=(1,)).jobs.get()
    the_agent(job.system)
    claimed = talk.claim()
    run = f"runs/{claimed.runs[0].uid}"
    talk.say("PUT", run, a_run_message(claimed))
    monkeypatch.setattr(space, "free_bytes", lambda _folder: 1)
    for refused in (talk.put_bytes(f"{run}/batches/0", a_batch(claimed.runs[0].uid)), talk.say("POST", "claim")):
        assert (refused.status_code, refused["Retry-After"]) == (507, "30")
        assert "has 1\u00a0B free" in refused.json()["detail"]
        assert verdict(refused.status_code) is MessageFate.RETRY
    renewed = talk.say("POST", f"jobs/{claimed.id}/renew", wire.RenewMessage(attempt=1))
    assert renewed.status_code == 200
    assert not Batch.objects.exists()
    monkeypatch.undo()
    assert talk.put_bytes(f"{run}/batches/0", a_batch(claimed.runs[0].uid)).status_code == 201
