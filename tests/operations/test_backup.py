"""A backup holds what was there, at rest and while batches arrive, and is restored where it mixes with nothing."""

import json
import os
import shutil
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event as Signal
from uuid import uuid4

import boto3
import msgspec
import pytest
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import override_settings

from apps.operations.backup import manifest
from apps.operations.backup.programs import ProgramProblem
from apps.operations.backup.write import write
from apps.operations.models import Backup
from apps.runs.api import accept, artifacts
from apps.runs.models import Artifact
from tests.operations.conftest import EmptyInstallation, rows_of
from tests.runs.uploads import OUTPUT, an_open_run, an_upload
from tests.support import stores
from tests.support.builders import a_load_level, a_system, a_token, a_user, a_workload
from tests.support.object_store import object_store
from tests.support.waiting import eventually
from workers.protocol import wire

pytestmark = pytest.mark.usefixtures("programs")
NOW = datetime(2026, 1, 31, 10, tzinfo=UTC)


def a_backup(folder: Path) -> Path:
    return Path(write(parent=folder, now=NOW).folder)


@pytest.mark.django_db(transaction=True)
def test_rows_artifacts_and_tokens_are_equal_after_a_restore(tmp_path: Path, another: EmptyInstallation) -> None:
    _, secret = a_token(a_user(), name="pipeline")
    assert accept.seal(run_id=an_upload().send().pk)
    an_upload(output=b"another output").send()
    before = rows_of(stores.database_url())
    folder = a_backup(tmp_path)
    done = another.manage("restore", folder)
    assert done.returncode == 0, done.stderr
    assert another.rows() == before
    assert another.artifacts() == set(Artifact.objects.values_list("sha256", flat=True))
    asked = "from django.utils.timezone import now; from apps.accounts.tokens import of_secret as of; "
    assert (
        another.manage("shell", "-v0", "-c", f"{asked}print(of({secret!r}, now()).name)").stdout.strip() == "pipeline"
    )
    assert another.manage("migrate", "--check").returncode == 0


@pytest.mark.django_db(transaction=True)
def test_a_backup_leaves_room_on_the_disk_and_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    left, current = (tmp_path / f"splashboard-2026013{day}T100000Z.partial" for day in (0, 1))
    for folder in (left, current):
        folder.mkdir()
        (folder / "database.dump").touch()
    for folder, hours in ((left, 25), (current, 1)):
        at = (NOW - timedelta(hours=hours)).timestamp()
        os.utime(folder, (at, at))
    full = override_settings(LEAST_FREE_BYTES=shutil.disk_usage(tmp_path).total)
    with full, pytest.raises(OSError, match="another disk"):
        write(parent=tmp_path, now=NOW + timedelta(seconds=1))
    assert [each.name for each in tmp_path.iterdir()] == [current.name]


@pytest.mark.django_db(transaction=True)
def test_what_was_acknowledged_before_is_in_a_backup_of_a_busy_installation(
    tmp_path: Path, another: EmptyInstallation
) -> None:
    system, workload, level = a_system(), a_workload(), a_load_level()
    stop = Signal()
    batches: list[tuple[int, int]] = []
    files: list[str] = []

    def ingest(sender: int) -> None:
        repetition = 0
        try:
            while not stop.is_set():
                repetition += 1
                run = an_open_run(
                    system=system, workload=workload, load_level=level, repetition=sender + 10 * repetition
                )
                upload = an_upload(run=run, output=OUTPUT + f"{sender} {repetition}".encode())
                for sequence in range(len(upload.batches)):
                    upload.send_batch(sequence)
                    batches.append((run.pk, sequence))
                upload.send_output()
                files.append(wire.checksum(upload.output or b""))
                upload.end()
        finally:
            connection.close()

    with ThreadPoolExecutor(3) as pool:
        senders = [pool.submit(ingest, sender) for sender in range(3)]
        try:
            eventually(lambda: len(files) > 5 or _failed(senders), what="runs arrive")
            acknowledged, kept = list(batches), list(files)
            folder = a_backup(tmp_path)
            arrived = len(batches) - len(acknowledged)
        finally:
            stop.set()
        for sender in senders:
            sender.result()
    assert arrived > 0  # it was busy all the while
    done = another.manage("restore", folder)
    assert done.returncode == 0, done.stderr
    assert another.ask("SELECT run_id, sequence FROM runs_batch").issuperset(acknowledged)
    named = {sha256 for (sha256,) in another.ask("SELECT sha256 FROM runs_artifact")}
    assert named.issuperset(kept)
    assert another.artifacts() == named  # each of which has its hash
    counts = {name: len(rows) for name, rows in another.rows().items()}
    held = json.loads((folder / manifest.FILE).read_text())["rows"]
    assert counts == {name: count for name, count in held.items() if count}


