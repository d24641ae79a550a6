"""Raw files of runs in object storage (Django's default storage), under their SHA-256: `ab/abcdef…`."""

import os
from collections.abc import Iterable
from pathlib import Path

from django.core.files.base import ContentFile, File
from django.core.files.storage import default_storage
from django.db import connection, transaction

from apps.runs.models import Artifact
from workers.protocol.wire import checksum


class DamagedArtifact(Exception):
    """An artifact is missing in storage or does not match its hash."""


def path_of(sha256: str) -> str:
    return f"{sha256[:2]}/{sha256}"


def keep(content: bytes) -> str:
    """Stores `content` durably, once; returns its SHA-256. Raises OSError, for example when the disk is full.

    Call it in the transaction that inserts its row: until its end no clean-up removes the file.
    """
    sha256 = checksum(content)
    path = path_of(sha256)
    _lock(sha256, is_shared=True)
    # A crash may have left a truncated file: compare the content.
    if default_storage.exists(path) and _read(path) == content:
        return sha256
    default_storage.save(path, ContentFile(content))
    _sync(path)
    return sha256


def remove_unused(hashes: Iterable[str]) -> int:
    """Removes the files that no run has any more. Returns how many."""
    removed = 0
    for sha256 in hashes:
        with transaction.atomic():
            _lock(sha256, is_shared=False)
            if not Artifact.objects.filter(sha256=sha256).exists():
                default_storage.delete(path_of(sha256))
                removed += 1
    return removed


def open_artifact(artifact: Artifact) -> "File[bytes]":
    """The open file, to be closed by the caller. Raises DamagedArtifact when it is missing."""
    try:
        return default_storage.open(path_of(artifact.sha256), "rb")
    except FileNotFoundError as error:
        raise DamagedArtifact(
            f"artifact {artifact.name} of run {artifact.run_id} is not in storage: restore {path_of(artifact.sha256)}"
        ) from error


def read_artifact(artifact: Artifact) -> bytes:
    """The content, verified by its hash. Raises DamagedArtifact."""
    with open_artifact(artifact) as stored:
        content: bytes = stored.read()
    if checksum(content) != artifact.sha256:
        raise DamagedArtifact(
            f"artifact {artifact.name} of run {artifact.run_id} has changed: restore {path_of(artifact.sha256)}"
        )
    return content


def _lock(sha256: str, *, is_shared: bool) -> None:
    """Until the end of the transaction. Raises TransactionManagementError outside one, where it would not hold."""
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("an artifact's file and row belong to one transaction")
    name = "pg_advisory_xact_lock_shared" if is_shared else "pg_advisory_xact_lock"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {name}(%s)", [int(sha256[:15], 16)])


def _read(path: str) -> bytes:
    with default_storage.open(path, "rb") as stored:
        content: bytes = stored.read()
    return content


def _sync(path: str) -> None:
    """Syncs a local file and its folder, which makes it durable; object stores do so themselves."""
    try:
        local = Path(default_storage.path(path))
    except NotImplementedError:
        return
    for target in (local, local.parent):
        descriptor = os.open(target, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
