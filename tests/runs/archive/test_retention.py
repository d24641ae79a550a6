"""Samples of archived runs leave the database after a time, and come back when somebody reads them."""

import io
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Barrier

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.utils import timezone

from apps.runs import archive, queries
from apps.runs.archive import manifest, write
from apps.runs.models import ArchiveAttempt, ArchivedRun, Block, Run
from apps.runs.quality import exclusion
from apps.runs.storage import blocks, codec
from tests.runs.archive.archived import a_full_run, archived, files, forget_everything, held
from tests.support.builders import a_user

pytestmark = pytest.mark.django_db
NOW = timezone.now()


def moved(run: Run) -> None:
    archived(run)
    assert archive.move(run_id=run.pk, now=NOW)


def test_samples_older_than_the_days_kept_move_and_everything_else_stays(folder: Path) -> None:
    run = a_full_run()
    before = held(run)
    archived(run)
    ended = run.ended_at
    assert ended is not None
    assert archive.movable(now=ended + timedelta(days=29), days=30, limit=5) == []
    assert archive.movable(now=ended + timedelta(days=31), days=0, limit=5) == []
    assert archive.movable(now=ended + timedelta(days=31), days=30, limit=5) == [run.pk]
    assert archive.move(run_id=run.pk, now=NOW)
    assert archive.movable(now=ended + timedelta(days=31), days=30, limit=5) == []
    assert not Block.objects.exclude(data=None).exists()
    after = held(run)
    for block in (*before["blocks"], *after["blocks"]):
        block["data"] = None
    assert after == before
    assert ArchivedRun.objects.get().moved_at == NOW
    with pytest.raises(blocks.Moved):
        blocks.read([run.pk])


def test_reading_a_series_of_a_moved_run_fetches_its_samples(folder: Path) -> None:
    run = a_full_run()
    before = held(run)

    def values() -> list[bytes]:
        keys = ["mysql.status.Com_commit", "client.throughput"]
        return [series.values.tobytes() for series in queries.load_series(run_ids=[run.pk], metrics=keys)]

    drawn = values()
    moved(run)
    assert values() == drawn
    assert held(run) == before
    known = ArchivedRun.objects.get()
    assert known.moved_at is None
    ended = run.ended_at
    assert ended is not None
    assert archive.movable(now=timezone.now(), days=30, limit=5) == [], "who looked at it may look again"
    assert archive.movable(now=timezone.now() + timedelta(days=2), days=30, limit=5) == [run.pk]


def test_a_move_that_fails_is_tried_later_and_others_go_first(folder: Path) -> None:
    bad, good = a_full_run(), a_full_run()
    archived(bad)
    (path,) = folder.glob("series/**/*.parquet")
    content = path.read_bytes()
    archived(good)
    path.unlink()
    path.mkdir()  # cannot be read
    later = NOW + timedelta(days=1000)
    assert archive.movable(now=later, days=30, limit=1) == [bad.pk]
    assert not archive.attempt_move(run_id=bad.pk, now=later)
    assert archive.movable(now=later, days=30, limit=1) == [good.pk]
    assert archive.movable(now=later, days=30, limit=1, waiting_too=True) == [bad.pk]
    assert archive.movable(now=later + timedelta(seconds=16), days=30, limit=1) == [bad.pk]
    tried = ArchiveAttempt.objects.get()
    assert (tried.attempts, "does not answer" in tried.problem) == (1, True)
    path.rmdir()
    path.write_bytes(content)
    assert archive.attempt_move(run_id=bad.pk, now=later + timedelta(seconds=16))
    assert not ArchiveAttempt.objects.exists()


def test_samples_do_not_move_unless_every_file_is_as_it_was_and_the_run_is_archived_again(folder: Path) -> None:
    run = a_full_run()
    archived(run)
    whole = files(folder)
    (path,) = folder.glob("nodes/**/*.parquet")
    path.write_bytes(b"PAR1")
    assert not archive.move(run_id=run.pk, now=NOW)
    assert not Block.objects.filter(data=None).exists()
    assert archive.due(now=NOW, limit=5) == [run.pk]
    archived(run)
    assert files(folder) == whole


def test_a_manifest_that_another_wrote_is_not_trusted_when_samples_move(folder: Path) -> None:
    run = a_full_run()
    known = archived(run)
    path = folder / known.manifest
    path.write_text(path.read_text().replace("mariadb", "mariadc"))
    assert not archive.move(run_id=run.pk, now=NOW)
    assert not Block.objects.filter(data=None).exists()


def test_samples_that_cannot_be_fetched_are_not_taken_for_absent(folder: Path) -> None:
    run = a_full_run()
    moved(run)
    (path,) = folder.glob("series/**/*.parquet")
    path.unlink()
    with pytest.raises(archive.Damaged, match="missing from the archive"):
        archive.fetch([run.pk])
    assert ArchivedRun.objects.get().moved_at == NOW


