"""An agent may upload so many batches and bytes a minute; what is more waits in its spool."""

import pytest

from apps.rest.agents import buckets
from apps.rest.agents.batches import BatchDoor
from apps.rest.agents.buckets import UploadBuckets
from apps.runs.api import streams
from apps.runs.models import StreamBatch
from tests.rest.talk import Talk, a_batch, a_run_message, the_agent
from tests.runs.uploads import an_open_run
from tests.support.builders import a_campaign
from workers.protocol import wire


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_bucket_fills_evenly(clock: Clock) -> None:
    filled = UploadBuckets(batches=60, size=10**9, clock=clock)
    assert [filled.take("a", 1) for _ in range(60)] == [0] * 60
    assert filled.take("a", 1) == pytest.approx(1)
    clock.now += 0.5
    assert filled.take("a", 1) == pytest.approx(0.5)
    clock.now += 0.5
    assert [filled.take("a", 1) > 0 for _ in range(2)] == [False, True]
    clock.now += 3600
    assert [filled.take("a", 1) > 0 for _ in range(61)] == [False] * 60 + [True]


def test_bytes_are_counted_too_and_the_last_batch_may_exceed_them(clock: Clock) -> None:
    filled = UploadBuckets(batches=1000, size=600, clock=clock)
    assert filled.take("a", 700) == 0
    assert filled.take("a", 1) == pytest.approx(10)
    clock.now += 10.1
    assert filled.take("a", 1) == 0


def test_each_agent_has_its_own_bucket_and_the_longest_silent_are_forgotten(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buckets, "MOST_SENDERS", 2)
    filled = UploadBuckets(batches=1, size=600, clock=clock)
    assert [filled.take(sender, 1) > 0 for sender in "aba"] == [False, False, True]
    assert [filled.take(sender, 1) > 0 for sender in "ca"] == [False, True]
    assert filled.take("b", 1) == 0


def test_twenty_agents_at_a_batch_a_second_meet_no_limit(clock: Clock) -> None:
    filled = UploadBuckets(clock=clock)
    for _ in range(600):
        clock.now += 1
        assert [filled.take(f"agent {number}", 500_000) for number in range(20)] == [0] * 20


def test_a_batch_beyond_the_limit_is_refused_before_it_is_read_and_can_be_sent_later(
    talk: Talk, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled = UploadBuckets(batches=1, size=10**9, clock=clock)
    monkeypatch.setattr("tests.rest.talk.BatchDoor", lambda django: BatchDoor(django, buckets=filled))
    the_agent(a_campaign(threads=(1,)).jobs.get().system)
    claimed = talk.claim()
    uid = claimed.runs[0].uid
    talk.say("PUT", f"runs/{uid}", a_run_message(claimed))
    assert talk.put_bytes(f"runs/{uid}/batches/0", a_batch(uid)).status_code == 201
    refused = talk.put_bytes(f"runs/{uid}/batches/1", a_batch(uid), wire.checksum(a_batch(uid)))
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "60")
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert "batches or" in refused.json()["detail"]
    clock.now += 60
    assert talk.put_bytes(f"runs/{uid}/batches/1", a_batch(uid)).status_code == 201


def test_batches_of_a_sampler_take_from_the_same_bucket(
    talk: Talk, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled = UploadBuckets(batches=1000, size=10, clock=clock)
    monkeypatch.setattr("tests.rest.talk.BatchDoor", lambda django: BatchDoor(django, buckets=filled))
    agent, run = the_agent(), an_open_run()
    stream = streams.join(run=run, agent=agent.name, nodes=["db1"])
    assert stream is not None
    path, payload = f"runs/{run.uid}/streams/{stream.number}/batches", a_batch(str(run.uid))
    assert talk.put_bytes(f"{path}/0", payload).status_code == 201
    refused = talk.put_bytes(f"{path}/1", payload)
    assert (refused.status_code, refused.headers["Content-Type"]) == (429, "application/problem+json")
    assert int(refused.headers["Retry-After"]) > 60
    assert StreamBatch.objects.count() == 1
    clock.now += 3600
    assert talk.put_bytes(f"{path}/1", payload).status_code == 201
