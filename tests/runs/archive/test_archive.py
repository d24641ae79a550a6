"""The archive: what comes back is what the warehouse held, to the bit, whatever interrupts it."""

import io
import json
import sys
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.storage import Storage, default_storage
from django.core.management import call_command
from django.db.models import Model
from django.utils import timezone

from apps.runs import archive, seal
from apps.runs.archive import store
from apps.runs.archive.tables import SCHEMAS
from apps.runs.models import (
    ArchiveAttempt,
    ArchivedRun,
    Artifact,
    Block,
    Distribution,
    Event,
    Measurement,
    Run,
    RunNode,
    Series,
)
from apps.runs.storage import artifacts, blocks
from tests.runs.archive.archived import a_full_run, archived, files, forget_everything, held
from tests.support.builders import a_run

pytestmark = pytest.mark.django_db
NOW = timezone.now()


def restored(source: Storage, **which: Any) -> list[archive.Restored]:
    return [archive.restore(source, path=path) for path in archive.chosen(source, **which)]


def test_every_row_and_sample_comes_back_from_the_archive_into_an_empty_database(folder: Path) -> None:
    run = a_full_run()
    before, samples = held(run), blocks.read([run.pk])[run.pk]
    assert all(before.values()), "a table without rows proves nothing"
    archived(run)
    forget_everything()
    assert not Run.objects.exists()
    (found,) = restored(archive.archive_storage())
    assert found.problem == ""
    back = Run.objects.get(uid=run.uid)
    after = held(back)
    for name, rows in before.items():
        assert after[name] == rows, name
    for ours, theirs in zip(samples, blocks.read([back.pk])[back.pk], strict=True):
        assert ours.clock.tobytes() == theirs.clock.tobytes()
        assert ours.changing.keys() == theirs.changing.keys()
        assert all(ours.changing[key].same_as(theirs.changing[key]) for key in ours.changing)
    assert {node.name for node in samples} == {"client", "db1", "db2"}


