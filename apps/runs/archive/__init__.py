"""Finished runs in object storage or a folder, as Parquet for DuckDB, Athena, Trino and Spark.

A run is archived when its manifest exists and all files have the hashes in the manifest.
docs/howto/archive.md describes the layout.
"""

from apps.runs.archive.exports import FILE_SUFFIXES, export, unpacked
from apps.runs.archive.manifest import uid_of
from apps.runs.archive.restore import KnownRows, Restored, chosen, compare_siblings, derive_server_starts, restore
from apps.runs.archive.retention import attempt, attempt_move, due, fetch, movable, move, waiting, with_samples
from apps.runs.archive.store import archive_storage, configured, storage_at
from apps.runs.archive.troubles import ArchiveTrouble, Damaged, NoArchive, StoreUnreachable
from apps.runs.archive.write import archive, verify

__all__ = [
    "FILE_SUFFIXES",
    "ArchiveTrouble",
    "Damaged",
    "KnownRows",
    "NoArchive",
    "Restored",
    "StoreUnreachable",
    "archive",
    "archive_storage",
    "attempt",
    "attempt_move",
    "chosen",
    "compare_siblings",
    "configured",
    "derive_server_starts",
    "due",
    "export",
    "fetch",
    "movable",
    "move",
    "restore",
    "storage_at",
    "uid_of",
    "unpacked",
    "verify",
    "waiting",
    "with_samples",
]
