"""Data of earlier releases survives: the warehouse before blocks had one compressed column in each row."""

import struct
import zlib
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from pcodec import ChunkConfig, standalone

from apps.runs.storage import blocks

CATALOG = ("catalog", "0004_short_names")
BEFORE, AFTER = [CATALOG, ("runs", "0004_seal_attempts")], [CATALOG, ("runs", "0006_series_have_no_samples")]


def old_block(tag: bytes, values: list[int] | list[float], seen: list[bool] | None = None) -> bytes:
    gaps = b""
    if seen:
        gaps = struct.pack("<I", len(seen)) + zlib.compress(np.packbits(np.array(seen)).tobytes())
    packed = standalone.simple_compress(np.array(values), ChunkConfig())
    return struct.pack("<cI", tag, len(gaps)) + gaps + bytes(packed)


def migrated_to(targets: list[tuple[str, str]]) -> Any:
    executor = MigrationExecutor(connection)
    executor.migrate(targets)
    return MigrationExecutor(connection).loader.project_state(targets).apps


@pytest.mark.django_db(transaction=True)
def test_samples_of_an_earlier_release_are_read_from_blocks() -> None:
    latest = MigrationExecutor(connection).loader.graph.leaf_nodes()
    try:
        run_id = stored_as_before(migrated_to(BEFORE))
        migrated_to(AFTER)
    finally:
        migrated_to(latest)
    (node,) = blocks.read([run_id])[run_id]
    assert node.damaged == {}
    assert node.clock.tolist() == [0, 1, 2]
    assert {key: column.values.tolist() for key, column in node.changing.items()} == {"a": [5, 7, 9], "b": [1, 0, 3]}
    assert node.changing["b"].observed.tolist() == [True, False, True]


def stored_as_before(apps: Any) -> int:
    get = apps.get_model
    platform = get("catalog", "Platform").objects.create(slug="p", name="P")
    release = get("catalog", "Release").objects.create(platform=platform, version="1", version_key=[1])
    hardware = get("catalog", "HardwareClass").objects.create(slug="h", name="h", vcpu=1, memory_bytes=1)
    system = get("catalog", "System").objects.create(
        slug="s",
        name="s",
        short_name="s",
        release=release,
        hardware_class=hardware,
        settings={},
        settings_hash="0" * 64,
        labels=[],
    )
    metrics = [
        get("catalog", "Metric").objects.create(key=key, name=key, unit="", kind="gauge", direction="neutral")
        for key in ("a", "b")
    ]
    run = get("runs", "Run").objects.create(
        system=system,
        workload=get("catalog", "Workload").objects.create(
            tool="t", name="w", parameters={}, content_hash="0" * 64, primary_metric=metrics[0]
        ),
        load_level=get("catalog", "LoadLevel").objects.create(threads=1),
        provenance="agent",
        state="sealed",
        outcome="succeeded",
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        ended_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    clock = old_block(b"f", [0.0, 1.0, 2.0])
    get("runs", "RunNode").objects.create(run=run, number=1, name="db1", samples=3, clock=clock)
    held = old_block(b"i", [5, 7, 9]), old_block(b"i", [1, 3], [True, False, True])
    for metric, block in zip(metrics, held, strict=True):
        get("runs", "Series").objects.create(run=run, metric=metric, node=1, count=3, samples=block)
    return int(run.pk)