def test_blocks_of_another_codec_get_the_places_of_this_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = a_full_run()
    samples = blocks.read([run.pk])[run.pk]
    moved(run)
    monkeypatch.setattr(codec, "CHUNK", 8)
    assert archive.fetch([run.pk]) == 1
    assert archive.fetch([run.pk]) == 0
    for ours, theirs in zip(samples, blocks.read([run.pk])[run.pk], strict=True):
        assert all(ours.changing[key].same_as(theirs.changing[key]) for key in ours.changing)
        assert not theirs.damaged


def test_a_moved_run_is_verified_when_it_is_archived_again(folder: Path) -> None:
    run = a_full_run()
    moved(run)
    assert archive.archive(run_id=run.pk, now=NOW)
    (path,) = folder.glob("series/**/*.parquet")
    path.unlink()
    with pytest.raises(archive.Damaged):
        archive.archive(run_id=run.pk, now=NOW)


def test_a_moved_run_can_be_exported_and_sealed_again(folder: Path, tmp_path: Path) -> None:
    run = a_full_run()
    moved(run)
    assert archive.export(run_ids=[run.pk], path=tmp_path / "runs.zip") == 1
    moved(run)
    call_command("reseal", str(run.pk), stdout=io.StringIO())
    assert archive.due(now=NOW, limit=5) == [run.pk]
    assert blocks.read([run.pk])[run.pk]


def test_a_moved_run_that_is_excluded_is_archived_again_with_its_exclusion(folder: Path) -> None:
    run = a_full_run()
    before = held(run)
    moved(run)
    assert exclusion.exclude(run=run, reason="a backup ran", by=a_user())
    assert archive.due(now=NOW, limit=5) == [run.pk]
    assert archive.attempt(run_id=run.pk, now=NOW)
    assert archive.due(now=NOW, limit=5) == []
    assert held(run)["blocks"] == before["blocks"], "samples are fetched for it"
    forget_everything()
    (path,) = archive.chosen(archive.archive_storage())
    restored = archive.restore(archive.archive_storage(), path=path).run
    assert restored is not None
    assert [one.reason for one in exclusion.history(restored.pk)] == ["a backup ran"]
    assert restored.is_excluded


def test_samples_of_a_moved_run_survive_an_archiving_that_is_interrupted_amid_its_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = a_full_run()
    before = held(run)
    moved(run)
    assert exclusion.exclude(run=run, reason="a backup ran", by=a_user())
    with monkeypatch.context() as patched:
        patched.setattr(write, "_LEVEL", 1)  # the files of samples are others, too
        patched.setattr(manifest, "encoded", interrupted)
        with pytest.raises(Interrupted):
            archive.archive(run_id=run.pk, now=NOW)
    archive.fetch([run.pk])
    assert held(run)["blocks"] == before["blocks"]
    assert archive.due(now=NOW, limit=5) == [run.pk]
    archived(run)
    assert archive.move(run_id=run.pk, now=NOW)
    assert archive.fetch([run.pk]) == 1
    assert held(run)["blocks"] == before["blocks"]


class Interrupted(BaseException):
    """As when the worker is ended."""


def interrupted(_: manifest.Manifest) -> bytes:
    raise Interrupted


def test_a_moved_run_whose_files_are_damaged_stays_due_with_the_reason(folder: Path) -> None:
    run = a_full_run()
    moved(run)
    (path,) = folder.glob("series/**/*.parquet")
    path.unlink()
    assert exclusion.exclude(run=run, reason="a backup ran", by=a_user())
    assert not archive.attempt(run_id=run.pk, now=NOW)
    assert "missing from the archive" in ArchiveAttempt.objects.get().problem
    assert ArchivedRun.objects.get().moved_at == NOW


def test_damaged_samples_are_replaced_by_the_archives(folder: Path) -> None:
    run = a_full_run()
    before = held(run)
    archived(run)
    Block.objects.filter(run=run, node=1).update(data=b"x" * 500)
    assert any(node.damaged for node in blocks.read([run.pk])[run.pk])
    call_command("fetch_runs", str(run.pk), stdout=io.StringIO())
    assert held(run) == before
    with pytest.raises(CommandError, match="not in the archive"):
        call_command("fetch_runs", str(run.pk + 1), stdout=io.StringIO())


@pytest.mark.django_db(transaction=True)
def test_two_who_fetch_at_once_have_one_effect(folder: Path) -> None:
    run = a_full_run()
    before = held(run)
    moved(run)
    together = Barrier(3)

    def fetched(_: int) -> int:
        together.wait()
        try:
            return archive.fetch([run.pk])
        finally:
            connection.close()

    with ThreadPoolExecutor(3) as threads:
        assert sum(threads.map(fetched, range(3))) == 1
    assert held(run) == before


@pytest.mark.django_db(transaction=True)
def test_a_run_that_somebody_else_holds_is_left_to_them(folder: Path) -> None:
    run = a_full_run()

    def archived_elsewhere() -> bool:
        try:
            return archive.archive(run_id=run.pk, now=NOW)
        finally:
            connection.close()

    with transaction.atomic(), ThreadPoolExecutor(1) as thread:
        Run.objects.select_for_update().get(pk=run.pk)
        assert not thread.submit(archived_elsewhere).result()
    assert archive.archive(run_id=run.pk, now=NOW)
