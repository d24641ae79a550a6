"""Archives a run: writes its files, each read back and compared, then its manifest."""

import io
import tempfile
from collections.abc import Iterable
from datetime import datetime
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
from django.core.files.storage import Storage
from django.db import transaction

from apps.runs.archive import content, manifest, refill, samples, store, tables
from apps.runs.archive.content import UnreadableSamples
from apps.runs.archive.manifest import ArtifactFile, Manifest, TableFile
from apps.runs.archive.troubles import ArchiveTrouble, Damaged
from apps.runs.models import ArchiveAttempt, ArchivedRun, Artifact, Run, RunNode
from apps.runs.storage import artifacts

# A third smaller than level 1; runs are written once, so that the time is a small part of archiving.
_LEVEL = 9
# The differences of a counter are small.
_ENCODINGS = {f"{tables.INTEGERS}.list.element": "DELTA_BINARY_PACKED"}


def archive(*, run_id: int, now: datetime) -> bool:
    """Archives a sealed run. True: it is in the archive, now or before, and verified. False: not sealed, or being
    sealed or archived by another process.

    Existing files are compared, not written again, so that an interrupted attempt is continued. Of an outdated entry,
    moved samples are fetched first. Raises Run.DoesNotExist, ArchiveTrouble.
    """
    storage = store.archive_storage()
    _fetch_outdated(storage, run_id, now=now)
    with transaction.atomic():
        run = locked(run_id)
        if run is None:
            return False
        known = ArchivedRun.objects.filter(run=run).first()
        if known and known.moved_at:
            # Its samples are only in the archive.
            verify(storage, known)
            return not known.is_outdated
        path = manifest_path(run)
        before = {one for place in {path, known.manifest if known else path} for one in _files_of(storage, place, run)}
        files = written(storage, run)
        # Files at old paths are deleted, so that readers of all files see no row twice; their manifest last, which an
        # interrupted attempt needs to find the others.
        old = before - {path, *(file.path for file in files.tables)}
        for one in sorted(old, key=lambda one: (known is not None and one == known.manifest, one)):
            store.delete(storage, one)
        head = store.put(storage, path, io.BytesIO(manifest.encoded(files)))
        ArchivedRun.objects.update_or_create(
            run=run,
            defaults={
                "manifest": path,
                "manifest_sha256": head.sha256,
                "size": files.size(),
                "archived_at": now,
                "moved_at": None,
                "fetched_at": known.fetched_at if known else None,
                "is_outdated": False,
            },
        )
        ArchiveAttempt.objects.filter(run=run).delete()
    return True


@transaction.atomic
def _fetch_outdated(storage: Storage, run_id: int, *, now: datetime) -> None:
    """Moved samples of an outdated entry, committed before any of its files is replaced: files that are not those of
    its manifest, after an interruption, could no longer be fetched. Raises Run.DoesNotExist, Damaged, StoreUnreachable.
    """
    run = locked(run_id)
    known = ArchivedRun.objects.filter(run=run, is_outdated=True).exclude(moved_at=None).first() if run else None
    if run is None or known is None:
        return
    refill.refill(storage, manifest.read(storage, known.manifest, sha256=known.manifest_sha256), run)
    ArchivedRun.objects.filter(run=run).update(moved_at=None, fetched_at=now)


def verify(storage: Storage, known: ArchivedRun) -> Manifest:
    """Reads and verifies all files of an archived run. Raises Damaged, StoreUnreachable."""
    found = manifest.read(storage, known.manifest, sha256=known.manifest_sha256)
    for one in found.files():
        with store.verified(storage, one.stored()):
            pass
    return found


def locked(run_id: int, *, wait: bool = False) -> Run | None:
    """The sealed run, locked until the transaction ends against resealing and archiving; None: not sealed, or locked
    by another process, unless `wait`. Raises Run.DoesNotExist."""
    held = Run.objects.select_for_update(no_key=True, of=("self",), skip_locked=not wait)
    related = ("system__release__platform", "system__hardware_class", "workload__primary_metric", "load_level")
    run = held.select_related(*related).filter(pk=run_id).first()
    if run is None and not Run.objects.filter(pk=run_id).exists():
        raise Run.DoesNotExist(f"there is no run {run_id}")
    return run if run and run.state == Run.State.SEALED else None


