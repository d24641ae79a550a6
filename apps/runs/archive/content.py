"""A run's rows for the tables of the archive, read from the warehouse."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from apps.catalog.models import HardwareClass, Metric
from apps.runs.archive import samples
from apps.runs.archive.tables import SCHEMAS, STATISTICS, file_path
from apps.runs.archive.troubles import ArchiveTrouble
from apps.runs.models import Artifact, Block, Distribution, Event, Measurement, Run, RunNode, Series
from apps.runs.quality import exclusion
from apps.runs.storage import codec
from apps.runs.storage.codec import Column

Row = dict[str, Any]
# Samples per row group: the least that a reader of a few series loads, and the most that a writer holds in memory.
SAMPLES_A_GROUP = 1_000_000

# Fields of a run archived unchanged, and fields archived as JSON.
PLAIN_FIELDS = (
    *("repetition", "provenance", "outcome", "reason", "started_at", "ended_at", "sealed_at", "derivation"),
    *("warmup", "duration", "measured_from", "measured_to", "batches_expected"),
    *("server_version", "tool_version", "command", "unparsed_lines", "tags"),
    *("data_bytes", "samplers", "session", "server_started_at"),
)
JSON_FIELDS: dict[str, Any] = {
    "told": dict[str, Any],
    "artifacts_expected": list[dict[str, Any]],
    "host": dict[str, Any],
}
HARDWARE_FIELDS = tuple(SCHEMAS["runs"].field("hardware").type.value_type.names)
METRIC_FIELDS = {"metric_name": "name", **{name: name for name in ("unit", "kind", "direction", "resource", "aspect")}}
BIRTH_FIELDS = ("byte_start", "byte_end", "parser", "parser_version")


class UnreadableSamples(ArchiveTrouble):
    """A run's own samples cannot be read: runs are not archived in part."""


def batches(run: Run, *, compact: bool = False) -> dict[str, Iterator[pa.RecordBatch]]:
    """Table -> rows in a fixed order, so that a run always gives the same files. Iterating over "series" raises
    UnreadableSamples when samples are damaged. `compact`: without statistics and derived metrics."""
    names = dict(RunNode.objects.filter(run=run).values_list("number", "name"))
    rows: dict[str, Callable[[Run, dict[int, str]], Iterator[Row]]] = {
        "runs": _run,
        "nodes": _nodes,
        "measurements": _measurements,
        "events": _events,
        "distributions": _distributions,
        "artifacts": _artifacts,
    }
    found = {table: _one_batch(table, list(made(run, names))) for table, made in rows.items()}
    return found | {"series": _series(run, names, compact=compact)}


def as_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _one_batch(table: str, rows: list[Row]) -> Iterator[pa.RecordBatch]:
    if rows:
        yield pa.RecordBatch.from_pylist(rows, schema=SCHEMAS[table])


def _run(run: Run, _names: dict[int, str]) -> Iterator[Row]:
    system, workload = run.system, run.workload
    release, platform = system.release, system.release.platform
    nodes = list(system.nodes.select_related("hardware_class").order_by("name"))
    classes = {each.slug: each for each in (system.hardware_class, *(node.hardware_class for node in nodes))}
    yield {
        "run": str(run.uid),
        **{f"platform_{name}": getattr(platform, name) for name in ("slug", "name", "replication", "description")},
        "platform_color": platform.color,
        "release": release.version,
        "release_numbers": release.version_key,
        "released_on": release.released_on,
        "system": system.slug,
        "system_name": system.name,
        "endpoint": system.endpoint,
        "settings": as_json(system.settings),
        "labels": system.labels,
        "system_nodes": [
            {"name": node.name, "role": node.role, "zone": node.zone, "hardware_class": node.hardware_class.slug}
            for node in nodes
        ],
        "hardware_class": system.hardware_class.slug,
        "hardware": [_hardware(classes[slug]) for slug in sorted(classes)],
        "tool": workload.tool,
        "workload_name": workload.name,
        "workload_hash": workload.content_hash,
        "parameters": as_json(workload.parameters),
        "workload_description": workload.description,
        "primary_metric": workload.primary_metric.key,
        "threads": run.load_level.threads,
        "rate": run.load_level.rate,
        **{name: getattr(run, name) for name in PLAIN_FIELDS},
        **{name: as_json(getattr(run, name)) for name in JSON_FIELDS},
        "exclusions": as_json(exclusion.history_of(run)),
    }


def _hardware(hardware: HardwareClass) -> Row:
    return {name: getattr(hardware, name) for name in HARDWARE_FIELDS}


