"""Raw files of runs in object storage (Django's default storage), under their SHA-256: `ab/abcdef…`."""

import errno
import logging
import os
import pwd
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from django.core.files.base import ContentFile, File
from django.core.files.storage import default_storage
from django.db import connection, transaction

from apps.core.server import space
from apps.runs.models import Artifact
from workers.protocol.wire import checksum

log = logging.getLogger(__name__)


class DamagedArtifact(Exception):
    """An artifact is missing in storage or does not match its hash."""


class StoreClosed(Exception):
    """The files are there, and this process may not read or write them."""

    def __init__(self) -> None:
        folder = space.name_of(Path(default_storage.path("")))
        super().__init__(f"{folder} belongs to another user than the server's: chown -R {_account()} {folder}")


NAME = re.compile(r"[0-9a-f]{64}")
# Of folders of other users, and of a disk that was mounted to be read.
CLOSED = (errno.EACCES, errno.EPERM, errno.EROFS)


def path_of(sha256: str) -> str:
    return f"{sha256[:2]}/{sha256}"


def keep(content: bytes) -> str:
    """Stores `content` durably, once; returns its SHA-256. Raises StoreClosed; OSError, for example when the disk is
    full.

    Call it in the transaction that inserts its row, best one of `atomic`: until its end no clean-up removes the file.
    """
    sha256 = checksum(content)
    path = path_of(sha256)
    _lock(sha256, is_shared=True)
    with _opened():
        # A crash may have left a truncated file: compare the content.
        if default_storage.exists(path) and _read(path) == content:
            return sha256
        default_storage.save(path, ContentFile(content))
        _sync(path)
    return sha256


@contextmanager
def atomic() -> Iterator[Callable[[bytes], str]]:
    """A transaction and its `keep`. If it fails, the files that it stored are removed, unless a run has them."""
    stored: list[str] = []

    def keep_here(content: bytes) -> str:
        stored.append(checksum(content))  # before: a write that fails may leave a part
        return keep(content)

    try:
        with transaction.atomic():
            yield keep_here
    except Exception:
        try:
            remove_unused(stored)
        except Exception:
            log.exception("files of a refused upload are left in storage; deletion.remove_leftovers removes them")
        raise


def is_stored(sha256: str) -> bool:
    """Whether the file is there. Raises StoreClosed when it cannot be read, or no other could be written; OSError and
    what an object store raises."""
    path = path_of(sha256)
    if (folder := _folder()) is None:
        return default_storage.exists(path)
    with _opened():
        try:
            (folder / path).open("rb").close()
            is_there = True
        except FileNotFoundError:
            is_there = False
        if folder.exists() and not os.access(folder, os.R_OK | os.W_OK | os.X_OK, effective_ids=True):
            raise PermissionError(errno.EACCES, "not writable", str(folder))
    return is_there


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


def stored_in(folder: str) -> list[str]:
    """The SHA-256 of each file whose SHA-256 begins with `folder`, two hexadecimal digits."""
    try:
        _, names = default_storage.listdir(folder)
    except FileNotFoundError:
        return []
    return [name for name in names if NAME.fullmatch(name) and name.startswith(folder)]


def age(sha256: str, *, now: datetime) -> timedelta:
    """Time since the file was stored, by the store's clock; 0: it is gone."""
    try:
        return now - default_storage.get_modified_time(path_of(sha256))
    except FileNotFoundError:
        return timedelta()


def open_artifact(artifact: Artifact) -> "File[bytes]":
    """The open file, to be closed by the caller. Raises DamagedArtifact when it is missing or may not be read."""
    try:
        with _opened():
            return default_storage.open(path_of(artifact.sha256), "rb")
    except StoreClosed as error:
        raise DamagedArtifact(f"artifact {artifact.name} of run {artifact.run_id} cannot be read: {error}") from error
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


def _folder() -> Path | None:
    """None: an object store."""
    try:
        return Path(default_storage.path(""))
    except NotImplementedError:
        return None


@contextmanager
def _opened() -> Iterator[None]:
    """Raises StoreClosed for a folder of another user's."""
    try:
        yield
    except OSError as error:
        if error.errno in CLOSED and _folder() is not None:
            raise StoreClosed from error
        raise


def _account() -> str:
    """Of this process; its number where it has no name, as in a container."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def _read(path: str) -> bytes:
    with default_storage.open(path, "rb") as stored:
        content: bytes = stored.read()
    return content


def _sync(path: str) -> None:
    """Syncs a local file and its folder, which makes it durable; object stores do so themselves."""
    folder = _folder()
    if folder is None:
        return
    local = folder / path
    for target in (local, local.parent):
        descriptor = os.open(target, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
