"""A batch of samples on its way in: by far the most frequent request, and held to the same rules as all others."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.dispatch.jobs import leases
from apps.dispatch.jobs.agents import revoke_agent, rotate_agent
from apps.dispatch.models import Agent, Job
from apps.runs.ingest import accept
from apps.runs.models import Batch, Run
from tests.rest.talk import Talk, a_batch, a_run_message, an_end, the_agent
from tests.support import locks
from tests.support.builders import a_campaign, an_agent
from tests.support.waiting import eventually
from workers.protocol import wire


@pytest.fixture
def upload(talk: Talk) -> "Upload":
    job = a_campaign(threads=(1,)).jobs.get()
    agent = the_agent(job.system)
    claimed = talk.claim()
    talk.say("PUT", f"runs/{claimed.runs[0].uid}", a_run_message(claimed))
    return Upload(talk, agent, claimed.runs[0].uid)


class Upload:
    """An open run and the agent that measures it."""

    def __init__(self, talk: Talk, agent: Agent, uid: str) -> None:
        self.talk, self.agent, self.uid = talk, agent, uid
        self.batch = a_batch(uid)

    def send(self, sequence: int = 0, *, talk: Talk | None = None, checksum: str = "") -> Any:
        return (talk or self.talk).put_bytes(f"runs/{self.uid}/batches/{sequence}", self.batch, checksum)


def test_a_batch_is_one_statement_and_no_transaction_around_it(upload: Upload) -> None:
    Agent.objects.update(last_seen_at=timezone.now())
    with CaptureQueriesContext(connection) as queries:
        answer = upload.send()
    assert (answer.status_code, answer.json()) == (201, {"run": Run.objects.get().pk})
    assert len(queries) == 1
    held = Batch.objects.get()
    assert (held.sequence, bytes(held.payload), held.checksum) == (0, upload.batch, wire.checksum(upload.batch))


def test_a_checksum_may_be_written_in_capitals(upload: Upload) -> None:
    assert upload.send(checksum=f" {wire.checksum(upload.batch).upper()} ").status_code == 201


def test_a_secret_that_nobody_has_uploads_nothing(upload: Upload) -> None:
    answer = upload.send(talk=Talk(upload.talk.client, "wrong"))
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Agent")
    assert not Batch.objects.exists()


def test_a_revoked_agent_uploads_nothing_from_then_on(upload: Upload) -> None:
    assert upload.send(0).status_code == 201
    revoke_agent(name=upload.agent.name, now=timezone.now())
    assert upload.send(1).status_code == 401
    assert upload.send(0).status_code == 401
    assert Batch.objects.count() == 1


def test_an_old_secret_ends_with_the_new_one(upload: Upload) -> None:
    _, secret = rotate_agent(name=upload.agent.name)
    assert upload.send().status_code == 401
    assert upload.send(talk=Talk(upload.talk.client, secret)).status_code == 201


def test_an_upload_notes_that_the_agent_was_seen_but_not_each_time(upload: Upload) -> None:
    for silent, noted in ((timedelta(hours=1), True), (timedelta(seconds=5), False), (None, True)):
        last = None if silent is None else timezone.now() - silent
        Agent.objects.update(last_seen_at=last)
        assert upload.send().status_code < 300
        upload.agent.refresh_from_db()
        assert (upload.agent.last_seen_at != last) == noted


def test_a_run_of_another_agent_takes_nothing(upload: Upload) -> None:
    an_agent(secret="other")
    answer = upload.send(talk=Talk(upload.talk.client, "other"))
    assert (answer.status_code, answer.json()["type"]) == (404, "urn:splashboard:problem:no-such-run")
    assert not Batch.objects.exists()


def test_a_body_that_got_lost_on_the_way_is_refused(upload: Upload) -> None:
    answer = upload.talk.put_bytes(f"runs/{upload.uid}/batches/0", b"", checksum=wire.checksum(upload.batch))
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "checksum")
    assert not Batch.objects.exists()


@pytest.mark.parametrize("sequence", [2**31, 10**4200], ids=["too large", "of 4,201 digits"])
def test_a_number_beyond_all_batches_is_refused(upload: Upload, sequence: int) -> None:
    assert upload.send(sequence).json()["errors"][0]["field"] == "sequence"
    upload.talk.say("POST", f"runs/{upload.uid}/end", an_end(batches=1))
    answer = upload.send(1)
    assert answer.status_code == 422
    assert "ended with 1 batches" in answer.json()["detail"]


def test_a_sealed_run_takes_resends_only_and_stores_none(upload: Upload) -> None:
    upload.send()
    upload.talk.say("POST", f"runs/{upload.uid}/end", an_end("cancelled"))
    assert accept.seal(run_id=Run.objects.get().pk)
    assert upload.send().status_code == 200
    assert upload.send(1).status_code == 422
    assert not Batch.objects.exists()


def test_other_content_under_a_number_that_is_held_is_refused(upload: Upload) -> None:
    upload.send()
    upload.batch += b"more"
    answer = upload.send()
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "checksum")
    assert "other content" in answer.json()["detail"]


def test_an_agent_needs_no_csrf_token_and_no_public_reading(upload: Upload, settings: Any) -> None:
    settings.SPLASHBOARD_PUBLIC_READ = False
    assert upload.send(talk=Talk(Client(enforce_csrf_checks=True))).status_code == 201


def test_the_lease_of_a_job_that_was_put_back_is_renewed_by_its_batches(upload: Upload) -> None:
    leases.expire_leases(now=timezone.now() + timedelta(hours=1))
    assert Job.objects.get().state == "queued"
    assert upload.send().status_code == 201
    assert Job.objects.get().state == "running"


def test_a_batch_cannot_be_read_back(upload: Upload) -> None:
    answer = upload.talk.say("GET", f"runs/{upload.uid}/batches/0")
    assert (answer.status_code, answer.headers["Content-Type"]) == (405, "application/problem+json")


# ---------------------------------------------------------------- beside other connections


@pytest.fixture
def elsewhere(transactional_db: None) -> Iterator["psycopg.Connection[Any]"]:
    """Another connection to the database of the tests."""
    known = settings.DATABASES["default"]
    with psycopg.connect(
        host=known["HOST"], port=known["PORT"], user=known["USER"], password=known["PASSWORD"],
        dbname=connection.settings_dict["NAME"], autocommit=True,
    ) as other:  # fmt: skip
        yield other


def test_an_accepted_batch_is_committed(elsewhere: "psycopg.Connection[Any]", upload: Upload) -> None:
    assert upload.send().status_code == 201
    row = elsewhere.execute("SELECT payload FROM runs_batch").fetchone()
    assert row == (upload.batch,)


def test_a_connection_that_ended_meanwhile_costs_no_upload(
    elsewhere: "psycopg.Connection[Any]", upload: Upload
) -> None:
    connection.ensure_connection()
    elsewhere.execute("SELECT pg_terminate_backend(%s, 10000)", [connection.connection.info.backend_pid])
    connection.close_if_unusable_or_obsolete()  # as before each request, but not of the test client's
    assert upload.send().status_code == 201


def test_a_batch_that_waited_for_the_end_of_its_run_makes_the_seal_due(
    elsewhere: "psycopg.Connection[Any]", upload: Upload
) -> None:
    run = Run.objects.get(uid=UUID(upload.uid))

    def send() -> int:
        try:
            return int(upload.send().status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor() as pool:
        with elsewhere.transaction():
            elsewhere.execute(
                "UPDATE runs_run SET state = 'ended', outcome = 'cancelled', ended_at = now(), batches_expected = 1,"
                " seal_attempts = 7 WHERE id = %s",
                [run.pk],
            )
            sent = pool.submit(send)
            eventually(lambda: locks.is_waited_for() or sent.done(), what="the batch waits for the run")
            assert not sent.done()
        assert sent.result() == 201
    run.refresh_from_db()
    assert (run.state, run.seal_attempts) == ("ended", 0)
    assert run.seal_due_at is not None
