"""The archive's tables: columns, and paths of their files. docs/reference/archive-tables.md describes the columns.

    runs/platform=mariadb/workload=oltp_read_write-1a2b3c4d/month=2026-11/<uid>.parquet     one file per run and table
    manifests/platform=…/workload=…/month=…/<uid>.json                                     the run's files
    files/ab/abcdef…                                                                       artifacts under their SHA-256

No column has the name of a partition, because readers add the path's columns to the file's.
"""

import re
from datetime import UTC, datetime

import pyarrow as pa

# Version of the layout. Readers refuse archives of later versions.
VERSION = 2
# Without statistics and derived metrics, which restoring computes from the samples.
COMPACT = 2
WHOLE = 1

STATISTICS = (
    *("count", "mean", "stddev", "minimum", "maximum", "p1", "p5", "p50", "p95", "p99"),
    *("first", "last", "increase", "resets"),
)
_COUNTED = ("count", "resets")
# Columns of samples: 64-bit integers, integers beyond 2^63, decimal numbers.
INTEGERS, LARGE, DECIMALS = "samples_integer", "samples_large", "samples_decimal"

_TEXT, _MOMENT, _REAL = pa.string(), pa.timestamp("us", tz="UTC"), pa.float64()
_SMALL, _WHOLE, _LONG = pa.int16(), pa.int32(), pa.int64()
_NODE = pa.struct({"name": _TEXT, "role": _TEXT, "zone": _TEXT, "hardware_class": _TEXT})
_HARDWARE = pa.struct(
    {
        **dict.fromkeys(("slug", "name", "provider", "instance_type"), _TEXT),
        **{"vcpu": _WHOLE, "memory_bytes": _LONG, "storage": _TEXT, "storage_bytes": _LONG, "iops": _WHOLE},
        **{"network_bits_per_second": _LONG, "region": _TEXT, "price_per_hour": pa.decimal128(12, 5)},
        **{"price_source": _TEXT, "label": _TEXT},
    }
)
_METRIC = dict.fromkeys(("metric", "metric_name", "unit", "kind", "direction", "resource", "aspect"), _TEXT)
_BIRTH = {
    **{"artifact": _TEXT, "artifact_sha256": _TEXT, "byte_start": _LONG, "byte_end": _LONG},
    **{"parser": _TEXT, "parser_version": _TEXT},
}
_STATISTICS = {
    f"{prefix}{name}": _WHOLE if name in _COUNTED else _REAL for prefix in ("", "whole_") for name in STATISTICS
}

SCHEMAS: dict[str, pa.Schema] = {
    name: pa.schema(columns)
    for name, columns in {
        "runs": {
            "run": _TEXT,
            **dict.fromkeys(("platform_slug", "platform_name", "platform_replication", "platform_description"), _TEXT),
            **{"platform_color": _SMALL, "release": _TEXT, "release_numbers": pa.list_(_LONG)},
            **{"released_on": pa.date32(), "system": _TEXT, "system_name": _TEXT, "endpoint": _TEXT},
            **{"settings": _TEXT, "labels": pa.list_(_TEXT), "system_nodes": pa.list_(_NODE)},
            **{"hardware_class": _TEXT, "hardware": pa.list_(_HARDWARE)},
            **dict.fromkeys(("tool", "workload_name", "workload_hash", "parameters"), _TEXT),
            **{"workload_description": _TEXT, "primary_metric": _TEXT, "threads": _WHOLE, "rate": _REAL},
            **{"repetition": _WHOLE, "provenance": _TEXT, "outcome": _TEXT, "reason": _TEXT},
            **dict.fromkeys(("started_at", "ended_at", "sealed_at"), _MOMENT),
            **{"derivation": _SMALL, "told": _TEXT},
            **dict.fromkeys(("warmup", "duration", "measured_from", "measured_to"), _REAL),
            **{"batches_expected": _WHOLE, "artifacts_expected": _TEXT},
            **dict.fromkeys(("server_version", "tool_version", "host", "command"), _TEXT),
            **dict.fromkeys(("unparsed_lines", "tags"), pa.list_(_TEXT)),
            **{"data_bytes": _LONG, "samplers": pa.list_(_TEXT), "exclusions": _TEXT},
            **{"session": _TEXT, "server_started_at": _MOMENT},
        },
        "nodes": {
            **{"run": _TEXT, "node": _SMALL, "node_name": _TEXT, "role": _TEXT, "samples": _WHOLE},
            **{"clock": pa.list_(_REAL), "constants": _TEXT, "variables": _TEXT, "defaults": _TEXT},
        },
        "series": {
            **{"run": _TEXT, "node": _SMALL, "node_name": _TEXT},
            **_METRIC,
            **_STATISTICS,
            INTEGERS: pa.list_(_LONG),
            # Unsigned integers are known to DuckDB only; this type is known to all readers and as exact.
            LARGE: pa.list_(pa.decimal128(20, 0)),
            DECIMALS: pa.list_(_REAL),
        },
        "measurements": {"run": _TEXT, **_METRIC, "value": _REAL, **_BIRTH},
        "events": {
            **{"run": _TEXT, "event": _TEXT, "label": _TEXT, "starts_at": _REAL, "ends_at": _REAL},
            **{"node_name": _TEXT, "detail": _TEXT, "from_output": pa.bool_()},
        },
        "distributions": {
            **{"run": _TEXT, "node": _SMALL, "node_name": _TEXT},
            **_METRIC,
            **{"starts_at": _REAL, "ends_at": _REAL, "grid": _TEXT},
            **{"buckets": pa.list_(_WHOLE), "counts": pa.list_(_LONG)},
            **_BIRTH,
        },
        "artifacts": {
            **{"run": _TEXT, "artifact": _TEXT, "artifact_sha256": _TEXT, "size": _LONG, "media_type": _TEXT},
            "path": _TEXT,
        },
    }.items()
}

# Columns that archives of earlier releases lack.
LATER = {
    "runs": {"data_bytes", "samplers", "exclusions", "session", "server_started_at"},
    "nodes": {"defaults"},
    "events": {"from_output"},
}
# Columns in which a row may hold nothing.
NULLABLE = {
    "runs": {
        *("platform_color", "released_on", "rate", "ended_at", "sealed_at", "duration", "measured_from", "measured_to"),
        *("batches_expected", "data_bytes", "server_started_at"),
    },
    "nodes": {"clock", "variables", "defaults"},
    "series": {*_STATISTICS, INTEGERS, LARGE, DECIMALS},
    "events": {"ends_at"},
}


def partition(*, platform: str, workload: str, workload_hash: str, started_at: datetime) -> str:
    """Path of the folder of a run's files. The month is in UTC."""
    month = started_at.astimezone(UTC).strftime("%Y-%m")
    return f"platform={platform}/workload={workload_slug(workload, workload_hash)}/month={month}"


def workload_slug(name: str, content_hash: str) -> str:
    """Name and a prefix of the hash, because workloads of different parameters may share a name."""
    return f"{plain(name)}-{content_hash[:8]}"


def plain(name: str) -> str:
    """A name for a path: ASCII only, because Hive and Spark read escaped characters differently from others."""
    return re.sub(r"[^a-z0-9_.]+", "-", name.lower()).strip("-.")[:60] or "workload"


def table_path(table: str, folder: str, uid: str) -> str:
    return f"{table}/{folder}/{uid}.parquet"


def manifest_path(folder: str, uid: str) -> str:
    return f"manifests/{folder}/{uid}.json"


def file_path(sha256: str) -> str:
    return f"files/{sha256[:2]}/{sha256}"
