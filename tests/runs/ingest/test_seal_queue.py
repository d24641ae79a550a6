"""Ended runs that are not sealed: when they are tried again, and what they are said to wait for."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.utils import timezone

from apps.runs import queries, seal
from apps.runs.ingest import accept, seal_queue
from apps.runs.models import Artifact, Batch, Run
from apps.runs.storage import artifacts, blocks
from tests.runs.uploads import OUTPUT, Upload, an_open_run, an_upload, samples
from tests.support.builders import START, a_run

pytestmark = pytest.mark.django_db

SOON, LATER = timedelta(seconds=9), timedelta(seconds=11)


@pytest.fixture(autouse=True)
def stopped_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses are compared to the second, however slow the machine."""
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)


def pause(run: Run) -> float:
    """How long from now until the next attempt, s."""
    run.refresh_from_db()
    assert run.seal_due_at is not None
    return (run.seal_due_at - timezone.now()).total_seconds()


def test_the_sweep_finds_what_ended_a_while_ago_and_is_not_sealed() -> None:
    ended, sealed = an_upload().send(), an_upload().send()
    an_open_run()
    accept.seal(run_id=sealed.pk)
    # However long it was measured: its own task comes first.
    Run.objects.update(created_at=timezone.now() - timedelta(days=1))
    assert seal_queue.due(now=timezone.now() + SOON) == []
    assert seal_queue.due(now=timezone.now() + LATER) == [ended.pk]


def test_a_run_stored_before_attempts_were_counted_is_due() -> None:
    run = a_run(state="ended", sealed_at=None)
    assert seal_queue.due(now=timezone.now()) == [run.pk]


def test_a_run_whose_next_attempt_was_set_before_the_clock_was_set_back_is_due() -> None:
    run = a_run(state="ended", sealed_at=None, seal_due_at=timezone.now() + timedelta(hours=3))
    assert seal_queue.due(now=timezone.now()) == [run.pk]


def test_a_run_does_not_end_before_it_began() -> None:
    upload = an_upload()
    upload.end(ended_at="2020-01-01T00:00:00Z")
    upload.run.refresh_from_db()
    assert upload.run.ended_at == upload.run.started_at


def test_a_run_that_waits_for_a_piece_is_tried_less_and_less_often() -> None:
    upload = an_upload()
    upload.end()
    pauses = []
    for _ in range(12):
        assert accept.seal(run_id=upload.run.pk) is False
        pauses.append(round(pause(upload.run)))
    assert pauses == [15, 30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600, 3600]
    assert seal_queue.due(now=timezone.now() + timedelta(seconds=3500)) == []
    assert seal_queue.due(now=timezone.now() + timedelta(seconds=3601)) == [upload.run.pk]


def tired(upload: Upload) -> Run:
    upload.end()
    Run.objects.update(seal_attempts=9, seal_due_at=timezone.now() + timedelta(hours=1))
    return upload.run


@pytest.mark.parametrize("piece", ["batch", "artifact"])
def test_a_piece_that_arrives_after_all_brings_the_next_attempt_near(piece: str) -> None:
    upload = an_upload()
    run = tired(upload)
    assert upload.send_batch(0) if piece == "batch" else upload.send_output()
    assert seal_queue.due(now=timezone.now() + LATER) == [run.pk]
    run.refresh_from_db()
    assert run.seal_attempts == 0


def test_a_piece_sent_again_changes_no_pause() -> None:
    upload = an_upload()
    upload.send_batch(0)
    upload.send_output()
    run = tired(upload)
    assert not upload.send_batch(0)
    assert not upload.send_output()
    assert pause(run) > 3500


def test_a_seal_that_fails_is_counted_though_it_is_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    run = an_upload().send()

    def differs(*_: object) -> None:
        raise seal.StoredDifferently("x")

    monkeypatch.setattr(blocks, "_compare", differs)
    for attempts, seconds in ((1, 15), (2, 30)):
        with pytest.raises(seal.StoredDifferently):
            accept.seal(run_id=run.pk)
        assert round(pause(run)) == seconds
        assert (run.state, run.seal_attempts) == ("ended", attempts)