def _files_of(storage: Storage, path: str, run: Run) -> list[str]:
    """Paths of a manifest and its tables, without any that belong to another run; empty: no readable manifest."""
    try:
        named = [path, *(one.path for one in manifest.read(storage, path).tables)]
    except Damaged:
        return []
    return [one for one in named if one.rpartition("/")[2].partition(".")[0] == str(run.uid)]


def manifest_path(run: Run) -> str:
    return tables.manifest_path(_folder(run), str(run.uid))


def _folder(run: Run) -> str:
    return tables.partition(
        platform=run.system.release.platform.slug,
        workload=run.workload.name,
        workload_hash=run.workload.content_hash,
        started_at=run.started_at,
    )


def written(storage: Storage, run: Run, *, compact: bool = False) -> Manifest:
    """Writes the run's files, but not the manifest, which is returned. `compact`: only what cannot be computed from
    the rest, and not compressed, for a file that is compressed as a whole. Raises ArchiveTrouble."""
    folder = _folder(run)
    kept = [_put_artifact(storage, artifact) for artifact in Artifact.objects.filter(run=run).order_by("name")]
    files = []
    for table, batches in content.batches(run, compact=compact).items():
        with tempfile.TemporaryFile() as local:
            rows = write_table(local, table, batches, compression="none" if compact else "zstd")
            if not rows:
                continue
            if table == "series":
                _compare(local, run, compact=compact)
            stored = store.put(storage, tables.table_path(table, folder, str(run.uid)), local)
        files.append(TableFile(table=table, path=stored.path, sha256=stored.sha256, size=stored.size, rows=rows))
    platform, workload, month = (part.partition("=")[2] for part in folder.split("/"))
    return Manifest(
        version=tables.COMPACT if compact else tables.WHOLE,
        run=str(run.uid),
        platform=platform,
        workload=workload,
        month=month,
        sealed_at=run.sealed_at.isoformat() if run.sealed_at else "",
        derivation=run.derivation,
        tables=sorted(files, key=lambda one: one.table),
        artifacts=kept,
    )


def _put_artifact(storage: Storage, artifact: Artifact) -> ArtifactFile:
    try:
        found = artifacts.read_artifact(artifact)
    except artifacts.DamagedArtifact as error:
        raise ArchiveTrouble(str(error)) from error
    stored = store.put(storage, tables.file_path(artifact.sha256), io.BytesIO(found))
    return ArtifactFile(name=artifact.name, path=stored.path, sha256=stored.sha256, size=stored.size)


def write_table(local: BinaryIO, table: str, batches: Iterable[pa.RecordBatch], *, compression: str = "zstd") -> int:
    """Writes one row group per batch to `local` and returns the number of rows."""
    schema, rows = tables.SCHEMAS[table], 0
    encoded = {path: name for path, name in _ENCODINGS.items() if path.partition(".")[0] in schema.names}
    # In tables of a few rows, dictionaries and Arrow's own copy of the schema would be most of the file.
    plain = [field.name for field in schema if not pa.types.is_list(field.type)] if table == "series" else False
    options = {"use_dictionary": plain, "column_encoding": encoded or None, "store_schema": False}
    level = None if compression == "none" else _LEVEL
    with pq.ParquetWriter(local, schema, compression=compression, compression_level=level, **options) as writer:
        for batch in batches:
            writer.write_batch(batch, row_group_size=max(batch.num_rows, 1))
            rows += batch.num_rows
    return rows


def _compare(local: BinaryIO, run: Run, *, compact: bool) -> None:
    """Compares the file's samples with the warehouse's, bit by bit. Raises UnreadableSamples."""
    names = dict(RunNode.objects.filter(run=run).values_list("number", "name"))
    read = samples.series_of(local)
    for series, column in content.stored_series(run, names):
        if column is None and compact:
            continue
        node, key, back = next(read)
        same = back is None if column is None else back is not None and back.same_as(column)
        if (node, key) != (series.node, series.metric.key) or not same:
            raise UnreadableSamples(
                f"{series.metric.key} on {names[series.node]} in run {run.pk} reads differently from Parquet"
            )