@pytest.mark.parametrize("is_compact", [False, True])
def test_an_archive_older_than_the_servers_starts_brings_them_back_from_the_samples(
    folder: Path, tmp_path: Path, is_compact: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = a_full_run()
    assert run.server_started_at is not None
    source = archive.archive_storage()
    if is_compact:
        file = tmp_path / f"runs{archive.FILE_SUFFIXES[-1]}"
        archive.export(run_ids=[run.pk], path=file)
    archived(run)
    forget_everything()
    module = sys.modules["apps.runs.archive.restore"]
    rows = module._rows

    def older(source: Storage, found: Any, name: str, columns: Any = ()) -> Any:
        return [
            {key: row[key] for key in row if key != "server_started_at"} for row in rows(source, found, name, columns)
        ]

    monkeypatch.setattr(module, "_rows", older)
    with archive.unpacked(file) if is_compact else nullcontext(source) as chosen:
        (found,) = restored(chosen)
    assert found.problem == ""
    assert Run.objects.get(uid=run.uid).server_started_at == run.server_started_at


def test_a_length_of_0_s_in_an_older_archive_is_not_known(folder: Path) -> None:
    run = a_full_run()
    Run.objects.update(duration=0, warmup=0)
    archived(run)
    forget_everything()
    (found,) = restored(archive.archive_storage())
    assert found.problem == ""
    back = Run.objects.get(uid=run.uid)
    assert (back.duration, back.warmup) == (None, 0)


def test_files_lie_by_table_platform_workload_and_month_and_artifacts_under_their_hash(folder: Path) -> None:
    run = a_full_run()
    known = archived(run)
    slug = f"oltp_write_only-{run.workload.content_hash[:8]}"
    place = f"platform=mariadb/workload={slug}/month=2026-01"
    assert known.manifest == f"manifests/{place}/{run.uid}.json"
    found = files(folder)
    manifest = json.loads(found[known.manifest])
    assert {one["path"] for one in manifest["tables"]} == {
        f"{table}/{place}/{run.uid}.parquet"
        for table in ("runs", "nodes", "series", "measurements", "events", "distributions", "artifacts")
    }
    assert {one["path"] for one in manifest["artifacts"]} == {
        artifacts.path_of(artifact.sha256).join(("files/", "")) for artifact in run.artifacts.all()
    }
    listed = manifest["tables"] + manifest["artifacts"]
    assert {one["path"]: (one["sha256"], one["size"]) for one in listed} == {
        name: (store.digest(content), len(content)) for name, content in found.items() if name != known.manifest
    }
    assert known.size == sum(one["size"] for one in listed)


def test_archiving_again_writes_nothing(folder: Path) -> None:
    run = a_full_run()
    archived(run)
    times = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    before = files(folder)
    ArchivedRun.objects.all().delete()
    archived(run)
    assert files(folder) == before
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == times


class Killed(BaseException):
    """As a SIGKILL would end it: nothing of the archive's own catches it."""


@pytest.mark.parametrize("survivors", range(10))
def test_an_attempt_killed_between_two_files_is_gone_on_with(
    folder: Path, monkeypatch: pytest.MonkeyPatch, survivors: int
) -> None:
    run, written, write = a_full_run(), list[str](), store._write
    room = survivors

    def counted(place: Storage, path: str, source: Any) -> None:
        if len(written) == room:
            raise Killed
        written.append(path)
        write(place, path, source)

    monkeypatch.setattr(store, "_write", counted)
    with pytest.raises(Killed):
        archive.archive(run_id=run.pk, now=NOW)
    assert not ArchivedRun.objects.exists()
    assert not list(folder.glob("manifests/**/*.json")), "a manifest says that all is there"
    room = 10
    archived(run)
    assert len(written) == len(set(written)) == 10, "no file is written twice"
    before = held(run)
    forget_everything()
    restored(archive.archive_storage())
    assert held(Run.objects.get()) == before


def test_half_a_file_under_its_own_name_is_written_anew(folder: Path) -> None:
    run = a_full_run()
    known = archived(run)
    whole = files(folder)
    ArchivedRun.objects.all().delete()
    (folder / known.manifest).unlink()
    (path,) = folder.glob("series/**/*.parquet")
    path.write_bytes(path.read_bytes()[:100])
    archived(run)
    assert files(folder) == whole


def test_a_run_that_is_sealed_again_is_archived_anew_under_the_same_names(folder: Path) -> None:
    run = a_full_run()
    first = archived(run)
    Series.objects.filter(run=run).update(mean=1.0)
    assert seal.reseal(run_id=run.pk)
    assert archive.due(now=NOW, limit=5) == [run.pk]
    second = archived(run)
    assert second.manifest == first.manifest
    assert second.manifest_sha256 != first.manifest_sha256
    assert archive.verify(archive.archive_storage(), second)
    verified = archive.verify(archive.archive_storage(), second)
    assert len(files(folder)) == 1 + len(verified.files()), "nothing is left of what lay there before"


def test_a_table_that_the_newer_seal_lacks_is_gone_from_the_archive(folder: Path) -> None:
    run = a_full_run()
    archived(run)
    run.events.all().delete()
    ArchivedRun.objects.all().delete()
    archived(run)
    assert not list(folder.glob("events/**/*.parquet"))


def test_a_run_that_is_not_sealed_is_not_archived(folder: Path) -> None:
    run = a_run(state="ended", sealed_at=None)
    assert not archive.archive(run_id=run.pk, now=NOW)
    assert archive.due(now=NOW, limit=5) == []
    with pytest.raises(Run.DoesNotExist):
        archive.archive(run_id=run.pk + 1, now=NOW)


def test_without_an_archive_nothing_is_due_and_the_remedy_is_said() -> None:
    run = a_run()
    assert archive.due(now=NOW, limit=5) == []
    with pytest.raises(archive.NoArchive, match="SPLASHBOARD_ARCHIVE"):
        archive.archive(run_id=run.pk, now=NOW)


def test_runs_that_the_scale_rig_made_up_are_archived_when_they_are_named_alone(folder: Path) -> None:
    run = a_run(provenance="rig")
    assert archive.due(now=NOW, limit=5) == []
    call_command("archive_runs", stdout=io.StringIO())
    assert not ArchivedRun.objects.exists()
    call_command("archive_runs", str(run.pk), stdout=io.StringIO())
    assert ArchivedRun.objects.exists()


# Field of the warehouse -> the archive's column, where they are not called the same; None: not of the run, on purpose.
ELSEWHERE: dict[type[Model], dict[str, str | None]] = {
    Run: {"uid": "run", "workload": "workload_hash", "load_level": "threads", "state": None, "seal_attempts": None}
    | {"seal_due_at": None, "created_at": None, "failed_checks": None, "is_excluded": "exclusions"},
    RunNode: {"number": "node", "name": "node_name", "configuration": "variables"},
    Series: {"pk": None, "base": None, "offset": None, "length": None},
    Measurement: {},
    Event: {"kind": "event", "node": "node_name"},
    Distribution: {},
    Artifact: {"name": "artifact", "sha256": "artifact_sha256", "created_at": None},
}
TABLES = ("runs", "nodes", "series", "measurements", "events", "distributions", "artifacts")


@pytest.mark.parametrize(("model", "table"), list(zip(ELSEWHERE, TABLES, strict=True)))
def test_every_field_of_a_run_has_its_column(model: type[Model], table: str) -> None:
    names = {field.name: ELSEWHERE[model].get(field.name, field.name) for field in model._meta.concrete_fields}
    wanted = {column for field, column in names.items() if field not in ("id", "run") and column is not None}
    assert wanted <= set(SCHEMAS[table].names)


# ---------------------------------------------------------------- damage


def test_damaged_samples_are_not_archived_and_run_node_and_metric_are_named(folder: Path) -> None:
    run = a_full_run()
    row = Series.objects.filter(run=run, metric__key="mysql.status.Com_commit").get()
    block = Block.objects.get(run=run, node=row.node)
    data = bytearray(bytes(block.data or b""))
    data[row.offset + row.length - 1] ^= 1
    Block.objects.filter(run=run, node=row.node).update(data=bytes(data))
    assert not archive.attempt(run_id=run.pk, now=NOW)
    tried = ArchiveAttempt.objects.get(run=run)
    assert f"on db1 in run {run.pk} are damaged" in tried.problem
    assert not list(folder.glob("manifests/**/*.json"))
    assert tried.due_at > NOW
    assert archive.due(now=NOW, limit=5) == []
    assert archive.due(now=tried.due_at + timedelta(seconds=1), limit=5) == [run.pk]
    assert archive.due(now=tried.due_at - timedelta(hours=2), limit=5) == [run.pk], "the clock was set back"


def test_an_attempt_that_succeeds_forgets_those_that_did_not(folder: Path) -> None:
    run = a_full_run()
    artifact = run.artifacts.get(name="load.png")
    default_storage.delete(artifacts.path_of(artifact.sha256))
    assert not archive.attempt(run_id=run.pk, now=NOW)
    assert "load.png" in ArchiveAttempt.objects.get().problem
    artifacts.keep(b"\x89PNG")
    assert archive.attempt(run_id=run.pk, now=NOW)
    assert not ArchiveAttempt.objects.exists()


def test_what_the_disk_gives_back_otherwise_is_not_taken_for_archived(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = a_full_run()
    write = store._write

    def rotten(place: Storage, path: str, source: Any) -> None:
        write(place, path, source)
        if path.startswith("series/"):
            (folder / path).write_bytes(b"PAR1")

    monkeypatch.setattr(store, "_write", rotten)
    with pytest.raises(archive.Damaged, match="reads differently"):
        archive.archive(run_id=run.pk, now=NOW)
    assert not ArchivedRun.objects.exists()


def test_a_damaged_file_is_named_with_what_to_do_and_the_other_runs_are_restored(folder: Path) -> None:
    runs = [a_full_run(), a_full_run(repetition=2)]
    for run in runs:
        archived(run)
    (path,) = folder.glob(f"series/**/{runs[0].uid}.parquet")
    content = bytearray(path.read_bytes())
    content[200] ^= 4
    path.write_bytes(bytes(content))
    (gone,) = folder.glob(f"events/**/{runs[0].uid}.parquet")
    forget_everything()
    source = archive.archive_storage()
    damaged, whole = (restored(source, uids=[run.uid])[0] for run in runs)
    assert f"{runs[0].uid}.parquet of the archive has changed" in damaged.problem
    assert "restore it from a backup" in damaged.problem
    assert whole.run is not None
    assert [run.uid for run in Run.objects.all()] == [runs[1].uid], "half a run is none"
    gone.unlink()
    assert any("missing from the archive" in one.problem for one in restored(archive.archive_storage()))


def reworded(folder: Path, known: ArchivedRun, old: str, new: str) -> None:
    path = folder / known.manifest
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"version": 1', '"version": 3', "layout 3, this installation reads 2: update it"),
        ('"version": 1', '"version": ', "not a manifest"),
        ('"path": "series/', '"path": "../../series/', "not a path within the archive"),
    ],
)
def test_a_manifest_that_cannot_be_followed_is_named(folder: Path, old: str, new: str, said: str) -> None:
    known = archived(a_full_run())
    reworded(folder, known, old, new)
    forget_everything()
    (found,) = restored(archive.archive_storage())
    assert said in found.problem
    assert not Run.objects.exists()


