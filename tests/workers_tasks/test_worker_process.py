"""A real worker, a real broker, a real database: what a crash or an outage leaves behind is found again."""

import socket
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone
from kombu import pools

from apps.dispatch.models import Job
from apps.regressions import marking
from apps.regressions.models import Change, Finding, Looked, Pending
from apps.runs.models import Batch, Run, Series
from tests.builders import a_campaign, an_agent
from tests.regressions.released import two_releases
from tests.runs.uploads import an_upload
from tests.workers_tasks.processes import Broker, Worker, eventually
from workers import tasks
from workers.celery import app

pytestmark = pytest.mark.django_db(transaction=True)


def _use(url: str) -> None:
    """Celery keeps its pools of connections per application, not per address."""
    application: Any = app
    application.conf.broker_url = url
    application._pool = None
    application.amqp._producer_pool = None


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Brokers come and go in these tests."""
    monkeypatch.setattr(tasks, "_pause", tasks._Pause())
    monkeypatch.setattr(tasks, "PAUSE_AFTER_FAILURE", 0.0)


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    """Down at first; tasks of this process are sent to it."""
    broker = Broker(tmp_path)
    before = app.conf.broker_url
    _use(broker.url)
    yield broker
    pool: Any = app.pool
    pool.force_close_all()
    pools.reset()
    broker.stop()
    _use(before)


@pytest.fixture
def worker(tmp_path: Path, broker: Broker, var_folder: Path) -> Iterator[Worker]:
    worker = Worker(tmp_path, broker, var_folder)
    yield worker
    worker.kill()


def is_sealed(run: Run) -> bool:
    return Run.objects.filter(pk=run.pk, state="sealed").exists()


def an_ended_run() -> Run:
    """Complete, and due for the sweep."""
    run = an_upload().send()
    be_due(run)
    return run


def be_due(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(seal_due_at=timezone.now())


def test_enqueueing_without_a_broker_returns_at_once_and_says_so(broker: Broker) -> None:
    began = time.monotonic()
    assert tasks.enqueue(tasks.match_jobs) is False
    assert time.monotonic() - began < 5
    broker.start()
    assert tasks.enqueue(tasks.match_jobs) is True
    broker.stop()
    assert tasks.enqueue(tasks.match_jobs) is False
    broker.start()
    assert tasks.enqueue(tasks.match_jobs) is True


def test_broker_that_never_answers_holds_up_one_request_and_only_for_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "PAUSE_AFTER_FAILURE", 1.0)
    before = app.conf.broker_url
    with socket.create_server(("127.0.0.1", 0)) as frozen:
        _use(f"redis://127.0.0.1:{frozen.getsockname()[1]}/0")
        try:
            began = time.monotonic()
            assert tasks.enqueue(tasks.match_jobs) is False
            assert 0.5 < time.monotonic() - began < 4
            began = time.monotonic()
            assert tasks.enqueue(tasks.match_jobs) is False
            assert time.monotonic() - began < 0.1
        finally:
            pools.reset()
            _use(before)


def test_broker_is_asked_again_after_the_pause(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "PAUSE_AFTER_FAILURE", 1.0)
    assert tasks.enqueue(tasks.match_jobs) is False
    broker.start()
    assert tasks.enqueue(tasks.match_jobs) is False
    time.sleep(1)
    assert tasks.enqueue(tasks.match_jobs) is True


def test_run_that_ended_while_the_broker_was_down_is_sealed_by_the_sweep(broker: Broker, worker: Worker) -> None:
    run = an_ended_run()
    assert tasks.enqueue(tasks.seal_run, run_id=run.pk) is False
    broker.start()
    worker.start()
    assert not is_sealed(run)
    assert tasks.enqueue(tasks.sweep)
    eventually(lambda: is_sealed(run), within=60, why=worker.said)
    assert Series.objects.filter(run=run).exists()


def test_worker_killed_half_way_seals_later_and_once(broker: Broker, worker: Worker) -> None:
    run = an_ended_run()
    broker.start()
    worker.start()
    with transaction.atomic():
        # The last step of a seal deletes the batches: it must wait for these locks, with its series written.
        list(Batch.objects.select_for_update().filter(run=run))
        assert tasks.enqueue(tasks.seal_run, run_id=run.pk)
        eventually(_somebody_waits_for_a_lock, within=60, why=worker.said)
        worker.kill()
    assert not is_sealed(run)
    run.refresh_from_db()
    assert Batch.objects.filter(run=run).count() == run.batches_expected
    worker.start()
    assert run.seal_attempts == 1, "an attempt that is killed counts"
    be_due(run)
    assert tasks.enqueue(tasks.sweep)
    eventually(lambda: is_sealed(run), within=60, why=worker.said)
    sealed = Run.objects.values().get(pk=run.pk)
    series = Series.objects.filter(run=run).count()
    assert series > 0
    assert not Batch.objects.filter(run=run).exists()
    assert tasks.enqueue(tasks.seal_run, run_id=run.pk)
    eventually(lambda: worker.said().count("seal_run") >= 4, within=60, why=worker.said)
    assert Run.objects.values().get(pk=run.pk) == sealed
    assert Series.objects.filter(run=run).count() == series


def _somebody_waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")  # a transaction sees the activity of its first look
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return bool(cursor.fetchone()[0])


def test_beat_matches_a_queued_job_by_itself(broker: Broker, worker: Worker) -> None:
    job = a_campaign().jobs.get()
    broker.start()
    worker.beat = True
    worker.start()
    an_agent(job.system, last_seen_at=timezone.now() + timedelta(minutes=1))
    eventually(lambda: Job.objects.get(pk=job.pk).state == "matched", within=60, why=worker.said)


def test_two_processes_that_look_at_the_same_runs_make_no_twins(broker: Broker, worker: Worker) -> None:
    two_releases()
    runs = list(Run.objects.values_list("pk", flat=True))
    broker.start()
    # Wait in the queue, so that both processes take them at once.
    for run in (*runs, *runs):
        assert tasks.enqueue(tasks.look_at_run, run_id=run)
    worker.concurrency = 2
    worker.start()
    eventually(lambda: Looked.objects.count() == len(runs), within=60, why=worker.said)
    for _ in range(4):
        marking.mark_releases(Pending.objects.values_list("release_id", "hardware_class_id"))
        assert tasks.enqueue(tasks.check_pending)
    eventually(lambda: worker.said().count("check_pending") >= 8, within=60, why=worker.said)
    eventually(lambda: not Pending.objects.exists(), within=60, why=worker.said)
    assert "Traceback" not in worker.said()
    assert (Finding.objects.count(), Change.objects.count()) == (1, 1)
    assert list(Finding.objects.get().notes.values_list("what", flat=True)) == ["found"]
