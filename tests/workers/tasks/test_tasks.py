"""Tasks one by one, without a broker: each makes one domain call and may run twice."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from celery.exceptions import Reject
from django.conf import settings
from django.test.utils import override_settings
from django.utils import timezone

from apps.core.stores import store_at
from apps.dispatch.jobs.leases import run_uid
from apps.dispatch.models import Agent
from apps.rig.models import StudyState
from apps.runs.ingest import accept
from apps.runs.models import Block, Run
from tests.support.builders import a_campaign, a_job, a_load_level, a_run, an_agent
from workers import tasks
from workers.celery import app


def test_beat_names_tasks_that_exist_and_its_ticks_expire() -> None:
    app.loader.import_default_modules()
    for entry in app.conf.beat_schedule.values():
        assert entry["task"] in app.tasks
        assert entry["options"]["expires"] == entry["schedule"]


def test_match_and_expire_do_their_one_call(db: None) -> None:
    job = a_campaign().jobs.get()
    an_agent(job.system, last_seen_at=timezone.now())
    assert tasks.match_jobs() == 1
    assert tasks.match_jobs() == 0
    assert tasks.expire_leases() == 0


def test_panels_wait_while_the_examples_are_restored(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    queued: list[int] = []

    def enqueue(_task: object, *, run_id: int, **_options: object) -> bool:
        queued.append(run_id)
        return True

    monkeypatch.setattr(tasks, "enqueue", enqueue)
    run = a_run()
    state = StudyState.objects.create(wanted=10, restored=4, changed_at=timezone.now())
    assert (tasks.judge_rest(), queued) == (0, [])
    StudyState.objects.filter(pk=state.pk).update(loaded_at=timezone.now())
    assert (tasks.judge_rest(), queued) == (1, [run.pk])


def test_sweep_enqueues_ended_runs_whose_time_has_come(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    enqueued: list[dict[str, Any]] = []

    def enqueue(_task: object, **arguments: Any) -> bool:
        enqueued.append(arguments)
        return True

    monkeypatch.setattr(tasks, "enqueue", enqueue)
    now = timezone.now()
    old = a_run(state="ended", sealed_at=None, seal_due_at=now - timedelta(seconds=1))
    a_run(state="ended", sealed_at=None, seal_due_at=now + timedelta(seconds=9))
    a_run(state="open", outcome="", ended_at=None, sealed_at=None)
    a_run()
    assert tasks.sweep() == 1
    assert enqueued == [{"run_id": old.pk, "expires": 15.0}]


def test_run_that_cannot_be_sealed_raises_once_and_is_not_put_back(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*, run_id: int) -> bool:
        raise ValueError(f"cannot seal {run_id}")

    monkeypatch.setattr(accept, "seal", broken)
    with pytest.raises(ValueError, match="cannot seal 5") as error:
        tasks.seal_run(5)
    assert not isinstance(error.value, Reject)
    assert tasks.seal_run.reject_on_worker_lost is False


def abandoned(*, silent: timedelta, agent: dict[str, Any]) -> Run:
    """An open run of an attempt that was lost, silent for so long."""
    job = a_job(state="failed", attempt=1)
    owner = an_agent(job.system, **agent)
    level = a_load_level(1)
    uid = run_uid(job=job, attempt=1, agent_id=owner.pk, load_level=level)
    run = a_run(uid=uid, system=job.system, load_level=level, state="open", outcome="", ended_at=None, sealed_at=None)
    Run.objects.filter(pk=run.pk).update(created_at=timezone.now() - silent)
    job.job_runs.create(run=run, attempt=1)
    return run


@pytest.mark.parametrize(
    ("silent", "agent", "closed"),
    [
        (timedelta(minutes=11), {"health": {"spool_messages": 0}}, True),
        (timedelta(minutes=9), {"health": {"spool_messages": 0}}, False),
        (timedelta(hours=5), {"health": {"spool_messages": 7}}, False),
        (timedelta(hours=5), {"health": {}}, False),
        (timedelta(hours=5), {"health": {"spool_messages": 0}, "last_seen_at": None}, False),
        (timedelta(hours=25), {"health": {"spool_messages": 7}, "last_seen_at": None}, True),
    ],
)
def test_sweep_closes_an_abandoned_run_only_when_nothing_more_will_come(
    db: None, monkeypatch: pytest.MonkeyPatch, silent: timedelta, agent: dict[str, Any], closed: bool
) -> None:
    monkeypatch.setattr(tasks, "enqueue", lambda *_args, **_arguments: True)
    run = abandoned(silent=silent, agent={"last_seen_at": timezone.now(), **agent})
    tasks.sweep()
    run.refresh_from_db()
    assert run.state == ("ended" if closed else "open")
    if closed:
        assert run.outcome == "cancelled"
        assert run.reason == "lease lost: its agent never reported the end of this run"


def test_sweep_never_closes_a_run_of_a_living_attempt(db: None) -> None:
    run = abandoned(silent=timedelta(days=3), agent={})
    run.job_run.job.delete()
    job = a_job(state="running")
    run = a_run(system=job.system, state="open", outcome="", ended_at=None, sealed_at=None)
    Run.objects.filter(pk=run.pk).update(created_at=timezone.now() - timedelta(days=3))
    job.job_runs.create(run=run, attempt=1)
    Agent.objects.update(last_seen_at=timezone.now(), health={"spool_messages": 0})
    tasks.sweep()
    run.refresh_from_db()
    assert run.state == "open"


def test_archive_gives_each_run_to_a_task_of_its_own_and_does_nothing_without_an_archive(
    db: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    enqueued: list[tuple[object, dict[str, Any]]] = []

    def enqueue(task: object, **arguments: Any) -> bool:
        enqueued.append((task, arguments))
        return True

    monkeypatch.setattr(tasks, "enqueue", enqueue)
    old, new = a_run(), a_run()
    a_run(state="ended", sealed_at=None)
    assert tasks.archive() == 0
    with override_settings(STORAGES=settings.STORAGES | {"archive": store_at(str(tmp_path))}, KEEP_SAMPLES_DAYS=1):
        assert tasks.archive() == 2
        given = [(task, arguments["run_id"], arguments["expires"]) for task, arguments in enqueued]
        assert given == [(tasks.archive_run, new.pk, 30.0), (tasks.archive_run, old.pk, 30.0)]
        assert tasks.archive_run(old.pk)
        assert tasks.archive_run(new.pk)
        enqueued.clear()
        Block.objects.create(run=old, node=1, size=1, data=b"x")
        assert tasks.archive() == 1
        assert enqueued == [(tasks.move_samples, {"run_id": old.pk, "expires": 30.0, "priority": tasks.LOWEST})]
        assert tasks.move_samples(old.pk)
        assert tasks.archive() == 0
