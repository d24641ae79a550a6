"""Runs in one file: an archive that holds only them, as a zip, or compact: as a tar compressed as a whole."""

import io
import lzma
import shutil
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from django.conf import settings
from django.core.files.storage import Storage
from django.db import transaction

from apps.core.units import with_unit
from apps.runs.archive import manifest, pack, retention, store, write
from apps.runs.archive.troubles import TOO_LARGE, Damaged
from apps.runs.models import Run

# Only in files of earlier releases, which had a format of their own.
_EARLIER = "bundle.json"
COMPACT_SUFFIX = ".tar.xz"
FILE_SUFFIXES = (".zip", COMPACT_SUFFIX)
# A window of 32 MiB: larger than all files of one table of the example study.
_PRESET: Final = 8


def export(*, run_ids: Collection[int], path: Path) -> int:
    """Writes sealed runs to a file and returns their number; moved samples are fetched from the archive. A name that
    ends in .tar.xz: compact, for restoring alone, many times smaller where runs are short and alike. Nothing is written
    when it raises Run.DoesNotExist, ArchiveTrouble."""
    chosen, compact = sorted(set(run_ids)), path.name.endswith(COMPACT_SUFFIX)
    retention.fetch(chosen)
    with tempfile.TemporaryDirectory() as folder:
        storage = store.storage_at(folder)
        for run_id in chosen:
            _write(storage, run_id, compact=compact)
        (_tar if compact else _zip)(Path(folder), path)
    return len(chosen)


@transaction.atomic
def _write(storage: Storage, run_id: int, *, compact: bool) -> None:
    run = write.locked(run_id, wait=True)
    if run is None:
        raise Run.DoesNotExist(f"no complete run {run_id}: only complete runs can be exported")
    written = write.written(storage, run, compact=compact)
    store.put(storage, write.manifest_path(run), io.BytesIO(manifest.encoded(written)))


def _zip(folder: Path, path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for each in _files(folder):
            file.write(each, each.relative_to(folder))


def _tar(folder: Path, path: Path) -> None:
    """Files of one table follow each other: what they share is stored once."""
    with tarfile.open(path, "w:xz", preset=_PRESET) as file:
        for each in _files(folder):
            file.add(each, str(each.relative_to(folder)), filter=_plain)


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Without the user and the times of this machine."""
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry


def _files(folder: Path) -> list[Path]:
    return [each for each in sorted(folder.rglob("*")) if each.is_file()]


# Raised by Python's modules for files that nobody packed so: a method or version that they do not know, an encrypted
# entry (RuntimeError), names that are no UTF-8 (ValueError) or empty (IndexError).
_UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, tarfile.TarError, lzma.LZMAError, EOFError, struct.error),
    *(NotImplementedError, RuntimeError, ValueError, IndexError),
)


@contextmanager
def unpacked(path: Path) -> Iterator[Storage]:
    """The archive in an exported file. Raises Damaged, OSError."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = _unpacked(path, folder)
        except _UNREADABLE as error:
            raise Damaged(
                f"{path.name} is damaged or of another kind ({error!s:.200}): use one that export_runs wrote"
            ) from error
        except MemoryError as error:
            raise Damaged(f"{path.name} {TOO_LARGE}") from error
        yield found


def _unpacked(path: Path, folder: str) -> Storage:
    if path.name.endswith(COMPACT_SUFFIX):
        with tarfile.open(path, "r:xz", encoding="utf-8", errors="strict") as tar:
            pack.pack(_entries(tar, Path(folder)), Path(folder))
        return pack.PackedFiles(Path(folder))
    with zipfile.ZipFile(path) as file:
        if _EARLIER in file.namelist():
            raise Damaged(f"{path.name} is of an earlier release: export the runs again with this one")
        for entry in file.infolist():
            _require_plain(entry.filename)
        _require_room(Path(folder), sum(entry.file_size for entry in file.infolist()))
        file.extractall(folder)  # noqa: S202 - of a zip file, which cannot lead out of the folder
    return store.storage_at(folder)


def _require_plain(name: str) -> None:
    """Raises ValueError for a name that cannot be shown."""
    if not name.isprintable():
        raise ValueError(f"an entry has the name {name!a:.80}")


def _require_room(folder: Path, size: int) -> None:
    """Raises Damaged before a small file of many zeros fills the disk, on which the database may lie too."""
    free = shutil.disk_usage(folder).free - settings.LEAST_FREE_BYTES
    if size > free:
        needed, there = with_unit(size, "bytes"), with_unit(max(free, 0), "bytes")
        raise Damaged(
            f"the file unpacks to {needed}, {folder.parent} has room for {there}: set TMPDIR to a larger disk"
        )


def _entries(tar: tarfile.TarFile, folder: Path) -> Iterator[tuple[str, IO[bytes]]]:
    for entry in tar:
        _require_plain(entry.name)
        _require_room(folder, entry.size)
        source = tar.extractfile(entry) if entry.isfile() else None
        if source is not None:
            yield entry.name, source
