"""Archiving: a run's files, each read back and compared, then its manifest."""

import io
import tempfile
from collections.abc import Iterable
from datetime import datetime
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
from django.core.files.storage import Storage
from django.db import transaction

from apps.runs.archive import content, manifest, samples, store, tables
from apps.runs.archive.content import UnreadableSamples
from apps.runs.archive.manifest import ArtifactFile, Manifest, TableFile
from apps.runs.archive.store import ArchiveTrouble, Damaged
from apps.runs.models import ArchiveAttempt, ArchivedRun, Artifact, Run, RunNode
from apps.runs.storage import artifacts

# A run is written once: a third less than level 1, and still a small part of what archiving costs.
_LEVEL = 9
# The differences of a counter are small.
_ENCODINGS = {f"{tables.INTEGERS}.list.element": "DELTA_BINARY_PACKED"}


def archive(*, run_id: int, now: datetime) -> bool:
    """Brings a sealed run to the archive of this installation. True: it lies there, now or before, and was verified.
    False: it is not sealed, or somebody else seals or archives it just now.

    Files that are there already are compared, not written again: an attempt that was broken off is gone on with.
    Raises Run.DoesNotExist, ArchiveTrouble.
    """
    storage = store.archive_storage()
    with transaction.atomic():
        run = locked(run_id)
        if run is None:
            return False
        known = ArchivedRun.objects.filter(run=run).first()
        if known and known.moved_at:
            # Its samples are only there.
            verify(storage, known)
            return True
        path = tables.manifest_path(_folder(run), str(run.uid))
        before = {one for place in {path, known.manifest if known else path} for one in _files_of(storage, place, run)}
        written = _written(storage, run)
        # A run's files keep their names: who reads all files sees none of it twice.
        for one in sorted(before - {path, *(file.path for file in written.tables)}):
            store.delete(storage, one)
        head = store.put(storage, path, io.BytesIO(manifest.encoded(written)))
        ArchivedRun.objects.update_or_create(
            run=run,
            defaults={
                "manifest": path,
                "manifest_sha256": head.sha256,
                "size": written.size(),
                "archived_at": now,
                "fetched_at": known.fetched_at if known else None,
            },
        )
        ArchiveAttempt.objects.filter(run=run).delete()
    return True


def verify(storage: Storage, known: ArchivedRun) -> Manifest:
    """Reads every file of an archived run. Raises Damaged, Unreachable."""
    found = manifest.read(storage, known.manifest, sha256=known.manifest_sha256)
    for one in found.files():
        with store.verified(storage, one.stored()):
            pass
    return found


def locked(run_id: int) -> Run | None:
    """A sealed run that nobody else holds: until the end nobody seals it again, or archives it beside us."""
    held = Run.objects.select_for_update(no_key=True, of=("self",), skip_locked=True)
    related = ("system__release__platform", "system__hardware_class", "workload__primary_metric", "load_level")
    run = held.select_related(*related).filter(pk=run_id).first()
    if run is None and not Run.objects.filter(pk=run_id).exists():
        raise Run.DoesNotExist(f"there is no run {run_id}")
    return run if run and run.state == Run.State.SEALED else None


def _files_of(storage: Storage, path: str, run: Run) -> list[str]:
    """A manifest's path and the paths of its tables; none where there is none. Of this run alone, whatever it says."""
    try:
        named = [path, *(one.path for one in manifest.read(storage, path).tables)]
    except Damaged:
        return []
    return [one for one in named if one.rpartition("/")[2].partition(".")[0] == str(run.uid)]


def _folder(run: Run) -> str:
    return tables.partition(
        platform=run.system.release.platform.slug,
        workload=run.workload.name,
        workload_hash=run.workload.content_hash,
        started_at=run.started_at,
    )


def _written(storage: Storage, run: Run) -> Manifest:
    folder = _folder(run)
    kept = [_put_artifact(storage, artifact) for artifact in Artifact.objects.filter(run=run).order_by("name")]
    files = []
    for table, batches in content.batches(run).items():
        with tempfile.TemporaryFile() as local:
            rows = write_table(local, table, batches)
            if not rows:
                continue
            if table == "series":
                _compare(local, run)
            stored = store.put(storage, tables.table_path(table, folder, str(run.uid)), local)
        files.append(TableFile(table=table, path=stored.path, sha256=stored.sha256, size=stored.size, rows=rows))
    platform, workload, month = (part.partition("=")[2] for part in folder.split("/"))
    return Manifest(
        version=tables.VERSION,
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


def write_table(local: BinaryIO, table: str, batches: Iterable[pa.RecordBatch]) -> int:
    """Rows written to `local`. One row group for each batch."""
    schema, rows = tables.SCHEMAS[table], 0
    encoded = {path: name for path, name in _ENCODINGS.items() if path.partition(".")[0] in schema.names}
    # Where a table has a row or a few, dictionaries and Arrow's own copy of the schema would be most of the file.
    plain = [field.name for field in schema if not pa.types.is_list(field.type)] if table == "series" else False
    options = {"use_dictionary": plain, "column_encoding": encoded or None, "store_schema": False}
    with pq.ParquetWriter(local, schema, compression="zstd", compression_level=_LEVEL, **options) as writer:
        for batch in batches:
            writer.write_batch(batch, row_group_size=max(batch.num_rows, 1))
            rows += batch.num_rows
    return rows


def _compare(local: BinaryIO, run: Run) -> None:
    """The samples of the file are those of the warehouse, to the bit. Raises Unreadable."""
    names = dict(RunNode.objects.filter(run=run).values_list("number", "name"))
    read = samples.series_of(local)
    for series, column in content.stored_series(run, names):
        node, key, back = next(read)
        same = back is None if column is None else back is not None and back.same_as(column)
        if (node, key) != (series.node, series.metric.key) or not same:
            raise UnreadableSamples(
                f"{series.metric.key} on {names[series.node]} in run {run.pk} reads otherwise as Parquet"
            )
