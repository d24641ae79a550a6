"""What agents say over HTTP: stored once, answered clearly, enqueued after the commit."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.dispatch.jobs import leases
from apps.dispatch.models import Agent, Job
from apps.runs.models import Artifact, Batch, Run
from tests.rest.talk import SECRET, V1, Talk, a_batch, a_run_message, an_end, the_agent
from tests.support.builders import a_campaign, a_job, a_system, a_user, an_agent
from workers.protocol import wire

# ---------------------------------------------------------------- who is calling


@pytest.mark.parametrize(
    "header", ["", "Agent", "Agent wrong", "Agent two words", "Token the-agents-secret", "Agent \xff\xfe"]
)
def test_without_its_secret_nobody_is_let_in(db: None, client: Client, header: str) -> None:
    the_agent()
    headers = {"Authorization": header} if header else {}
    answer = client.post(f"{V1}/claim", headers=headers)
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Agent"
    assert answer.headers["Content-Type"] == "application/problem+json"


def test_revoked_agent_is_not_let_in(talk: Talk) -> None:
    an_agent(secret=SECRET, revoked_at=timezone.now())
    assert talk.say("POST", "claim").status_code == 401


def test_signed_in_person_is_no_agent(db: None, client: Client) -> None:
    client.force_login(a_user(role="administrator"))
    assert client.post(f"{V1}/claim").status_code == 401


def test_every_request_notes_that_the_agent_was_seen(talk: Talk) -> None:
    agent = an_agent(secret=SECRET, last_seen_at=timezone.now() - timedelta(hours=1))
    talk.say("POST", "claim")
    agent.refresh_from_db()
    assert agent.last_seen_at is not None
    assert timezone.now() - agent.last_seen_at < timedelta(minutes=10)


# ---------------------------------------------------------------- hello


def test_hello_registers_systems_and_gives_their_labels(
    talk: Talk, enqueued: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    agent = the_agent()
    message = wire.HelloMessage(
        version="1.2",
        labels=["region:eu"],
        systems=[
            wire.SystemMessage(
                slug="flush-1", name="Flush 1", platform="mariadb", version="10.11.19", hardware_class="box"
            )
        ],
        hardware=[wire.HardwareMessage(slug="box", name="This box", vcpu=2, memory_bytes=2**30)],
        health={"spool_messages": 0},
    )
    with django_capture_on_commit_callbacks(execute=True):
        answer = talk.say("POST", "hello", message)
    assert answer.status_code == 200, answer.content
    assert wire.from_json(wire.HelloAnswer, answer.content).agent == agent.name
    agent.refresh_from_db()
    assert agent.labels == ["region:eu", "system:flush-1"]
    assert (agent.version, agent.health) == ("1.2", {"spool_messages": 0})
    assert enqueued == [("match_jobs", {})]


def test_system_that_cannot_be_registered_does_not_hold_up_the_others(talk: Talk) -> None:
    agent = the_agent()
    shared: dict[str, Any] = {"platform": "mariadb", "version": "10.11.19", "hardware_class": "box"}
    message = wire.HelloMessage(
        version="1",
        systems=[
            wire.SystemMessage(slug="bad slug!", name="bad", **shared),
            wire.SystemMessage(slug="good", name="good", **shared),
        ],
        hardware=[wire.HardwareMessage(slug="box", name="box", vcpu=2, memory_bytes=2**30)],
    )
    answer = talk.say("POST", "hello", message)
    warnings = wire.from_json(wire.HelloAnswer, answer.content).warnings
    assert any(warning.startswith("systems[0].slug") for warning in warnings)
    agent.refresh_from_db()
    assert agent.labels == ["system:good"]


# ---------------------------------------------------------------- malformed bodies


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        (b"{", 400, None),
        (b"\xff\xfe", 400, None),
        (b"[]", 422, ""),
        (b"{}", 422, "version"),
        (b'{"version": 3}', 422, "version"),
        (b'{"version": "1", "systems": [{"slug": 1}]}', 422, "systems[0].slug"),
        (b'{"version": "1", "systems": [{"slug": "a"}]}', 422, "systems[0].name"),
        (b'{"version": "1", "labels": "x"}', 422, "labels"),
    ],
)
def test_malformed_message_names_its_field(talk: Talk, body: bytes, status: int, field: str | None) -> None:
    the_agent()
    answer = talk.say("POST", "hello", body)
    assert answer.status_code == status
    assert answer.headers["Content-Type"] == "application/problem+json"
    problem = json.loads(answer.content)
    assert problem["status"] == status
    assert problem["detail"]
    if field is not None:
        assert [error["field"] for error in problem["errors"]] == [field]


def test_unknown_outcome_of_a_job_is_named(talk: Talk) -> None:
    job = a_job(state="running", agent=the_agent())
    answer = talk.say("POST", f"jobs/{job.pk}/end", {"attempt": 1, "outcome": "great"})
    assert answer.status_code == 422
    error = answer.json()["errors"][0]
    assert (error["field"], error["remedy"]) == ("outcome", "use one of succeeded, failed, cancelled")


# ---------------------------------------------------------------- the whole conversation


def test_a_job_from_claim_to_end(talk: Talk, enqueued: list[Any], django_capture_on_commit_callbacks: Any) -> None:
    job = a_campaign(a_system("a"), threads=(1, 4)).jobs.get()
    the_agent(job.system)
    claimed = talk.claim()
    for number, planned in enumerate(claimed.runs):
        assert talk.say("PUT", f"runs/{planned.uid}", a_run_message(claimed, number)).status_code == 201
        batch = a_batch(planned.uid)
        assert talk.put_bytes(f"runs/{planned.uid}/batches/0", batch).status_code == 201
        assert talk.put_bytes(f"runs/{planned.uid}/artifacts/note.txt", b"hello").status_code == 201
        assert not enqueued
        with django_capture_on_commit_callbacks(execute=True):
            assert talk.say("POST", f"runs/{planned.uid}/end", an_end()).status_code == 200
        assert [name for name, _ in enqueued] == ["seal_run"]
        enqueued.clear()
    renewed = talk.say("POST", f"jobs/{job.pk}/renew", {"attempt": 1, "progress": "clean-up"})
    assert renewed.json() == {"cancel": False, "lease_seconds": 60.0}
    with django_capture_on_commit_callbacks(execute=True):
        assert talk.say("POST", f"jobs/{job.pk}/end", {"attempt": 1, "outcome": "succeeded"}).status_code == 200
    assert enqueued == [("match_jobs", {})]
    job.refresh_from_db()
    assert job.state == "succeeded"
    runs = Run.objects.filter(job_run__job=job).order_by("load_level__threads")
    assert [(run.load_level.threads, run.repetition, run.outcome) for run in runs] == [
        (1, 1, "succeeded"),
        (4, 1, "succeeded"),
    ]


def test_every_message_sent_twice_changes_nothing(talk: Talk) -> None:
    job = a_campaign(a_system("a"), threads=(1,)).jobs.get()
    the_agent(job.system)
    claimed = talk.claim()
    uid = claimed.runs[0].uid
    batch = a_batch(uid)
    steps: list[tuple[Callable[[], Any], int, int]] = [
        (lambda: talk.say("PUT", f"runs/{uid}", a_run_message(claimed)), 201, 200),
        (lambda: talk.put_bytes(f"runs/{uid}/batches/0", batch), 201, 200),
        (lambda: talk.put_bytes(f"runs/{uid}/artifacts/out.txt", b"text"), 201, 200),
        (lambda: talk.say("POST", f"runs/{uid}/end", an_end()), 200, 200),
        (lambda: talk.say("POST", f"jobs/{job.pk}/end", {"attempt": 1, "outcome": "succeeded"}), 200, 200),
    ]
    for step, first, again in steps:
        assert step().status_code == first
        held = (Run.objects.count(), Batch.objects.count(), Artifact.objects.count(), Job.objects.get().state)
        assert step().status_code == again
        assert held == (Run.objects.count(), Batch.objects.count(), Artifact.objects.count(), Job.objects.get().state)
    assert (Run.objects.count(), Batch.objects.count(), Artifact.objects.count()) == (1, 1, 1)


def test_last_batch_after_the_end_enqueues_the_seal(
    talk: Talk, enqueued: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    job = a_campaign(threads=(1,)).jobs.get()
    the_agent(job.system)
    claimed = talk.claim()
    uid = claimed.runs[0].uid
    talk.say("PUT", f"runs/{uid}", a_run_message(claimed))
    talk.say("POST", f"runs/{uid}/end", an_end())
    enqueued.clear()
    with django_capture_on_commit_callbacks(execute=True):
        assert talk.put_bytes(f"runs/{uid}/batches/0", a_batch(uid)).status_code == 201
    assert enqueued == [("seal_run", {"run_id": Run.objects.get().pk})]


def test_idle_agent_gets_no_work(talk: Talk) -> None:
    the_agent()
    answer = talk.say("POST", "claim")
    assert (answer.status_code, answer.content) == (204, b"")


# ---------------------------------------------------------------- refusals


def test_checksum_that_does_not_match_is_refused_and_nothing_stored(talk: Talk) -> None:
    job = a_campaign(threads=(1,)).jobs.get()
    the_agent(job.system)
    claimed = talk.claim()
    uid = claimed.runs[0].uid
    talk.say("PUT", f"runs/{uid}", a_run_message(claimed))
    for path in (f"runs/{uid}/batches/0", f"runs/{uid}/artifacts/a.txt"):
        answer = talk.put_bytes(path, b"content", checksum="0" * 64)
        assert answer.status_code == 422
        assert "SHA-256" in answer.json()["detail"]
        missing = talk.say("PUT", path, b"content")
        assert missing.json()["errors"][0]["field"] == "X-Checksum"
    assert not Batch.objects.exists()
    assert not Artifact.objects.exists()


def test_too_large_a_body_is_refused_before_it_is_read(talk: Talk) -> None:
    job = a_campaign(threads=(1,)).jobs.get()
    the_agent(job.system)
    claimed = talk.claim()
    uid = claimed.runs[0].uid
    talk.say("PUT", f"runs/{uid}", a_run_message(claimed))
    answer = talk.put_bytes(f"runs/{uid}/batches/0", bytes(8 * 2**20 + 1))
    assert answer.status_code == 413
    assert "8,388,609 bytes" in answer.json()["detail"]
    assert talk.say("POST", "hello", b" " * (4 * 2**20 + 1)).status_code == 413


@pytest.mark.parametrize("length", ["many", "1e3", "-1", "²", "9" * 5000])
def test_length_that_is_no_number_is_a_problem(talk: Talk, length: str) -> None:
    the_agent()
    headers = {"Authorization": f"Agent {SECRET}"}
    answer = talk.client.post(
        f"{V1}/hello", b"{}", content_type="application/json", headers=headers, CONTENT_LENGTH=length
    )
    assert answer.status_code == 400, answer.content
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert "Content-Length is" in answer.json()["detail"]


def test_run_that_was_planned_for_another_agent_is_refused(talk: Talk, client: Client) -> None:
    job = a_campaign(threads=(1,)).jobs.get()
    the_agent(job.system)
    an_agent(secret="other")
    claimed = talk.claim()
    uid = claimed.runs[0].uid
    thief = Talk(client, "other")
    assert thief.say("PUT", f"runs/{uid}", a_run_message(claimed)).status_code == 404
    talk.say("PUT", f"runs/{uid}", a_run_message(claimed))
    assert thief.put_bytes(f"runs/{uid}/batches/0", a_batch(uid)).status_code == 404
    assert thief.say("POST", f"runs/{uid}/end", an_end()).status_code == 404
    assert thief.say("POST", f"jobs/{job.pk}/renew", {"attempt": 1}).status_code == 410
    assert thief.say("POST", f"jobs/{job.pk}/end", {"attempt": 1, "outcome": "failed"}).status_code == 410
    job.refresh_from_db()
    assert job.state == "running"


def test_run_under_a_uid_that_nobody_planned_is_refused(talk: Talk) -> None:
    job = a_campaign(threads=(1,)).jobs.get()
    the_agent(job.system)
    claimed = talk.claim()
    answer = talk.say("PUT", "runs/00000000-0000-4000-8000-000000000000", a_run_message(claimed))
    assert answer.status_code == 404
    assert not Run.objects.exists()


def test_job_that_does_not_exist_is_gone(talk: Talk) -> None:
    the_agent()
    assert talk.say("POST", "jobs/4711/renew", {"attempt": 1}).status_code == 410
    assert talk.say("POST", "jobs/4711/end", {"attempt": 1, "outcome": "failed"}).status_code == 410


def test_batch_of_a_run_that_was_not_opened_says_what_to_do(talk: Talk) -> None:
    the_agent()
    answer = talk.put_bytes("runs/00000000-0000-4000-8000-000000000000/batches/0", b"x")
    assert answer.status_code == 404
    assert "open it first" in answer.json()["detail"]


# ---------------------------------------------------------------- dead attempts


def lose_the_lease(job: Job, *, to: Agent) -> None:
    """The attempt's lease runs out and another agent begins the next one."""
    now = timezone.now() + timedelta(seconds=61)
    leases.expire_leases(now=now)
    Agent.objects.filter(pk=to.pk).update(last_seen_at=now + timedelta(seconds=20))
    assert leases.match_jobs(now=now + timedelta(seconds=20)) == 1
    assert leases.claim(agent=to, now=now + timedelta(seconds=20)) is not None


