"""Chosen runs go into one file, and come back from it elsewhere as they were."""

import io
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import IntegrityError

from apps.catalog.models import System
from apps.core.audit.models import AuditEntry
from apps.runs.archive.catalog import system_of
from apps.runs.archive.content import Row
from apps.runs.archive.tables import file_path
from apps.runs.ingest import accept
from apps.runs.models import Run
from tests.runs.archive.archived import EVENT, NODES, a_full_run, archived, files, forget_everything, held
from tests.runs.uploads import an_open_run, an_upload

pytestmark = pytest.mark.django_db


def exported(file: Path, *runs: Run) -> Path:
    said = io.StringIO()
    call_command("export_runs", *(str(run.pk) for run in runs), "--output", str(file), stdout=said)
    assert f"{len(runs)} runs written" in said.getvalue()
    return file


def restored(file: Path) -> str:
    said = io.StringIO()
    call_command("restore_runs", "--from", str(file), stdout=said, stderr=said)
    return said.getvalue()


def test_chosen_runs_come_back_from_a_file_as_they_were(tmp_path: Path) -> None:
    run, other, _ = a_full_run(), a_full_run(repetition=2), a_full_run(repetition=3)
    before = {one.uid: held(one) for one in (run, other)}
    file = exported(tmp_path / "runs.zip", run, other)
    forget_everything()
    assert "2 of 2 archived runs restored, 0 were here already" in restored(file)
    assert {one.uid: held(one) for one in Run.objects.all()} == before
    assert "0 of 2 archived runs restored, 2 were here already" in restored(file)
    assert {one.uid: held(one) for one in Run.objects.all()} == before
    (entry,) = AuditEntry.objects.filter(action="run.restore")
    assert (entry.kind, entry.subject, entry.after) == ("command", "2 runs", f"from {file}")


def test_a_file_holds_an_archive_that_other_tools_read(folder: Path, tmp_path: Path) -> None:
    run = a_full_run()
    archived(run)
    with zipfile.ZipFile(exported(tmp_path / "runs.zip", run)) as file:
        assert {name: file.read(name) for name in file.namelist()} == files(folder)


def test_a_compact_file_is_smaller_and_gives_the_same_runs(tmp_path: Path) -> None:
    """Statistics and derived metrics are computed again from the samples, by what seals runs."""
    runs = [
        an_upload(run=an_open_run(nodes=list(NODES), repetition=each), nodes=NODES, events=[EVENT]).send(
            measured_from=0.5, measured_to=20.5
        )
        for each in range(1, 5)
    ]
    for run in runs:
        assert accept.seal(run_id=run.pk)
    before = {one.uid: held(one) for one in Run.objects.all()}
    assert any(series["whole_p95"] for series in before[runs[0].uid]["series"])
    compact, whole = (exported(tmp_path / f"runs.{kind}", *runs) for kind in ("tar.xz", "zip"))
    assert compact.stat().st_size < whole.stat().st_size / 2
    forget_everything()
    assert "4 of 4 archived runs restored, 0 were here already" in restored(compact)
    assert {one.uid: held(one) for one in Run.objects.all()} == before


def test_a_run_comes_back_though_others_create_its_system_and_take_its_short_name_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = exported(tmp_path / "runs.tar.xz", a_full_run())
    forget_everything()
    taken = [1, 2, 3]

    def late(row: Row) -> System:
        if taken:
            raise IntegrityError(f"taken the {taken.pop()}. time")
        return system_of(row)

    monkeypatch.setattr(sys.modules["apps.runs.archive.restore"], "system_of", late)
    assert "1 of 1 archived runs restored" in restored(file)
    assert not taken


def test_a_compact_file_writes_nothing_outside_of_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "runs.tar.xz"
    with tarfile.open(file, "w:xz") as tar:
        tar.addfile(tarfile.TarInfo("../outside"), io.BytesIO())
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    with pytest.raises(CommandError, match="no such archived run"):
        restored(file)
    assert {each.name for each in tmp_path.rglob("*")} == {"runs.tar.xz", "a", "b"}


@pytest.mark.parametrize("outcome", [{}, {"outcome": "failed", "reason": "server lost"}])
def test_a_run_whose_batches_nobody_could_read_comes_back_with_them(tmp_path: Path, outcome: dict[str, str]) -> None:
    upload = an_upload(nodes={})
    upload.batches = [b"no gzip", b"nor this"]
    run = upload.send(**outcome)
    assert accept.seal(run_id=run.pk)
    run.refresh_from_db()
    before = held(run)
    assert [artifact["name"] for artifact in before["artifacts"]] == ["batches.tar", "sysbench.txt"]
    file = exported(tmp_path / "runs.zip", run)
    forget_everything()
    restored(file)
    assert held(Run.objects.get()) == before


def test_only_complete_runs_are_exported_and_else_no_file_is_written(tmp_path: Path) -> None:
    whole, still, file = a_full_run(), an_open_run(), tmp_path / "runs.zip"
    for pk, said in ((still.pk, f"no complete run {still.pk}"), (still.pk + 1, f"there is no run {still.pk + 1}")):
        with pytest.raises(CommandError, match=said):
            call_command("export_runs", str(whole.pk), str(pk), "--output", str(file))
    assert not file.exists()


def test_a_file_of_another_kind_is_refused_with_the_remedy(tmp_path: Path) -> None:
    file = tmp_path / "runs.zip"
    for each in (file, tmp_path / "runs.tar.xz"):
        each.write_bytes(b"no zip")
        with pytest.raises(CommandError, match="use one that export_runs wrote"):
            restored(each)
    with zipfile.ZipFile(file, "w") as earlier:
        earlier.writestr("bundle.json", "{}")
    with pytest.raises(CommandError, match="of an earlier release: export the runs again"):
        restored(file)
    with pytest.raises(CommandError, match=r"none\.zip"):
        restored(tmp_path / "none.zip")


def test_a_file_that_lacks_a_raw_file_is_refused_and_names_it(tmp_path: Path) -> None:
    run = a_full_run()
    path = file_path(run.artifacts.get(name="sysbench.txt").sha256)
    file = exported(tmp_path / "runs.zip", run)
    forget_everything()
    with zipfile.ZipFile(file) as whole, zipfile.ZipFile(tmp_path / "cut.zip", "w") as cut:
        for name in whole.namelist():
            if name != path:
                cut.writestr(name, whole.read(name))
    said = io.StringIO()
    with pytest.raises(CommandError, match="could not be restored"):
        call_command("restore_runs", "--from", str(tmp_path / "cut.zip"), stdout=said, stderr=said)
    assert f"{path} is missing" in said.getvalue()
    assert not Run.objects.exists(), "half a run would be taken for restored the next time"


def test_a_file_does_not_show_where_at_aws_its_system_lies(tmp_path: Path) -> None:
    run = a_full_run()
    System.objects.filter(pk=run.system_id).update(aws_region="eu-west-1", aws_kind="cluster", aws_identifier="blast")
    file = exported(tmp_path / "runs.zip", run)
    forget_everything()
    restored(file)
    system = System.objects.get()
    assert (system.aws_region, system.aws_kind, system.aws_identifier) == ("", "", "")
