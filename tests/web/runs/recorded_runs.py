"""Runs as an agent would have left them, for tests of pages."""

from typing import Any

from apps.runs import seal
from apps.runs.models import Run
from tests.runs.uploads import Samples, an_open_run, an_upload
from workers.protocol.wire import EventMessage

# Counters that rise by so many a second; more than a page draws unasked.
COUNTERS = {
    "Questions": 1400,
    "Com_select": 980,
    "Com_insert": 70,
    "Com_update": 140,
    "Com_delete": 70,
    "Com_commit": 70,
    "Innodb_rows_read": 29000,
    "Innodb_rows_inserted": 71,
    "Innodb_rows_updated": 139,
    "Innodb_rows_deleted": 69,
    "Innodb_data_fsyncs": 150,
    "Innodb_os_log_written": 120000,
    "Bytes_sent": 2500000,
    "Handler_commit": 140,
}
SECONDS = 22


def samples(*, seconds: int = SECONDS) -> Samples:
    return [
        (
            float(t),
            {f"mysql.status.{name}": 5000 + rate * t + t % 3 for name, rate in COUNTERS.items()}
            | {"mysql.status.Threads_running": 2 + t % 4, "mysql.status.Max_used_connections": 7},
        )
        for t in range(seconds + 1)
    ]


def a_sealed_run(**fields: Any) -> Run:
    """A complete run of 20 s whose output is a recorded one; a checkpoint happened at 12.5 s."""
    run = an_open_run(command="sysbench oltp_read_write --threads=4 run", **fields)
    event = EventMessage(kind="checkpoint", label="checkpoint by hand", starts_at=12.5, node="db1")
    an_upload(run=run, nodes={"db1": samples()}, events=[event]).send()
    assert seal.seal(run_id=run.pk)
    run.refresh_from_db()
    return run