def test_dead_attempt_is_stored_but_never_counted(talk: Talk) -> None:
    job = a_campaign(threads=(1, 4)).jobs.get()
    the_agent(job.system)
    claimed = talk.claim()
    opened, late = claimed.runs[0].uid, claimed.runs[1].uid
    talk.say("PUT", f"runs/{opened}", a_run_message(claimed))
    lose_the_lease(job, to=an_agent(job.system))
    assert talk.put_bytes(f"runs/{opened}/batches/0", a_batch(opened)).status_code == 201
    assert talk.say("PUT", f"runs/{late}", a_run_message(claimed, 1)).status_code == 201
    assert talk.put_bytes(f"runs/{late}/batches/0", a_batch(late)).status_code == 201
    for uid in (opened, late):
        assert talk.say("POST", f"runs/{uid}/end", an_end()).status_code == 200
        assert talk.say("POST", f"runs/{uid}/end", an_end()).status_code == 200
    for run in Run.objects.all():
        assert run.outcome == "cancelled"
        assert run.reason.startswith("lease lost: attempt 1 of job")
    assert talk.say("POST", f"jobs/{job.pk}/end", {"attempt": 1, "outcome": "succeeded"}).status_code == 409
    job.refresh_from_db()
    assert (job.state, job.attempt) == ("running", 2)
    assert len(leases.missing_levels(job)) == 2


