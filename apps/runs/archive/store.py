"""Files of the archive: written atomically, read back after writing, and verified by hash when read."""

import hashlib
import io
import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from botocore.exceptions import BotoCoreError, ClientError
from django.core.exceptions import SuspiciousFileOperation
from django.core.files.base import File
from django.core.files.storage import Storage, storages

from apps.core.stores import store_at
from apps.runs.archive.troubles import Damaged, NoArchive, StoreUnreachable

log = logging.getLogger(__name__)

ALIAS = "archive"
_CHUNK = 1024 * 1024
_IN_MEMORY = 4 * _CHUNK


@dataclass(frozen=True)
class Stored:
    """A file of the archive, its hash and its `size` in bytes."""

    path: str
    sha256: str
    size: int


def configured() -> Storage | None:
    """This installation's archive; None: not configured."""
    return storages[ALIAS] if ALIAS in storages.backends else None


def archive_storage() -> Storage:
    """This installation's archive. Raises NoArchive."""
    storage = configured()
    if storage is None:
        raise NoArchive
    return storage


def storage_at(address: str, *, endpoint_url: str | None = None) -> Storage:
    """The archive at `address`. Raises BadAddress."""
    found: Storage = storages.create_storage(store_at(address, endpoint_url=endpoint_url))
    return found


def put(storage: Storage, path: str, source: BinaryIO) -> Stored:
    """Stores `source` durably and verifies it by reading it back; an identical file is not written again.

    Raises StoreUnreachable, and Damaged when the content differs.
    """
    sha256, size = _digest(source)
    with _answers(path):
        if hash_of(storage, path) != sha256:
            source.seek(0)
            _write(storage, path, source)
            if hash_of(storage, path) != sha256:
                raise Damaged(f"{path} reads differently from the archive than written: check its disk or bucket")
    return Stored(path, sha256, size)


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def hash_of(storage: Storage, path: str) -> str | None:
    """SHA-256 of a file; None: it does not exist. Raises StoreUnreachable."""
    with _answers(path):
        try:
            with storage.open(path, "rb") as stored:
                return _digest(stored)[0]
        except FileNotFoundError:
            return None


@contextmanager
def verified(storage: Storage, stored: Stored) -> Iterator[BinaryIO]:
    """A temporary local copy of the file, verified by its hash; in memory if it is small. Raises Damaged,
    StoreUnreachable."""
    with io.BytesIO() if stored.size <= _IN_MEMORY else tempfile.TemporaryFile() as copy:
        with _answers(stored.path):
            try:
                with storage.open(stored.path, "rb") as source:
                    sha256, _ = _digest(source, copy)
            except FileNotFoundError as error:
                raise Damaged(f"{stored.path} is missing from the archive: {_REMEDY}") from error
        if sha256 != stored.sha256:
            raise Damaged(f"{stored.path} of the archive has changed, its SHA-256 is {sha256}: {_REMEDY}")
        copy.seek(0)
        yield copy


_REMEDY = "restore it from a backup or an earlier version of the object, or archive the run again from its origin"


def read(storage: Storage, path: str) -> bytes:
    """The content of a file. Raises Damaged when it is missing, StoreUnreachable."""
    with _answers(path):
        try:
            with storage.open(path, "rb") as stored:
                content: bytes = stored.read()
        except FileNotFoundError as error:
            raise Damaged(f"{path} is missing from the archive: {_REMEDY}") from error
    return content


def delete(storage: Storage, path: str) -> None:
    """Deletes a file. Raises StoreUnreachable."""
    with _answers(path):
        storage.delete(path)


def folders_and_files(storage: Storage, path: str) -> tuple[list[str], list[str]]:
    """Sorted names; empty for a missing folder. Raises StoreUnreachable."""
    with _answers(path):
        try:
            folders, files = storage.listdir(path)
        except FileNotFoundError:
            return [], []
    return sorted(folders), sorted(files)


@contextmanager
def _answers(path: str) -> Iterator[None]:
    try:
        yield
    except SuspiciousFileOperation as error:
        raise Damaged(f"{path} is not a path within the archive: its manifest is foreign") from error
    except (OSError, BotoCoreError, ClientError) as error:
        # Users see only the exception's text, without the address.
        log.warning("archive, %s: %s", path, error)
        raise StoreUnreachable(f"the archive does not answer, or is full, for {path}: try again later") from error


def _digest(source: "BinaryIO | File[bytes]", copy: BinaryIO | None = None) -> tuple[str, int]:
    """SHA-256 and size of all of `source`, which is also written to `copy`."""
    source.seek(0)
    found, size = hashlib.sha256(), 0
    while chunk := source.read(_CHUNK):
        found.update(chunk)
        size += len(chunk)
        if copy is not None:
            copy.write(chunk)
    return found.hexdigest(), size


def _write(storage: Storage, path: str, source: BinaryIO) -> None:
    """Writes atomically: an object store does so itself; in a folder, the file is renamed once it is on disk, and
    readers skip names that begin with a dot."""
    try:
        local = Path(storage.path(path))
    except NotImplementedError:
        storage.save(path, File(source))
        return
    local.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=local.parent, prefix=".", suffix=".part", delete=False) as part:
        try:
            while chunk := source.read(_CHUNK):
                part.write(chunk)
            part.flush()
            os.fsync(part.fileno())
            Path(part.name).chmod(0o644)
            Path(part.name).replace(local)
        except BaseException:
            Path(part.name).unlink(missing_ok=True)
            raise
    descriptor = os.open(local.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
