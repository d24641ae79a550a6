"""A real worker, a real broker, a real database: what a crash or an outage leaves behind is found again."""

import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import transaction
from django.test.utils import override_settings
from django.utils import timezone
from kombu import pools

from apps.core.stores import store_at
from apps.dispatch.models import Job
from apps.regressions.models import Change, Finding, Looked, Pending
from apps.regressions.releases import recheck_queue
from apps.runs.models import Batch, Run, Series
from tests.regressions.releases.released import two_releases
from tests.runs.uploads import an_upload
from tests.support import locks
from tests.support.builders import a_campaign, a_run, an_agent
from tests.support.waiting import eventually
from tests.workers.tasks.processes import Broker, Worker
from workers import tasks
from workers.celery import app

pytestmark = pytest.mark.django_db(transaction=True)


def _use(url: str) -> None:
    """Celery keeps its pools of connections per application, not per address."""
    application: Any = app
    application.conf.broker_url = url
    application._pool = None
    application.amqp._producer_pool = None


class Clock:
    """Stands still unless it is moved."""

    def __init__(self) -> None:
        self.seconds = 1.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Of the pause after a failure; brokers come and go in these tests, so most have none."""
    clock = Clock()
    monkeypatch.setattr(tasks, "_pause", tasks._Pause(clock))
    monkeypatch.setattr(tasks, "PAUSE_AFTER_FAILURE", 0.0)
    return clock


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
    broker.reserved.release()
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


def test_enqueueing_without_a_broker_returns_and_says_so(broker: Broker) -> None:
    assert tasks.enqueue(tasks.match_jobs) is False
    broker.start()
    assert tasks.enqueue(tasks.match_jobs) is True
    broker.stop()
    assert tasks.enqueue(tasks.match_jobs) is False
    broker.start()
    assert tasks.enqueue(tasks.match_jobs) is True


def connections(listening: socket.socket) -> int:
    """How many came since it was last asked; a client's connection stands before anybody accepts it."""
    listening.setblocking(False)
    number = 0
    with suppress(BlockingIOError):
        while True:
            listening.accept()[0].close()
            number += 1
    return number


def test_broker_that_never_answers_holds_up_one_request_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "PAUSE_AFTER_FAILURE", 1.0)
    before = app.conf.broker_url
    with socket.create_server(("127.0.0.1", 0)) as frozen:
        _use(f"redis://127.0.0.1:{frozen.getsockname()[1]}/0")
        try:
            assert tasks.enqueue(tasks.match_jobs) is False
            assert connections(frozen) > 0
            assert tasks.enqueue(tasks.match_jobs) is False
            assert connections(frozen) == 0, "nobody asks during the pause"
        finally:
            pools.reset()
            _use(before)


def test_broker_is_asked_again_after_the_pause(broker: Broker, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "PAUSE_AFTER_FAILURE", 1.0)
    assert tasks.enqueue(tasks.match_jobs) is False
    broker.start()
    clock.seconds += 0.99
    assert tasks.enqueue(tasks.match_jobs) is False
    clock.seconds += 0.01
    assert tasks.enqueue(tasks.match_jobs) is True


def test_run_that_ended_while_the_broker_was_down_is_sealed_by_the_sweep(broker: Broker, worker: Worker) -> None:
    run = an_ended_run()
    assert tasks.enqueue(tasks.seal_run, run_id=run.pk) is False
    broker.start()
    worker.start()
    assert not is_sealed(run)
    assert tasks.enqueue(tasks.sweep)
    eventually(lambda: is_sealed(run), what="the run is sealed", seen=worker.said)
    assert Series.objects.filter(run=run).exists()


def test_worker_killed_half_way_seals_later_and_once(broker: Broker, worker: Worker) -> None:
    run = an_ended_run()
    broker.start()
    worker.start()
    with transaction.atomic():
        # The last step of a seal deletes the batches: it must wait for these locks, with its series written.
        list(Batch.objects.select_for_update().filter(run=run))
        assert tasks.enqueue(tasks.seal_run, run_id=run.pk)
        eventually(locks.is_waited_for, what="the seal waits for a lock", seen=worker.said)
        worker.kill()
    assert not is_sealed(run)
    run.refresh_from_db()
    assert Batch.objects.filter(run=run).count() == run.batches_expected
    worker.start()
    assert run.seal_attempts == 1, "an attempt that is killed counts"
    be_due(run)
    assert tasks.enqueue(tasks.sweep)
    eventually(lambda: is_sealed(run), what="the run is sealed", seen=worker.said)
    sealed = Run.objects.values().get(pk=run.pk)
    series = Series.objects.filter(run=run).count()
    assert series > 0
    assert not Batch.objects.filter(run=run).exists()
    assert tasks.enqueue(tasks.seal_run, run_id=run.pk)
    eventually(lambda: worker.said().count("seal_run") >= 4, what="the second task has run", seen=worker.said)
    assert Run.objects.values().get(pk=run.pk) == sealed
    assert Series.objects.filter(run=run).count() == series


def test_a_backlog_of_the_archive_waits_behind_what_comes_later(broker: Broker, worker: Worker, tmp_path: Path) -> None:
    for _ in range(3):
        a_run()
    broker.start()
    with override_settings(STORAGES=settings.STORAGES | {"archive": store_at(str(tmp_path / "archive"))}):
        assert tasks.archive() == 3
    assert tasks.enqueue(tasks.expire_leases)
    worker.start()

    def received() -> list[str]:
        return re.findall(r"Task workers\.tasks\.(\w+)\[\S+\] received", worker.said())

    eventually(lambda: len(received()) == 4, what="all tasks were received", seen=worker.said)
    assert received() == ["expire_leases", *["archive_run"] * 3]


def test_beat_matches_a_queued_job_by_itself(broker: Broker, worker: Worker) -> None:
    job = a_campaign().jobs.get()
    broker.start()
    worker.beat = True
    worker.start()
    an_agent(job.system, last_seen_at=timezone.now() + timedelta(minutes=1))
    eventually(lambda: Job.objects.get(pk=job.pk).state == "matched", what="the job is matched", seen=worker.said)


def test_two_processes_that_look_at_the_same_runs_make_no_twins(broker: Broker, worker: Worker) -> None:
    two_releases()
    runs = list(Run.objects.values_list("pk", flat=True))
    broker.start()
    # Wait in the queue, so that both processes take them at once.
    for run in (*runs, *runs):
        assert tasks.enqueue(tasks.look_at_run, run_id=run)
    worker.concurrency = 2
    worker.start()
    eventually(lambda: Looked.objects.count() == len(runs), what="all runs are looked at", seen=worker.said)
    for _ in range(4):
        recheck_queue.add_releases(Pending.objects.values_list("release_id", "hardware_class_id"))
        assert tasks.enqueue(tasks.check_pending)
    eventually(lambda: worker.said().count("check_pending") >= 8, what="all checks have run", seen=worker.said)
    eventually(lambda: not Pending.objects.exists(), what="nothing is left to check", seen=worker.said)
    assert "Traceback" not in worker.said()
    assert (Finding.objects.count(), Change.objects.count()) == (1, 1)
    assert list(Finding.objects.get().notes.values_list("what", flat=True)) == ["found"]