def test_failure_of_a_dead_attempt_keeps_its_own_reason(talk: Talk) -> None:
    job = a_campaign(threads=(1,)).jobs.get()
    the_agent(job.system)
    claimed = talk.claim()
    uid = claimed.runs[0].uid
    talk.say("PUT", f"runs/{uid}", a_run_message(claimed))
    lose_the_lease(job, to=an_agent(job.system))
    talk.say("POST", f"runs/{uid}/end", an_end("failed", reason="sysbench died", batches=0))
    run = Run.objects.get()
    assert (run.outcome, run.reason) == ("failed", "sysbench died")


def test_uploads_after_an_outage_get_the_lease_back_and_count(talk: Talk) -> None:
    job = a_campaign(threads=(1,)).jobs.get()
    the_agent(job.system)
    claimed = talk.claim()
    uid = claimed.runs[0].uid
    leases.expire_leases(now=timezone.now() + timedelta(seconds=61))
    job.refresh_from_db()
    assert job.state == "queued"
    talk.say("PUT", f"runs/{uid}", a_run_message(claimed))
    talk.put_bytes(f"runs/{uid}/batches/0", a_batch(uid))
    talk.say("POST", f"runs/{uid}/end", an_end())
    assert talk.say("POST", f"jobs/{job.pk}/end", {"attempt": 1, "outcome": "succeeded"}).status_code == 200
    job.refresh_from_db()
    assert job.state == "succeeded"
    assert Run.objects.get().outcome == "succeeded"


