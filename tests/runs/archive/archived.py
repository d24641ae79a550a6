"""Runs with all that a run may hold, and all that is held of one, for tests of the archive."""

from pathlib import Path
from typing import Any

import numpy as np
from django.db.models import F, Model
from django.utils import timezone

from apps.catalog.models import HardwareClass, LoadLevel, Metric, Node, Platform, Release, System, Workload
from apps.runs import archive
from apps.runs.ingest import accept
from apps.runs.models import (
    ArchivedRun,
    Artifact,
    Block,
    Configuration,
    Distribution,
    Event,
    Measurement,
    Run,
    RunNode,
    Series,
)
from apps.runs.storage import codec
from apps.runs.storage.codec import Column
from tests.runs.uploads import Samples, an_open_run, an_upload
from tests.support.builders import a_metric
from workers.protocol import wire

# A restart, a second without an answer, integers beyond 2^53, decimals, equal increments, a node that joins late, and a
# constant that no float holds.
LARGE = "mysql.status.Bytes_sent"
NODES: dict[str, Samples] = {
    "db1": [
        (
            0.013 + t,
            {
                "mysql.status.Questions": None if t == 7 else 2**60 + 7 * t if t < 12 else t,
                "mysql.status.Com_commit": 1_000 + 3 * t,
                "mysql.status.Handler_commit": 77_000 + 3 * t,
                "mysql.status.Binlog_snapshot_position": 2**62 + 1,
                "host.load.1m": None if t == 3 else -0.0 if t == 4 else 0.1 * t,
            },
        )
        for t in range(20)
    ],
    "db2": [(9.4 + t, {"mysql.status.Uptime": 5 + t, "mysql.status.Threads_running": 2}) for t in range(11)],
}
EVENT = wire.EventMessage(
    kind="ddl", label="ALTER TABLE", starts_at=1.0, ends_at=2.0, node="db1", detail={"table": "t"}
)


def a_full_run(**fields: Any) -> Run:
    """A sealed run of two nodes and the load generator, with events, measurements, a distribution and raw files."""
    run = an_open_run(nodes=list(NODES), command="sysbench oltp_read_write run", host={"cpus": 2}, **fields)
    upload = an_upload(run=run, nodes=NODES, events=[EVENT])
    image = b"\x89PNG"
    accept.accept_artifact(run=run, name="load.png", sha256=wire.checksum(image), content=image, media_type="image/png")
    upload.send(measured_from=0.5, measured_to=20.5)
    assert accept.seal(run_id=run.pk)
    Run.objects.filter(pk=run.pk).update(tags=["nightly", "a b"])
    metric = a_metric("client.latency.test", kind="distribution", unit="ms", direction="lower")
    Distribution.objects.create(
        run=run,
        metric=metric,
        starts_at=0.5,
        ends_at=20.5,
        grid="test",
        buckets=[3, 900],
        counts=[2**40, 1],
        artifact=run.artifacts.get(name="sysbench.txt"),
        byte_start=10,
        byte_end=20,
        parser="sysbench",
        parser_version="1",
    )
    _add_beyond_2_to_the_63(run)
    run.refresh_from_db()
    return run


def _add_beyond_2_to_the_63(run: Run) -> None:
    """The series LARGE on db2: agents round such counters, other sources need not."""
    values = np.arange(11, dtype=np.uint64) * np.uint64(5) + np.uint64(2**63)
    encoded = codec.encode(Column(values=values, observed=values != values[4]))
    block = Block.objects.get(run=run, node=2)
    data = bytes(block.data or b"")
    Block.objects.filter(run=run, node=2).update(data=data + encoded.data, size=len(data) + len(encoded.data))
    Series.objects.create(
        run=run,
        metric=a_metric(LARGE, kind="counter", unit="bytes"),
        node=2,
        base=encoded.base,
        offset=len(data),
        length=len(encoded.data),
    )


def held(run: Run) -> dict[str, list[dict[str, Any]]]:
    """Every row of a run, its blocks and its part of the catalog included, but for the numbers of rows."""
    of_run = {
        "nodes": RunNode.objects.annotate(
            variables=F("configuration__variables"), default_values=F("defaults__variables")
        ).order_by("number"),
        "series": Series.objects.annotate(key=F("metric__key")).order_by("key", "node"),
        "blocks": Block.objects.order_by("node"),
        "measurements": Measurement.objects.annotate(key=F("metric__key"), file=F("artifact__name")).order_by("key"),
        "distributions": Distribution.objects.annotate(key=F("metric__key"), file=F("artifact__name")).order_by("key"),
        "events": Event.objects.order_by("starts_at", "kind", "label"),
        "artifacts": Artifact.objects.order_by("name"),
    }
    system = run.system
    catalog = {
        "run": Run.objects.filter(pk=run.pk).annotate(
            threads=F("load_level__threads"), rate=F("load_level__rate"), workload_hash=F("workload__content_hash")
        ),
        "workload": Workload.objects.filter(pk=run.workload_id).annotate(key=F("primary_metric__key")),
        "system": System.objects.filter(pk=system.pk),
        "system nodes": Node.objects.filter(system=system).annotate(hardware=F("hardware_class__slug")),
        "release": Release.objects.filter(pk=system.release_id),
        "platform": Platform.objects.filter(pk=system.release.platform_id),
        "hardware": HardwareClass.objects.filter(pk=system.hardware_class_id),
        "metrics": Metric.objects.filter(pk__in=Series.objects.filter(run=run).values("metric")).order_by("key"),
    }
    found = catalog | {name: rows.filter(run=run) for name, rows in of_run.items()}
    return {name: [_shown(name, row) for row in rows.values()] for name, rows in found.items()}


def _shown(of: str, row: dict[str, Any]) -> dict[str, Any]:
    hidden = {"id", "created_at", "seal_attempts", "seal_due_at"}
    if of == "metrics":
        # The catalog's own words on what a metric means are not part of a run.
        hidden |= {"description", "curated"}
    if of == "system":
        # Made anew, beside the systems that are there by then.
        hidden |= {"short_name"}
    shown = {name: value for name, value in row.items() if name not in hidden and not name.endswith("_id")}
    return {name: bytes(value) if isinstance(value, memoryview) else value for name, value in shown.items()}


def forget_everything() -> None:
    """As an empty database, but for its schema."""
    of_runs: list[type[Model]] = [ArchivedRun, Measurement, Distribution, Run, System, Workload, Release, Platform]
    shared: list[type[Model]] = [Metric, HardwareClass, LoadLevel, Configuration]
    for model in of_runs + shared:
        model._default_manager.all().delete()


def archived(run: Run) -> ArchivedRun:
    assert archive.archive(run_id=run.pk, now=timezone.now())
    return ArchivedRun.objects.get(run=run)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
