"""Runs in which a table was altered: the recorded ones, as if an agent had sent them."""

from collections.abc import Mapping
from typing import Any

from apps.catalog.models import System, Workload
from apps.core.canonical import canonical_hash
from apps.runs import seal
from apps.runs.models import Run
from tests.paths import RECORDINGS
from tests.runs.uploads import an_open_run, an_upload
from tests.support.builders import a_load_level, a_metric, a_system, a_workload
from workers.protocol.wire import EventMessage

DDL_RECORDINGS = RECORDINGS / "ddl"
# The recorded ones: statement, and from when to when on the load's clock, s.
STATEMENTS = {
    "copy": ("ALTER TABLE sbtest1 ADD COLUMN c_copy INT NULL, ALGORITHM=COPY", 8.0, 14.30),
    "inplace_rebuild": ("ALTER TABLE sbtest1 ADD COLUMN c_inplace INT NULL, ALGORITHM=INPLACE", 8.01, 12.16),
    "instant": ("ALTER TABLE sbtest1 ADD COLUMN c_instant INT NULL, ALGORITHM=INSTANT", 8.01, 8.07),
}


def a_ddl_workload(algorithm: str = "copy", **parameters: Any) -> Workload:
    asked = {"tables": 1, "table_size": 1_000_000, "operation": "add_column", "algorithm": algorithm, **parameters}
    return Workload.objects.get_or_create(
        content_hash=canonical_hash({"tool": "ddl_under_load", "parameters": asked}),
        defaults={
            "tool": "ddl_under_load",
            "name": "ddl_under_load",
            "parameters": asked,
            "primary_metric": a_metric("ddl.gap"),
        },
    )[0]


def an_altered_run(
    recording: str = "copy",
    *,
    system: System | None = None,
    workload: Workload | None = None,
    detail: Mapping[str, Any] | None = None,
    statements: tuple[tuple[str, float, float], ...] = (),
    **fields: Any,
) -> Run:
    """A sealed run with the seconds of a recording. `statements`: others than the one that was recorded."""
    run = an_open_run(
        system=system or a_system(),
        workload=a_workload("oltp_read_write"),
        load_level=a_load_level(8, 120.0),
        command="sysbench oltp_read_write --threads=8 --rate=120 run",
        duration=30.0,
        **fields,
    )
    events = [
        EventMessage(
            kind="ddl",
            label=f"{sql} took {end - start:.3f} s",
            starts_at=start,
            ends_at=end,
            detail={"statement": sql, **(detail or {})},
        )
        for sql, start, end in statements or [STATEMENTS[recording]]
    ]
    output = (DDL_RECORDINGS / f"{recording}.sysbench.txt").read_bytes()
    an_upload(run=run, nodes={"db1": [(0.0, {"mysql.status.Questions": 1})]}, events=events, output=output).send()
    assert seal.seal(run_id=run.pk)
    # What it printed is sysbench's own text, which a seal reads for sysbench alone.
    run.refresh_from_db()
    run.workload = workload or a_ddl_workload(recording.removesuffix("_rebuild"))
    run.save(update_fields=["workload"])
    return run