def test_a_manifest_that_names_files_of_another_run_does_not_delete_them(folder: Path) -> None:
    run, other = a_full_run(), a_full_run(repetition=2)
    known, _ = archived(run), archived(other)
    whole = files(folder)
    reworded(folder, known, str(run.uid), str(other.uid))
    ArchivedRun.objects.filter(run=run).delete()
    archived(run)
    assert files(folder) == whole


def test_restoring_leaves_alone_what_is_there(folder: Path) -> None:
    run = a_full_run()
    archived(run)
    Run.objects.filter(pk=run.pk).update(tags=["mine"])
    before = held(run)
    (found,) = restored(archive.archive_storage())
    assert (found.run, found.problem) == (None, "")
    assert held(run) == before


def test_runs_are_chosen_by_uid_platform_workload_and_month(folder: Path) -> None:
    run = a_full_run()
    archived(run)
    source = archive.archive_storage()
    here: list[dict[str, Any]] = [
        {"uids": [run.uid]},
        {"platform": "mariadb"},
        {"workload": "oltp_write_only"},
        {"month": "2026-01", "platform": "mariadb"},
    ]
    elsewhere: list[dict[str, Any]] = [{"platform": "pxc"}, {"workload": "oltp"}, {"month": "2026-02"}]
    assert [len(archive.chosen(source, **which)) for which in here] == [1, 1, 1, 1]
    assert [len(archive.chosen(source, **which)) for which in elsewhere] == [0, 0, 0]
    with pytest.raises(archive.Damaged, match="no manifest of run"):
        archive.chosen(source, uids=[uuid4()])


def test_a_run_of_another_system_of_the_same_name_is_refused(folder: Path) -> None:
    run = a_full_run()
    archived(run)
    system = run.system
    run.measurements.all().delete()
    run.distributions.all().delete()
    run.delete()
    system.settings = {"sync_binlog": "0"}
    system.save()
    (found,) = restored(archive.archive_storage())
    assert "another settings" in found.problem
    assert not Run.objects.exists()
