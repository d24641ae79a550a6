"""Files of the archive: written so that a half one is never seen, read back after writing, and read by their hash."""

import hashlib
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

log = logging.getLogger(__name__)

ALIAS = "archive"
_CHUNK = 1024 * 1024


class ArchiveTrouble(Exception):
    """What the archive is asked for cannot be had; the text says what to do."""


class NoArchive(ArchiveTrouble):
    def __init__(self) -> None:
        super().__init__("no archive is configured: set SPLASHBOARD_ARCHIVE to a folder or s3://bucket/prefix")


class StoreUnreachable(ArchiveTrouble):
    """The folder or the object store does not answer or has no room: later it may."""


class Damaged(ArchiveTrouble):
    """A file is gone, or is not what its hash says."""


@dataclass(frozen=True)
class Stored:
    """A file of the archive and what it holds; `size` in bytes."""

    path: str
    sha256: str
    size: int


def configured() -> Storage | None:
    """The archive of this installation; None: it has none."""
    return storages[ALIAS] if ALIAS in storages.backends else None


def archive_storage() -> Storage:
    """Raises NoArchive."""
    storage = configured()
    if storage is None:
        raise NoArchive
    return storage


def storage_at(address: str, *, endpoint_url: str | None = None) -> Storage:
    """Raises BadAddress."""
    found: Storage = storages.create_storage(store_at(address, endpoint_url=endpoint_url))
    return found


def put(storage: Storage, path: str, source: BinaryIO) -> Stored:
    """Stores all of `source` durably and reads it back; what is there already is not written again.

    Raises Unreachable, and Damaged when something else comes back.
    """
    sha256, size = _digest(source)
    with _answers(path):
        if hash_of(storage, path) != sha256:
            source.seek(0)
            _write(storage, path, source)
            if hash_of(storage, path) != sha256:
                raise Damaged(f"{path} does not come back from the archive as it was written: check its disk or bucket")
    return Stored(path, sha256, size)


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def hash_of(storage: Storage, path: str) -> str | None:
    """SHA-256 of a file; None: there is none. Raises Unreachable."""
    with _answers(path):
        try:
            with storage.open(path, "rb") as stored:
                return _digest(stored)[0]
        except FileNotFoundError:
            return None


@contextmanager
def verified(storage: Storage, stored: Stored) -> Iterator[BinaryIO]:
    """A local copy of the file for as long as it is read. Raises Damaged when it is not what its hash says,
    Unreachable."""
    with tempfile.TemporaryFile() as copy:
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


_REMEDY = "bring it back from a backup or an earlier version of the object, or archive the run again where it still is"


def read(storage: Storage, path: str) -> bytes:
    """Raises Damaged when there is none, Unreachable."""
    with _answers(path):
        try:
            with storage.open(path, "rb") as stored:
                content: bytes = stored.read()
        except FileNotFoundError as error:
            raise Damaged(f"{path} is missing from the archive: {_REMEDY}") from error
    return content


def delete(storage: Storage, path: str) -> None:
    """Raises Unreachable."""
    with _answers(path):
        storage.delete(path)


def folders_and_files(storage: Storage, path: str) -> tuple[list[str], list[str]]:
    """Names, sorted; none where there is no such folder. Raises Unreachable."""
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
        raise Damaged(f"{path} is no path within the archive: what names it was not written by this product") from error
    except (OSError, BotoCoreError, ClientError) as error:
        # Readers see the sentence, and need not know the address.
        log.warning("archive, %s: %s", path, error)
        raise StoreUnreachable(
            f"the archive does not answer, or has no room, for {path}: try again when it does"
        ) from error


def _digest(source: "BinaryIO | File[bytes]", copy: BinaryIO | None = None) -> tuple[str, int]:
    """SHA-256 and size from the beginning on, copied to `copy` on the way."""
    source.seek(0)
    found, size = hashlib.sha256(), 0
    while chunk := source.read(_CHUNK):
        found.update(chunk)
        size += len(chunk)
        if copy is not None:
            copy.write(chunk)
    return found.hexdigest(), size


def _write(storage: Storage, path: str, source: BinaryIO) -> None:
    """An object store shows a whole object or none. In a folder the file gets its name once it is on the disk: readers
    pass over names that begin with a dot."""
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
