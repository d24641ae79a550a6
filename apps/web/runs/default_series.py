"""The series that a run's page draws by default: those that DBAs check first. Pure."""

import re
from collections.abc import Iterable, Sequence

LEAST, MOST = 12, 18
STATUS = "mysql.status."
POSTGRESQL = "postgresql."

# In page order: the server's work, its writes to disk, its waits, then the machine.
USUAL = (
    *(
        STATUS + name
        for name in (
            "Questions",
            "Com_select",
            "Com_insert",
            "Com_update",
            "Com_delete",
            "Com_commit",
            "Innodb_rows_read",
            "Innodb_rows_inserted",
            "Innodb_rows_updated",
            "Innodb_rows_deleted",
            "Innodb_data_fsyncs",
            "Innodb_os_log_written",
            "Innodb_data_written",
            "Innodb_buffer_pool_reads",
            "Innodb_row_lock_time",
            "Innodb_row_lock_waits",
            "wsrep_local_recv_queue",
            "wsrep_flow_control_paused_ns",
            "Threads_running",
            "Bytes_sent",
        )
    ),
    *(
        POSTGRESQL + name
        for name in (
            "database.xact_commit",
            "database.tup_fetched",
            "database.tup_inserted",
            "database.tup_updated",
            "database.blks_read",
            "wal.position",
            "database.temp_bytes",
            "checkpointer.buffers_written",
            "sessions.active",
            "waiting.lock",
            "waiting.lwlock",
            "waiting.io",
        )
    ),
    "host.cpu.user",
    "host.cpu.system",
    "host.cpu.iowait",
    "host.disk.*.write_bytes",
    "host.disk.*.io_time",
    "host.procs_running",
    "host.load.1m",
    "process.cpu.user",
    "process.rss",
)
# Fallbacks if few of the usual ones exist.
MORE = tuple(
    STATUS + name
    for name in (
        "Queries",
        "Handler_write",
        "Handler_update",
        "Handler_read_key",
        "Handler_commit",
        "Innodb_buffer_pool_read_requests",
        "Innodb_buffer_pool_write_requests",
        "Innodb_buffer_pool_pages_dirty",
        "Innodb_log_writes",
        "Bytes_received",
        "Threads_connected",
        "Table_locks_immediate",
    )
)


def choose(*, changing: Iterable[str], constant: Iterable[str], busiest: Sequence[str] = ()) -> list[str]:
    """12 to 18 of the run's metric keys: usual ones that changed, then others, then usual ones that never changed.

    `busiest`: order of the keys that a pattern may match (one disk of several).
    """
    moved, still = set(changing), set(constant)
    moving = [key for key in _named(USUAL, moved, busiest) if key in moved][:MOST]
    if len(moving) >= LEAST:
        return moving
    rest = [key for key in MORE if key in moved]
    rest += [key for key in _named(USUAL, still, busiest) if key in still - moved]
    return (moving + rest)[:LEAST]


def _named(patterns: Iterable[str], keys: set[str], busiest: Sequence[str]) -> Iterable[str]:
    """Keys for the patterns, without duplicates: a pattern with a star matches the busiest key."""
    ranked = [*(key for key in busiest if key in keys), *sorted(keys)]
    for pattern in patterns:
        if "*" not in pattern:
            yield pattern
            continue
        form = re.compile(re.escape(pattern).replace(r"\*", "[^.]+"))
        fitting = next((key for key in ranked if form.fullmatch(key)), None)
        if fitting:
            yield fitting
