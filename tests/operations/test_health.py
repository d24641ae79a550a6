"""Every check of the server's health: quiet when nothing is wrong, and turned by the fault that it is there for."""

import json
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import Any
from unittest.mock import Mock

import pytest
import redis
from botocore.exceptions import EndpointConnectionError
from django.conf import settings as django_settings
from django.db import OperationalError, connection, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from kombu.transport.redis import Channel

from apps.core.server import measures, restarts, space
from apps.core.stores import store_at
from apps.dispatch.models import Agent, Job
from apps.notifications.models import Delivery
from apps.operations.health import checks, services
from apps.operations.health.report import CHECKS, report
from apps.operations.health.values import HealthRow, HealthVerdict
from apps.operations.models import Backup, WatchedCertificate
from apps.runs.api import UNREAD_BATCHES, artifacts
from apps.runs.models import ArchiveAttempt, Artifact
from tests.support.builders import a_job, a_run, an_agent
from tests.support.stores import forget_tasks
from tests.support.users import another_user
from tests.support.waiting import LIMIT

OK, WARNING, WRONG, UNKNOWN = (HealthVerdict(word) for word in ("ok", "warning", "wrong", "unknown"))
DAY = timedelta(days=1)
# Of each disk.
FREE = {"bytes": 0}


@pytest.fixture(autouse=True)
def quiet_server(db: None, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a backup, without restarts, on a disk with room."""
    monkeypatch.setattr(services, "BROKER_ANSWERS_WITHIN", timedelta(seconds=LIMIT))
    monkeypatch.setitem(FREE, "bytes", 100 * 2**30)
    monkeypatch.setattr(space, "free_bytes", lambda _folder: FREE["bytes"])
    settings.VAR_DIR = tmp_path
    forget_tasks()
    now = timezone.now()
    Backup.objects.create(taken_at=now - DAY, finished_at=now, folder="b", size=1)


def row(key: str) -> HealthRow:
    return next(each for each in report(now=timezone.now()) if each.key == key)


def test_a_quiet_server_has_a_row_for_each_check_and_nothing_to_do() -> None:
    found = report(now=timezone.now())
    assert {each.key for each in found} == {check.key for check in CHECKS}
    assert {(each.verdict, each.advice) for each in found} == {(OK, "")}


def waiting_tasks(_: Any, *, count: int = 3, minutes: float = 3) -> None:
    """As kombu puts them: the newest at the left. Of all priorities; the oldest has the usual one."""
    for number in range(count):
        sent = {"headers": {measures.SENT: time.time() - 60 * minutes + number}}
        queue = "celery" if number < 2 else f"celery{Channel.sep}9"
        with redis.Redis.from_url(django_settings.REDIS_URL) as client:
            client.lpush(queue, json.dumps(sent))


def lost_worker(_: Any) -> None:
    waiting_tasks(None, minutes=20)


def long_queue(_: Any) -> None:
    waiting_tasks(None, count=checks.MANY_TASKS + 1, minutes=0)


def a_certificate(settings: Any, **fields: Any) -> None:
    settings.ADDRESS, settings.CSRF_TRUSTED_ORIGINS = "https://splash.example", []
    WatchedCertificate.objects.create(address="https://splash.example", **{"looked_at": timezone.now(), **fields})


def ending_certificate(settings: Any) -> None:
    a_certificate(settings, expires_at=timezone.now() + 13 * DAY)


def unseen_certificate(settings: Any) -> None:
    a_certificate(settings, problem="timed out")


def certificate_without_worker(settings: Any) -> None:
    a_certificate(settings, looked_at=timezone.now() - DAY, expires_at=timezone.now() + 90 * DAY)


def lost_broker(settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"


def missing_migration(_: Any) -> None:
    MigrationRecorder(connection).record_unapplied("operations", "0001_initial")


def little_room(_: Any) -> None:
    FREE["bytes"] = 10**9


def no_room(_: Any) -> None:
    FREE["bytes"] = 10**6


def lost_artifact(_: Any) -> None:
    Artifact.objects.create(run=a_run(), name="sysbench.txt", sha256="a" * 64, size=1)


def lonely_job(_: Any) -> None:
    Job.objects.filter(pk=a_job().pk).update(queued_at=timezone.now() - timedelta(hours=1))


def waiting_job(_: Any) -> None:
    Job.objects.filter(pk=a_job().pk).update(queued_at=timezone.now() - 2 * DAY)
    an_agent(last_seen_at=timezone.now())


def late_seal(_: Any) -> None:
    a_run(state="ended", sealed_at=None, ended_at=timezone.now() - timedelta(hours=1))


def lost_seal(_: Any) -> None:
    a_run(state="ended", sealed_at=None, ended_at=timezone.now() - 2 * DAY)


def silent_agent(_: Any) -> None:
    an_agent(name="box", last_seen_at=timezone.now() - timedelta(minutes=5))


def silent_busy_agent(_: Any) -> None:
    agent = a_job(state="running").agent
    assert agent is not None
    Agent.objects.filter(pk=agent.pk).update(last_seen_at=timezone.now() - timedelta(minutes=5))


def failed_job(_: Any) -> None:
    a_job(state="failed", finished_at=timezone.now())


def unread_batch(_: Any) -> None:
    artifact = Artifact(run=a_run(started_at=timezone.now()), name=UNREAD_BATCHES, sha256=artifacts.keep(b"x"), size=1)
    artifact.save()


def failing_archive(settings: Any) -> None:
    settings.STORAGES = settings.STORAGES | {"archive": store_at(str(settings.VAR_DIR / "archive"))}
    for attempts in (2, 3, 9):
        ArchiveAttempt.objects.create(run=a_run(), attempts=attempts, due_at=timezone.now(), problem="the disk is full")


def lost_delivery(_: Any) -> None:
    Delivery.objects.create(content={}, attempts=8, given_up_at=timezone.now() - timedelta(hours=23))


def old_backup(_: Any) -> None:
    Backup.objects.update(taken_at=timezone.now() - 8 * DAY)


def no_backup(_: Any) -> None:
    Backup.objects.all().delete()


def damaged_backup(_: Any) -> None:
    Backup.objects.update(damaged=1)


def restarted_program(settings: Any) -> None:
    restarts.note(settings.VAR_DIR, restarts.Restart("web", timezone.now().timestamp(), "hung"))


@pytest.mark.parametrize(
    ("key", "fault", "verdict", "value"),
    [
        ("broker", lost_broker, WRONG, None),
        ("migrations", missing_migration, WRONG, 1),
        ("disks", little_room, WARNING, 10**9),
        ("disks", no_room, WRONG, 10**6),
        ("store", lost_artifact, WRONG, None),
        ("queue", lonely_job, WRONG, 3600),
        ("queue", waiting_job, WARNING, 2 * 86400),
        ("tasks", waiting_tasks, WARNING, 180),
        ("tasks", lost_worker, WRONG, 1200),
        ("tasks", lost_broker, UNKNOWN, None),
        ("backlog", long_queue, WARNING, 1001),
        ("certificates", ending_certificate, WRONG, 13 * 86400),
        ("certificates", unseen_certificate, UNKNOWN, None),
        ("certificates", certificate_without_worker, UNKNOWN, 90 * 86400),
        ("seals", late_seal, WARNING, 3600),
        ("seals", lost_seal, WRONG, 2 * 86400),
        ("agents", silent_agent, WARNING, 1),
        ("agents", silent_busy_agent, WRONG, 1),
        ("failures", failed_job, WARNING, 1),
        ("unread", unread_batch, WARNING, 1),
        ("archive", failing_archive, WARNING, 2),
        ("deliveries", lost_delivery, WARNING, 1),
        ("backup", old_backup, WARNING, 8 * 86400),
        ("backup", no_backup, WARNING, None),
        ("backup", damaged_backup, WRONG, 86400),
        ("programs", restarted_program, WARNING, 1),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_fault_turns_its_check(
    key: str, fault: Callable[[Any], None], verdict: HealthVerdict, value: float | None, settings: Any
) -> None:
    fault(settings)
    found = row(key)
    assert (found.verdict, found.value) == (verdict, value if value is None else pytest.approx(value, abs=LIMIT))
    assert found.advice
    assert report(now=timezone.now())[0].verdict is not OK


def test_the_row_of_tasks_counts_those_of_every_priority() -> None:
    waiting_tasks(None)
    assert row("tasks").advice == "3 tasks waiting: start the worker, or see its log."


def test_a_certificate_that_is_good_for_long_and_seen_is_fine(settings: Any) -> None:
    a_certificate(settings, expires_at=timezone.now() + 15 * DAY)
    found = row("certificates")
    assert (found.verdict, found.shown) == (OK, "15\u00a0d")


def test_the_row_of_unsealed_runs_counts_those_that_are_late() -> None:
    for _ in range(3):
        late_seal(None)
    a_run(state="ended", sealed_at=None, ended_at=timezone.now())
    assert row("seals").advice.startswith("3 runs ended over 15 minutes ago.")


def test_the_row_of_the_archive_says_why_a_run_is_not_archived(settings: Any) -> None:
    failing_archive(settings)
    run = ArchiveAttempt.objects.get(attempts=3).run
    assert row("archive").advice == f"Run {run.pk}: the disk is full."


def test_old_faults_are_no_faults(settings: Any) -> None:
    now = timezone.now()
    a_job(state="failed", finished_at=now - 2 * DAY)
    an_agent(last_seen_at=None)
    an_agent(last_seen_at=now - DAY, revoked_at=now)
    restarts.note(settings.VAR_DIR, restarts.Restart("web", (now - 2 * DAY).timestamp(), "hung"))
    a_run(state="ended", sealed_at=None, ended_at=now)
    Delivery.objects.create(content={}, attempts=8, given_up_at=now - 2 * DAY)
    failing_archive(settings)
    ArchiveAttempt.objects.update(due_at=now - DAY)  # of moves, which were switched off since
    assert {each.verdict for each in report(now=now)} == {OK}


@pytest.mark.parametrize("error", [ConnectionRefusedError(), EndpointConnectionError(endpoint_url="http://store")])
def test_a_store_that_refuses_is_wrong(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifacts, "is_stored", Mock(side_effect=error))
    assert row("store").verdict is WRONG


def test_artifacts_of_another_user_are_not_called_missing(settings: Any, var_folder: Path) -> None:
    with transaction.atomic():
        sha256 = artifacts.keep(b"a result")
    Artifact.objects.create(run=a_run(), name="a", sha256=sha256, size=8, media_type="text/plain")
    assert row("store").verdict is OK
    with another_user():
        found = row("store")
        assert found.verdict is WRONG
        assert "chown -R" in found.advice
        assert "missing" not in found.advice
        with pytest.raises(artifacts.StoreClosed, match="chown -R"), transaction.atomic():
            artifacts.keep(b"another result")
        with pytest.raises(artifacts.DamagedArtifact, match=r"cannot be read: .*chown -R"):
            artifacts.read_artifact(Artifact.objects.get())


def test_a_store_that_hangs_is_wrong_and_holds_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    end = Event()
    monkeypatch.setattr(checks, "STORE_ANSWERS_WITHIN", timedelta(milliseconds=10))
    monkeypatch.setattr(artifacts, "is_stored", lambda _sha256: end.wait(LIMIT))
    assert row("store").verdict is WRONG
    assert not end.is_set()
    end.set()


def test_without_the_database_the_rest_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Any:
        raise OperationalError("connection refused")

    with monkeypatch.context() as patched:
        patched.setattr(connection, "cursor", refuse)
        found = {each.key: each.verdict for each in report(now=timezone.now())}
    assert found["database"] is WRONG
    assert found["queue"] is found["backup"] is UNKNOWN
    assert found["broker"] is found["disks"] is OK


def test_the_number_of_queries_does_not_grow() -> None:
    report(now=timezone.now())
    with CaptureQueriesContext(connection) as few:
        report(now=timezone.now())
    for fault in (silent_agent, silent_busy_agent, failed_job, unread_batch, late_seal, lonely_job, waiting_job):
        fault(None)
    lost_delivery(None)
    with CaptureQueriesContext(connection) as many:
        assert {each.verdict for each in report(now=timezone.now())} != {OK}
    assert len(many) == len(few)