def _nodes(run: Run, _names: dict[int, str]) -> Iterator[Row]:
    for node in RunNode.objects.filter(run=run).select_related("configuration", "defaults").order_by("number"):
        try:
            clock = codec.decode_floats(node.clock).tolist() if node.clock else None
        except codec.BadBlock as error:
            raise UnreadableSamples(f"the clock of {node.name} in run {run.pk} is damaged ({error})") from error
        yield {
            "run": str(run.uid),
            "node": node.number,
            "node_name": node.name,
            "role": node.role,
            "samples": node.samples,
            "clock": clock,
            "constants": as_json(node.constants),
            "variables": as_json(node.configuration.variables) if node.configuration else None,
            "defaults": as_json(node.defaults.variables) if node.defaults else None,
        }


def _metric(metric: Metric) -> Row:
    return {"metric": metric.key, **{name: getattr(metric, field) for name, field in METRIC_FIELDS.items()}}


def _birth(row: Measurement | Distribution) -> Row:
    found = {name: getattr(row, name) for name in BIRTH_FIELDS}
    return {"artifact": row.artifact.name, "artifact_sha256": row.artifact.sha256, **found}


def _measurements(run: Run, _names: dict[int, str]) -> Iterator[Row]:
    rows = Measurement.objects.filter(run=run).select_related("metric", "artifact").order_by("metric__key")
    for row in rows:
        yield {"run": str(run.uid), **_metric(row.metric), "value": row.value, **_birth(row)}


def _events(run: Run, _names: dict[int, str]) -> Iterator[Row]:
    for row in Event.objects.filter(run=run).order_by("starts_at", "kind", "label"):
        yield {
            "run": str(run.uid),
            "event": row.kind,
            "label": row.label,
            "starts_at": row.starts_at,
            "ends_at": row.ends_at,
            "node_name": row.node,
            "detail": as_json(row.detail),
            "from_output": row.from_output,
        }


def _distributions(run: Run, names: dict[int, str]) -> Iterator[Row]:
    rows = Distribution.objects.filter(run=run).select_related("metric", "artifact")
    for row in rows.order_by("metric__key", "node", "starts_at"):
        yield {
            "run": str(run.uid),
            "node": row.node,
            "node_name": names.get(row.node, ""),
            **_metric(row.metric),
            **{name: getattr(row, name) for name in ("starts_at", "ends_at", "grid", "buckets", "counts")},
            **_birth(row),
        }


def _artifacts(run: Run, _names: dict[int, str]) -> Iterator[Row]:
    for row in Artifact.objects.filter(run=run).order_by("name"):
        yield {
            "run": str(run.uid),
            "artifact": row.name,
            "artifact_sha256": row.sha256,
            "size": row.size,
            "media_type": row.media_type,
            "path": file_path(row.sha256),
        }


# ---------------------------------------------------------------- series


def _series(run: Run, names: dict[int, str], *, compact: bool) -> Iterator[pa.RecordBatch]:
    """Batches of about SAMPLES_A_GROUP samples, by node and offset in its block: refilling restores the same block."""
    rows, columns, held = list[Row](), list[Column | None](), 0
    statistics = () if compact else STATISTICS_FIELDS
    for series, column in stored_series(run, names):
        if column is None and compact:
            continue
        rows.append(
            {
                "run": str(run.uid),
                "node": series.node,
                "node_name": names[series.node],
                **_metric(series.metric),
                **{name: getattr(series, name) for name in statistics},
            }
        )
        columns.append(column)
        held += 0 if column is None else len(column)
        if held >= SAMPLES_A_GROUP:
            yield _group(rows, columns)
            rows, columns, held = [], [], 0
    if rows:
        yield _group(rows, columns)


STATISTICS_FIELDS = tuple(f"{prefix}{name}" for prefix in ("", "whole_") for name in STATISTICS)


def stored_series(run: Run, names: dict[int, str]) -> Iterator[tuple[Series, Column | None]]:
    """Each series with its samples, in the order of its node's block. Raises UnreadableSamples."""
    number, data = -1, b""
    rows = Series.objects.filter(run=run).select_related("metric").order_by("node", "offset", "metric__key")
    for series in rows:
        if series.node != number:
            number = series.node
            held = Block.objects.filter(run=run, node=number).values_list("data", flat=True).first()
            data = b"" if held is None else bytes(held)
        try:
            block = data[series.offset : series.offset + series.length]
            yield series, codec.decode(block, series.base) if series.length else None
        except codec.BadBlock as error:
            raise UnreadableSamples(
                f"the stored samples of {series.metric.key} on {names.get(number, number)} in run {run.pk} are damaged "
                f"({error}): restore them from a backup"
            ) from error


def _group(rows: list[Row], columns: list[Column | None]) -> pa.RecordBatch:
    schema = SCHEMAS["series"]
    lists = samples.list_columns(columns)
    known = [name for name in schema.names if name not in lists]
    plain = pa.RecordBatch.from_pylist(rows, schema=pa.schema([schema.field(name) for name in known]))
    return pa.RecordBatch.from_arrays([*plain.columns, *lists.values()], schema=schema)
