"""Ended runs that are not sealed: when they are tried again, and what they are said to wait for."""

from datetime import timedelta

import pytest
from django.core.files.storage import default_storage
from django.utils import timezone

from apps.runs import queries, seal
from apps.runs.ingest import accept, seal_queue
from apps.runs.models import Artifact, Run
from apps.runs.storage import artifacts, blocks
from tests.runs.uploads import OUTPUT, Upload, an_open_run, an_upload
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
