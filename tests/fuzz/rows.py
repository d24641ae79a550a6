"""Targets that write rows: each runs in a transaction, which is rolled back."""

import gzip
import io
import json
import tempfile
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq
from django.core.files.base import ContentFile
from django.core.files.storage import InMemoryStorage, Storage

from apps.catalog.api import services as catalog
from apps.catalog.api import workload_for
from apps.dispatch.campaigns import file as campaign_file
from apps.published import parse, queries
from apps.published import services as published
from apps.runs import archive
from apps.runs.archive import store
from apps.runs.ingest import accept
from apps.runs.tool_output import artifact_name
from tests.paths import EXAMPLES
from tests.runs.uploads import an_open_run
from tests.support.builders import START, a_load_level, a_system, a_workload
from workers.protocol import wire

UID = UUID("00000000-0000-4000-8000-000000000001")
PARTED = b"\n--\n"  # between an output and batches
SERIES = 4  # kept of the archived run's


def campaign(content: bytes) -> object:
    a_system("db")
    return len(campaign_file.check(content).entries)


def run(content: bytes) -> object:
    """A message that opens a run, and one that ends it, in two lines."""
    opens, _, ends = content.partition(b"\n")
    opened = accept.open_run(
        uid=UID,
        system=a_system("db"),
        workload=a_workload(),
        load_level=a_load_level(),
        repetition=1,
        provenance="agent",
        message=wire.from_json(wire.RunMessage, opens),
    )
    accept.end_run(run=opened, message=wire.from_json(wire.RunEndMessage, ends))
    return None


def sealed(content: bytes) -> object:
    """What a load tool printed, and the agent's batches before they were compressed: sealed, whatever they hold."""
    output, *batches = content.split(PARTED)
    is_ours = output.startswith(b"{")
    tool = "failover" if is_ours else "sysbench"
    workload = workload_for(tool=tool, parameters={}) if is_ours else a_workload()
    opened = an_open_run(system=a_system("db"), workload=workload, uid=UID)
    for sequence, text in enumerate(batches):
        payload = gzip.compress(text, compresslevel=1, mtime=0)
        accept.accept_batch(run=opened, sequence=sequence, checksum=wire.checksum(payload), payload=payload)
    name = artifact_name(tool)
    accept.accept_artifact(run=opened, name=name, sha256=wire.checksum(output), content=output)
    message = wire.RunEndMessage(outcome="succeeded", ended_at=START.isoformat(), batches=len(batches))
    accept.end_run(run=opened, message=message)
    assert accept.seal(run_id=opened.pk)
    opened.refresh_from_db()
    return [opened.reason, opened.tool_version, opened.unparsed_lines]


def article(content: bytes) -> object:
    """Stored in a catalog that has its platforms and metrics, and read as for its page."""
    parse.read("fuzz.yaml", content)
    catalog.seed()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fuzz.yaml"
        path.write_bytes(content)
        slug = published.load_file(path).slug
    return [queries.load_article(slug), queries.list_articles()]


class Archived(NamedTuple):
    path: str
    manifest: dict[str, Any]
    tables: dict[str, pa.Table]
    files: dict[str, bytes]


@cache
def archived() -> Archived:
    """A run of the examples, with a few of its series."""
    with zipfile.ZipFile(EXAMPLES / "settings.zip") as file:
        path = sorted(name for name in file.namelist() if name.startswith("manifests/"))[0]
        manifest = json.loads(file.read(path))
        tables = {each["table"]: pq.read_table(io.BytesIO(file.read(each["path"]))) for each in manifest["tables"]}
        files = {each["path"]: file.read(each["path"]) for each in manifest["artifacts"]}
    tables["series"] = tables["series"].slice(0, SERIES)
    return Archived(path, manifest, tables, files)


def restored(content: bytes) -> object:
    """An archive with right hashes, in which somebody changed columns: {"runs": {"told": 1}}; null drops one."""
    try:
        stated = json.loads(content)
    except (ValueError, RecursionError):
        return None
    given = archived()
    if not isinstance(stated, dict):
        return None
    source, change = InMemoryStorage(), stated.get("manifest")
    tables = {name: _with(table, stated.get(name)) for name, table in given.tables.items()}
    path = keep(source, given._replace(tables=tables), change if isinstance(change, dict) else {})
    return archive.restore(source, path=path).problem


def keep(source: Storage, given: Archived, change: Mapping[str, Any]) -> str:
    """Archives a run with right hashes, as strangers would, with a manifest of which `change` is said otherwise; its
    path."""
    manifest: dict[str, Any] = {**given.manifest, "tables": []}
    for path, held in given.files.items():
        source.save(path, ContentFile(held))
    for entry in given.manifest["tables"]:
        written = io.BytesIO()
        # Without Arrow's own schema: what it keeps as a dictionary is a column of texts to who reads it.
        pq.write_table(given.tables[entry["table"]], written, store_schema=False)
        content = written.getvalue()
        source.save(entry["path"], ContentFile(content))
        manifest["tables"].append({**entry, "sha256": store.digest(content), "size": len(content)})
    source.save(given.path, ContentFile(json.dumps({**manifest, **change}).encode("utf-8", "replace")))
    return given.path


def _with(table: pa.Table, changes: object) -> pa.Table:
    for name, value in changes.items() if isinstance(changes, dict) else ():
        table = _changed(table, name, value)
    return table


def _changed(table: pa.Table, name: str, value: Any) -> pa.Table:
    place = table.schema.get_field_index(name)
    if value is None:
        return table if place < 0 else table.remove_column(place)
    values = [value] * table.num_rows
    try:
        column = pa.array(values, type=table.schema.field(place).type) if place >= 0 else pa.array(values)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        try:
            column = pa.array(values)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            return table
    try:
        return table.append_column(name, column) if place < 0 else table.set_column(place, name, column)
    except (pa.ArrowException, ValueError):
        return table
