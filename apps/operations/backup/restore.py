"""Restores a backup into an empty installation. Artifacts come first and rows last, in one transaction: after an
interruption the database is still empty and the restore can be repeated."""

from itertools import chain
from pathlib import Path

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader

from apps.core.stores import ensure_bucket
from apps.operations.backup import manifest, programs
from apps.operations.backup.manifest import BackupManifest, BadBackup
from apps.operations.backup.verify import contents, files, verify
from apps.operations.backup.write import AGENT_FOLDER, count_rows
from apps.runs.api import artifacts

ANOTHER_FOLDER = "give the restore an empty database, for example `make restore` with SPLASHBOARD_VAR=/a/new/folder"


class HasData(Exception):
    """The installation has data of its own, which a restore would mix with the backup's."""


def restore(folder: Path, *, folder_of_programs: Path | None = None, create_bucket: bool = False) -> BackupManifest:
    """`create_bucket`: of the artifacts, if it is missing. Raises HasData, BadBackup, BucketProblem, ProgramProblem,
    OSError."""
    tables = connection.introspection.table_names()
    if tables:
        raise HasData(f"the database has {len(tables)} tables already: {ANOTHER_FOLDER}")
    found = verify(folder)
    _require_known(found, folder)
    ensure_bucket(default_storage, create=create_bucket)
    for _, content in contents(folder / manifest.ARTIFACTS):
        with transaction.atomic():
            artifacts.keep(content)
    _restore_agent(folder / manifest.AGENT)
    programs.run(
        "pg_restore", "--exit-on-error", "--single-transaction", "--no-owner", "--no-privileges", "--no-comments",
        f"--dbname={connection.settings_dict['NAME']}", folder / manifest.DATABASE, folder=folder_of_programs,
    )  # fmt: skip
    differing = sorted(name for name, count in count_rows().items() if found.rows.get(name) != count)
    if differing:
        raise BadBackup(f"{', '.join(differing)} have other numbers of rows than the manifest says: use another backup")
    return found


def _require_known(found: BackupManifest, folder: Path) -> None:
    if found.postgres > programs.server_major():
        raise BadBackup(
            f"{folder} is of PostgreSQL {found.postgres} and this server of {programs.server_major()}: "
            f"restore it into PostgreSQL {found.postgres} or later"
        )
    loader = MigrationLoader(connection)
    # With those that were squashed since.
    ours = {*loader.graph.nodes, *chain.from_iterable(each.replaces for each in loader.disk_migrations.values())}
    unknown = set(found.migrations) - {f"{app}.{name}" for app, name in ours}
    if unknown:
        raise BadBackup(
            f"{folder} is of a later release ({sorted(unknown)[0]} is not known here): restore it with that release"
        )


def _restore_agent(part: Path) -> None:
    """Files that are there stay."""
    target = settings.VAR_DIR / AGENT_FOLDER
    for name, content in files(part):
        target.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = target / name
        if not path.exists():
            path.touch(mode=0o600)
            path.write_bytes(content)
