"""Runs in one file: a zip of an archive that holds only them."""

import io
import tempfile
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.core.files.storage import Storage
from django.db import transaction

from apps.runs.archive import manifest, retention, store, write
from apps.runs.archive.store import Damaged
from apps.runs.models import Run

# Only in files of earlier releases, which had a format of their own.
_EARLIER = "bundle.json"


def export(*, run_ids: Collection[int], path: Path) -> int:
    """Writes sealed runs to a zip file and returns their number; moved samples are fetched from the archive. Nothing is
    written when it raises Run.DoesNotExist, ArchiveTrouble."""
    chosen = sorted(set(run_ids))
    retention.fetch(chosen)
    with tempfile.TemporaryDirectory() as folder:
        storage = store.storage_at(folder)
        for run_id in chosen:
            _write(storage, run_id)
        _zip(Path(folder), path)
    return len(chosen)


@transaction.atomic
def _write(storage: Storage, run_id: int) -> None:
    run = write.locked(run_id, wait=True)
    if run is None:
        raise Run.DoesNotExist(f"no complete run {run_id}: only complete runs can be exported")
    written = write.written(storage, run)
    store.put(storage, write.manifest_path(run), io.BytesIO(manifest.encoded(written)))


def _zip(folder: Path, path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for each in sorted(folder.rglob("*")):
            if each.is_file():
                file.write(each, each.relative_to(folder))


@contextmanager
def unpacked(path: Path) -> Iterator[Storage]:
    """The archive in an exported file. Raises Damaged, OSError."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            with zipfile.ZipFile(path) as file:
                if _EARLIER in file.namelist():
                    raise Damaged(f"{path.name} is of an earlier release: export the runs again with this one")
                file.extractall(folder)
        except (zipfile.BadZipFile, zlib.error) as error:
            raise Damaged(f"{path.name} is damaged or no zip file ({error}): use one that export_runs wrote") from error
        yield store.storage_at(folder)
