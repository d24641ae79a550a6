"""Writes a backup while everything runs.

One transaction's snapshot gives pg_dump its rows, the manifest its counts, and the artifacts their list. A file is
stored before its row is committed and its content never changes, so the store has every artifact of the snapshot; they
are copied after the transaction, which would keep PostgreSQL from removing old rows.
"""

import io
import logging
import os
import shutil
import tarfile
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder

from apps.core.server import space
from apps.core.units import format_bytes
from apps.operations.backup import manifest, programs
from apps.operations.backup.manifest import BackupManifest
from apps.operations.models import Backup
from apps.runs.api import artifacts, deletion
from apps.runs.models import Artifact

log = logging.getLogger(__name__)

# Raw files are text: fast compression gains most of it.
COMPRESSION = 1
AGENT_FOLDER = "agent.d"
LONGEST = 24 * 3600.0  # s that a backup may take
_TABLES = """
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname = 'public' ORDER BY 1
"""


def write(*, parent: Path, now: datetime, folder_of_programs: Path | None = None) -> Backup:
    """A new folder in `parent`, complete once it has its name. Raises ProgramProblem, OSError; also where the disk, on
    which PostgreSQL may stand, would become full."""
    _remove_partial(parent, now)
    folder = parent / f"splashboard-{now.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    partial = folder.with_name(folder.name + ".partial")
    partial.mkdir(mode=0o700, parents=True)
    try:
        with deletion.no_deletion():
            found = _write_parts(partial, now, folder_of_programs)
        manifest.write(partial, found)
        for path in partial.iterdir():
            path.chmod(0o600)  # secrets of webhooks, passwords of agents' systems
            _sync(path)
        _sync(partial)
        partial.rename(folder)
        _sync(parent)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return Backup.objects.create(
        taken_at=now,
        finished_at=datetime.now(UTC),
        folder=str(folder),
        size=sum(part.size for part in found.parts),
        damaged=len(found.damaged),
    )


def _remove_partial(parent: Path, now: datetime) -> None:
    """What a killed backup left, and no later one will go on with."""
    for left in parent.glob("splashboard-*.partial"):
        if left.stat().st_mtime < now.timestamp() - LONGEST:
            shutil.rmtree(left)


def _require_space(folder: Path, coming: int) -> None:
    """Raises OSError. `coming`: bytes."""
    free = space.free_bytes(folder)
    if free < settings.LEAST_FREE_BYTES + coming:
        needed = f"{format_bytes(coming)} are to be written, and {format_bytes(settings.LEAST_FREE_BYTES)} stay free"
        raise OSError(f"{folder.parent} has {format_bytes(free)} free: {needed}. Name a folder on another disk.")


def count_rows() -> dict[str, int]:
    """Rows by table, of the transaction's snapshot."""
    with connection.cursor() as cursor:
        cursor.execute(_TABLES)
        names = [name for (name,) in cursor.fetchall()]
        found = {}
        for name in names:
            cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(name)}")  # noqa: S608  PostgreSQL's names
            found[name] = cursor.fetchone()[0]
    return found


def _write_parts(folder: Path, now: datetime, folder_of_programs: Path | None) -> BackupManifest:
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        cursor.execute("SELECT pg_export_snapshot()")
        snapshot = cursor.fetchone()[0]
        cursor.execute("SELECT pg_database_size(current_database())")
        _require_space(folder, cursor.fetchone()[0])
        programs.run(
            "pg_dump", "--format=custom", f"--snapshot={snapshot}", f"--file={folder / manifest.DATABASE}",
            folder=folder_of_programs,
        )  # fmt: skip
        rows = count_rows()
        stored = list(Artifact.objects.order_by("sha256").distinct("sha256").values_list("sha256", "run_id", "name"))
        applied = sorted(f"{app}.{name}" for app, name in MigrationRecorder(connection).applied_migrations())
    hashes, damaged = _write_artifacts(folder / manifest.ARTIFACTS, stored)
    _write_agent(folder / manifest.AGENT)
    return BackupManifest(
        format=manifest.FORMAT,
        taken_at=now.isoformat(),
        postgres=programs.server_major(),
        migrations=applied,
        rows=rows,
        artifacts=len(hashes),
        artifact_list=manifest.list_digest(hashes),
        damaged=damaged,
        parts=[manifest.part_of(folder / name) for name in manifest.PARTS],
    )


def _write_artifacts(path: Path, stored: Iterable[tuple[str, int, str]]) -> tuple[list[str], list[str]]:
    """Hashes of what was written, and of what could not be. `stored`: hash, run and name of each."""
    written, damaged = [], []
    with tarfile.open(path, "w:gz", compresslevel=COMPRESSION) as tar:
        for sha256, run_id, name in stored:
            try:
                content = artifacts.read_artifact(Artifact(sha256=sha256, run_id=run_id, name=name))
            except artifacts.DamagedArtifact as error:
                log.error("not in the backup: %s", error)
                damaged.append(sha256)
                continue
            _require_space(path.parent, len(content))
            entry = tarfile.TarInfo(sha256)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
            written.append(sha256)
    return written, damaged


def _write_agent(path: Path) -> None:
    """The local agent's systems with their passwords, which no row holds."""
    with tarfile.open(path, "w:gz", compresslevel=COMPRESSION) as tar:
        for file in sorted((settings.VAR_DIR / AGENT_FOLDER).glob("*.toml")):
            tar.add(file, file.name)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