def test_a_damaged_artifact_is_counted_too() -> None:
    run = an_upload(output=OUTPUT + b"\n\n\n").send()
    default_storage.delete(artifacts.path_of(Artifact.objects.get().sha256))
    with pytest.raises(artifacts.DamagedArtifact):
        accept.seal(run_id=run.pk)
    assert round(pause(run)) == 15


def test_what_a_run_waits_for_is_reported_until_it_is_sealed() -> None:
    upload = an_upload()
    assert queries.load_run(upload.run.pk).pending is None
    upload.send_batch(1)
    upload.end()
    waiting = queries.load_run(upload.run.pk).pending
    assert waiting is not None
    assert (waiting.batches, waiting.missing_batches, waiting.missing_artifacts) == (3, 2, ("sysbench.txt",))
    assert waiting.since == START + timedelta(seconds=21)
    assert not waiting.has_all
    for sequence in (0, 2):
        upload.send_batch(sequence)
    upload.send_output()
    waiting = queries.load_run(upload.run.pk).pending
    assert waiting is not None
    assert waiting.has_all
    assert accept.seal(run_id=upload.run.pk)
    assert queries.load_run(upload.run.pk).pending is None


def let_pass(monkeypatch: pytest.MonkeyPatch, time: timedelta) -> None:
    later = timezone.now() + time
    monkeypatch.setattr(timezone, "now", lambda: later)


@pytest.mark.parametrize("reported", ["succeeded", "cancelled"])
def test_a_run_whose_data_never_arrived_is_sealed_after_a_day_without_it(
    reported: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload = an_upload()
    upload.send_batch(0)
    upload.send_output()
    upload.end(outcome=reported)
    let_pass(monkeypatch, timedelta(hours=23))
    assert not accept.seal(run_id=upload.run.pk)
    let_pass(monkeypatch, timedelta(hours=2))
    assert accept.seal(run_id=upload.run.pk)
    assert seal.reseal(run_id=upload.run.pk)
    run = Run.objects.get()
    expected = "failed" if reported == "succeeded" else "cancelled"
    assert (run.state, run.outcome, run.reason) == ("sealed", expected, "2 of 3 batches never arrived")
    assert len(samples("mysql.status.Threads_running").values) == 10


def test_a_file_that_never_arrived_is_named_in_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    upload = an_upload()
    for sequence in range(3):
        upload.send_batch(sequence)
    upload.end()
    let_pass(monkeypatch, timedelta(hours=25))
    assert accept.seal(run_id=upload.run.pk)
    run = Run.objects.get()
    assert (run.outcome, run.reason.partition(";")[0]) == ("failed", "sysbench.txt never arrived")


def test_a_run_waits_on_while_its_data_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    upload = an_upload()
    upload.end()
    for piece in (0, 1):
        let_pass(monkeypatch, timedelta(hours=23))
        upload.send_batch(piece)
        assert not accept.seal(run_id=upload.run.pk)


def test_an_end_stated_by_a_clock_that_is_ahead_delays_no_seal(monkeypatch: pytest.MonkeyPatch) -> None:
    upload = an_upload()
    upload.end(ended_at=(timezone.now() + timedelta(days=300)).isoformat())
    let_pass(monkeypatch, timedelta(hours=25))
    assert accept.seal(run_id=upload.run.pk)


def test_a_batch_that_arrives_during_the_late_seal_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    upload = an_upload()
    upload.send_batch(0)
    upload.end()
    let_pass(monkeypatch, timedelta(hours=25))
    gather = seal._gather

    def and_one_arrives(*arguments: Any) -> Any:
        found = gather(*arguments)
        upload.send_batch(1)
        return found

    monkeypatch.setattr(seal, "_gather", and_one_arrives)
    assert not accept.seal(run_id=upload.run.pk)
    assert Batch.objects.count() == 2


def test_what_arrives_after_a_late_seal_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    upload = an_upload()
    upload.send_output()
    upload.end()
    let_pass(monkeypatch, timedelta(hours=25))
    assert accept.seal(run_id=upload.run.pk)
    assert not upload.send_batch(0)
    upload.end()  # once more, since its answer was lost
    assert Run.objects.get().outcome == "failed"