def _failed(senders: "list[Future[None]]") -> bool:
    return any(sender.done() for sender in senders)


@pytest.mark.django_db(transaction=True)
def test_an_installation_with_data_is_refused(tmp_path: Path) -> None:
    folder = a_backup(tmp_path)
    with pytest.raises(CommandError, match=r"has [0-9]+ tables already: give the restore an empty database"):
        call_command("restore", folder)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("part", manifest.PARTS)
def test_a_backup_with_a_changed_part_is_refused(tmp_path: Path, another: EmptyInstallation, part: str) -> None:
    an_upload().send()
    folder = a_backup(tmp_path)
    call_command("restore", folder, "--verify")
    content = bytearray((folder / part).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / part).write_bytes(content)
    with pytest.raises(CommandError, match=f"{part} has changed since it was written"):
        call_command("restore", folder, "--verify")
    assert f"{part} has changed" in another.manage("restore", folder).stderr
    assert another.rows() == {}


@pytest.mark.django_db(transaction=True)
def test_a_backup_of_a_later_release_is_refused(tmp_path: Path, another: EmptyInstallation) -> None:
    folder = a_backup(tmp_path)
    found = manifest.read(folder)
    manifest.write(folder, msgspec.structs.replace(found, migrations=[*found.migrations, "runs.9999_later"]))
    assert "runs.9999_later is not known here" in another.manage("restore", folder).stderr
    assert another.rows() == {}


@pytest.mark.django_db(transaction=True)
def test_a_damaged_artifact_is_named_and_the_rest_is_kept(tmp_path: Path) -> None:
    an_upload(output=b"one").send()
    an_upload(output=b"two").send()
    default_storage.delete(artifacts.path_of(wire.checksum(b"one")))
    folder = a_backup(tmp_path)
    assert manifest.read(folder).damaged == [wire.checksum(b"one")]
    assert manifest.read(folder).artifacts == 1
    assert Backup.objects.get().damaged == 1


@pytest.mark.django_db(transaction=True)
def test_no_transaction_is_open_while_artifacts_are_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    an_upload(output=b"one").send()
    read, is_open = artifacts.read_artifact, []

    def noted(artifact: Artifact) -> bytes:
        is_open.append(connection.in_atomic_block)
        return read(artifact)

    monkeypatch.setattr(artifacts, "read_artifact", noted)
    a_backup(tmp_path)
    assert is_open == [False]


@pytest.mark.django_db(transaction=True)
def test_a_backup_is_its_owners_and_complete_once_it_has_its_name(tmp_path: Path) -> None:
    folder = a_backup(tmp_path)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o600}
    with pytest.raises(ProgramProblem, match=r"pg_dump does not run .* name their folder with --programs"):
        write(parent=tmp_path / "other", now=NOW, folder_of_programs=tmp_path)
    assert list((tmp_path / "other").iterdir()) == []
    assert Backup.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_bucket_that_is_missing_is_named_and_made_where_that_is_asked_for(
    tmp_path: Path, another: EmptyInstallation, monkeypatch: pytest.MonkeyPatch
) -> None:
    an_upload().send()
    folder = a_backup(tmp_path)
    others, name = (f"{word}-{uuid4().hex[:8]}" for word in ("others", "artifacts"))
    with object_store(monkeypatch, bucket=others) as endpoint:
        monkeypatch.setenv("S3_ENDPOINT_URL", endpoint)
        monkeypatch.setenv("S3_BUCKET", name)
        refused = another.manage("restore", folder)
        assert refused.stderr.strip().splitlines() == [
            f"CommandError: the bucket {name} of S3_BUCKET is missing: create it, or add --create-bucket"
        ]
        assert another.rows() == {}
        done = another.manage("restore", folder, "--create-bucket")
        assert done.returncode == 0, done.stderr
        store = boto3.client("s3", endpoint_url=endpoint)
        stored = {Path(each["Key"]).name for each in store.list_objects_v2(Bucket=name)["Contents"]}
        store.close()
    assert stored == set(Artifact.objects.values_list("sha256", flat=True))


@pytest.mark.django_db(transaction=True)
def test_the_local_agents_systems_are_in_it(tmp_path: Path, another: EmptyInstallation) -> None:
    with override_settings(VAR_DIR=tmp_path):
        (tmp_path / "agent.d").mkdir()
        (tmp_path / "agent.d" / "single.toml").write_text("[system]\n")
        folder = a_backup(tmp_path)
    assert another.manage("restore", folder).returncode == 0
    restored = another.var / "agent.d" / "single.toml"
    assert restored.read_text() == "[system]\n"
    assert restored.stat().st_mode & 0o777 == 0o600