def test_a_file_that_shows_a_password_is_not_stored(talk: Talk) -> None:
    job = a_campaign(threads=(1,)).jobs.get()
    the_agent(job.system)
    claimed = talk.claim()
    uid = claimed.runs[0].uid
    talk.say("PUT", f"runs/{uid}", a_run_message(claimed))
    answer = talk.put_bytes(f"runs/{uid}/artifacts/out.txt", b"a line\npassword = hunter2\n")
    assert answer.status_code == 422
    assert "line 2: write * in its place" in answer.content.decode()
    assert "hunter2" not in answer.content.decode()
    assert not Artifact.objects.exists()


@pytest.mark.parametrize("path", ["batches/0", "artifacts/out.txt"])
def test_any_upload_of_an_attempt_gets_the_lease_back(talk: Talk, path: str) -> None:
    job = a_campaign(threads=(1,)).jobs.get()
    the_agent(job.system)
    claimed = talk.claim()
    uid = claimed.runs[0].uid
    talk.say("PUT", f"runs/{uid}", a_run_message(claimed))
    leases.expire_leases(now=timezone.now() + timedelta(seconds=61))
    talk.say("POST", "hello", wire.HelloMessage(version="1", labels=[], systems=[], hardware=[], health={}))
    assert talk.put_bytes(f"runs/{uid}/{path}", a_batch(uid)).status_code == 201
    job.refresh_from_db()
    assert (job.state, job.attempt) == ("running", 1)
