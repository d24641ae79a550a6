"""Rules for metrics that no table describes: unit, kind, direction and resource from the key alone. Pure."""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class MetricSpec:
    """One row of the metric catalog. A counter's `unit` is that of its total; its rate is per second."""

    key: str
    name: str
    unit: str
    kind: str  # counter, gauge, distribution
    direction: str  # higher, lower, neutral
    resource: str = ""
    aspect: str = ""  # utilization, saturation, errors, or empty
    description: str = ""


# Gauges of SHOW GLOBAL STATUS; every other number there counts up from server start.
STATUS_GAUGES = (
    "Acl_*",
    "Aria_pagecache_blocks_*",
    "Binlog_snapshot_position",
    "Compression",
    "Compression_*",
    "Delayed_insert_threads",
    "Innodb_*_current",
    "Innodb_*_current_*",
    "Innodb_adaptive_hash_cells",
    "Innodb_adaptive_hash_heap_buffers",
    "Innodb_available_undo_logs",
    "Innodb_buffer_pool_bytes_*",
    "Innodb_buffer_pool_pages_data",
    "Innodb_buffer_pool_pages_dirty",
    "Innodb_buffer_pool_pages_free",
    "Innodb_buffer_pool_pages_latched",
    "Innodb_buffer_pool_pages_misc",
    "Innodb_buffer_pool_pages_old",
    "Innodb_buffer_pool_pages_total",
    "Innodb_buffer_pool_load_incomplete",
    "Innodb_buffer_pool_resize_status_code",
    "Innodb_buffer_pool_resize_status_progress",
    "Innodb_checkpoint_*age",
    "Innodb_data_pending_*",
    "Innodb_encryption_n_*threads",
    "Innodb_encryption_rotation_estimated_iops",
    "Innodb_have_*",
    "Innodb_history_list_length",
    "Innodb_ibuf_free_list",
    "Innodb_ibuf_segment_size",
    "Innodb_ibuf_size",
    "Innodb_instant_alter_column",
    "Innodb_mem_*",
    "Innodb_num_open_files",
    "Innodb_onlineddl_*",
    "Innodb_os_log_pending_*",
    "Innodb_page_size",
    "Innodb_purge_trx_id",
    "Innodb_purge_undo_no",
    "Innodb_redo_log_*",
    "Innodb_row_lock_current_waits",
    "Innodb_row_lock_time_avg",
    "Innodb_row_lock_time_max",
    "Innodb_undo_tablespaces_*",
    "Innodb_undo_truncations_pending",
    "Key_blocks_*",
    "Last_query_*",
    "Max_memory_used",
    "Max_used_connections*",
    "Memory_used*",
    "Not_flushed_delayed_rows",
    "Open_*",
    "Performance_schema_session_connect_attrs_longest_seen",
    "Prepared_stmt_count",
    "Qcache_*_blocks",
    "Qcache_free_memory",
    "Qcache_queries_in_cache",
    "Resource_group_supported",
    "Rpl_semi_sync_master_clients",
    "Rpl_semi_sync_master_status",
    "Rpl_semi_sync_master_*avg_wait_time",
    "Rpl_semi_sync_master_wait_sessions",
    "Rpl_semi_sync_slave_status",
    "Rpl_semi_sync_source_clients",
    "Rpl_semi_sync_source_status",
    "Rpl_semi_sync_source_wait_sessions",
    "Rpl_semi_sync_replica_status",
    "Slave_open_temp_tables",
    "Replica_open_temp_tables",
    "Slave_running",
    "Slave_heartbeat_period",
    "Slaves_connected",
    "Slaves_running",
    "Ssl_ctx_verify_*",
    "Ssl_default_timeout",
    "Ssl_session_cache_size",
    "Ssl_used_session_cache_entries",
    "Ssl_verify_*",
    "Stack_usage",
    "Table_open_cache_active_instances",
    "Tc_log_max_pages_used",
    "Tc_log_page_size",
    "Threadpool_*threads",
    "Threads_cached",
    "Threads_connected",
    "Threads_running",
    "wsrep_*",
)
# Exceptions to the patterns above: counters.
STATUS_COUNTERS = (
    "Innodb_lsn_current",
    "wsrep_bf_aborts",
    "wsrep_causal_reads",
    "wsrep_desync_count_total",
    "wsrep_flow_control_paused_ns",
    "wsrep_flow_control_recv",
    "wsrep_flow_control_sent",
    "wsrep_last_committed",
    "wsrep_local_bf_aborts",
    "wsrep_local_cert_failures",
    "wsrep_local_commits",
    "wsrep_local_replays",
    "wsrep_received*",
    "wsrep_repl_*",
    "wsrep_replicated*",
)
STATUS_RESOURCES = (
    ("Aborted_*", "connections"),
    ("Connection*", "connections"),
    ("Max_used_connections*", "connections"),
    ("Threads_*", "connections"),
    ("Threadpool_*", "connections"),
    ("Access_denied_errors", "connections"),
    ("Bytes_*", "network"),
    ("Binlog_*", "replication log"),
    ("Innodb_row_lock_*", "row locks"),
    ("Innodb_deadlocks", "row locks"),
    ("Table_locks_*", "table locks"),
    ("Innodb_buffer_pool_*", "buffer pool"),
    ("Innodb_log_*", "redo log"),
    ("Innodb_os_log_*", "redo log"),
    ("Innodb_checkpoint_*", "redo log"),
    ("Innodb_lsn_*", "redo log"),
    ("Innodb_data_*", "disk"),
    ("Innodb_dblwr_*", "disk"),
    ("Innodb_pages_*", "disk"),
    ("Innodb_history_list_length", "purge"),
    ("Created_tmp_*", "temporary tables"),
    ("Open_*", "table cache"),
    ("Opened_*", "table cache"),
    ("Table_open_cache_*", "table cache"),
    ("Memory_used*", "memory"),
    ("Slave*", "replication"),
    ("Rpl_*", "replication"),
    ("wsrep_*", "replication"),
    ("Com_*", "statements"),
    ("Handler_*", "storage engine calls"),
    ("Qcache_*", "query cache"),
)
# First match wins.
STATUS_UNITS = (
    ("Uptime*", "s"),
    ("*_paused_ns", "ns"),
    ("Innodb_row_lock_time*", "ms"),
    ("Busy_time", "s"),
    ("Cpu_time", "s"),
    ("Memory_used*", "bytes"),
    ("*_bytes", "bytes"),
    ("*_bytes_*", "bytes"),
    ("Bytes_*", "bytes"),
    ("Innodb_data_read", "bytes"),
    ("Innodb_data_written", "bytes"),
    ("Innodb_os_log_written", "bytes"),
    ("Innodb_page_size", "bytes"),
    ("Innodb_mem_*", "bytes"),
    ("Innodb_checkpoint_*age", "bytes"),
    ("Innodb_lsn_*", "bytes"),
    ("Qcache_free_memory", "bytes"),
    ("Com_*", "statements"),
    ("Queries", "statements"),
    ("Questions", "statements"),
    ("Slow_queries", "statements"),
    ("Handler_*", "calls"),
    ("Threads_created", "threads"),
    ("Threads_*", "threads"),
    ("Connections", "connections"),
    ("Max_used_connections", "connections"),
    ("Aborted_clients", "connections"),
    ("Aborted_connects*", "connections"),
    ("Connection_errors_*", "errors"),
    ("Innodb_buffer_pool_pages_*", "pages"),
    ("Innodb_pages_*", "pages"),
    ("Innodb_rows_*", "rows"),
    ("Innodb_system_rows_*", "rows"),
    ("Innodb_row_lock*waits", "waits"),
    ("*_fsyncs", "fsyncs"),
    ("*_reads", "reads"),
    ("*_writes", "writes"),
    ("*_waits", "waits"),
    ("*_rows_*", "rows"),
)

HOST_GAUGES = (
    "host.cpus",
    "host.load.*",
    "host.procs_running",
    "host.procs_blocked",
    "host.disk.*.in_flight",
    "host.memory.*",
    "host.vmstat.nr_*",
    "process.rss",
    "process.threads",
    "host.tcp.established",
)
# Exceptions to these patterns: totals of pages dirtied, written, pinned.
HOST_COUNTERS = (
    "host.vmstat.nr_dirtied",
    "host.vmstat.nr_written",
    "host.vmstat.nr_foll_pin_*",
    "host.vmstat.nr_vmscan_*",
)
HOST_UNITS = (
    ("host.cpu.*", "s"),
    ("process.cpu.*", "s"),
    ("host.cpus", "CPUs"),
    ("host.procs_*", "processes"),
    ("host.context_switches", "switches"),
    ("host.disk.*_bytes", "bytes"),
    ("host.disk.*_time", "s"),
    ("host.disk.*.in_flight", "requests"),
    ("host.disk.*.reads", "reads"),
    ("host.disk.*.writes", "writes"),
    ("host.net.*_bytes", "bytes"),
    ("host.net.*_errors", "errors"),
    ("host.net.*", "packets"),
    ("host.memory.*", "bytes"),
    ("host.pressure.*", "s"),
    ("host.vmstat.nr_*", "pages"),
    ("process.rss", "bytes"),
    ("process.io.*_bytes", "bytes"),
    ("process.threads", "threads"),
    ("process.faults.*", "faults"),
    ("process.io.*_calls", "calls"),
    ("host.tcp.established", "connections"),
    ("host.tcp.failed_attempts", "connections"),
    ("host.tcp.*", "segments"),
)
HOST_RESOURCES = (
    ("host.cpu*", "cpu"),
    ("host.load.*", "cpu"),
    ("host.procs_running", "cpu"),
    ("host.context_switches", "cpu"),
    ("process.cpu.*", "cpu"),
    ("host.pressure.cpu.*", "cpu"),
    ("host.procs_blocked", "disk"),
    ("host.disk.*", "disk"),
    ("host.pressure.io.*", "disk"),
    ("process.io.*", "disk"),
    ("host.net.*", "network"),
    ("host.memory.*", "memory"),
    ("host.vmstat.*", "memory"),
    ("host.pressure.memory.*", "memory"),
    ("process.rss", "memory"),
    ("process.faults.*", "memory"),
    ("process.threads", "cpu"),
    ("host.tcp.*", "network"),
)
# Meaning of a device's or an interface's counter: (pattern, name, direction, aspect).
HOST_MEANINGS = (
    ("host.disk.*.io_time", "time with a request in flight", "neutral", "utilization"),
    ("host.disk.*.io_weighted_time", "time of requests in flight, summed", "lower", "saturation"),
    ("host.disk.*.in_flight", "requests in flight", "neutral", "saturation"),
    ("host.net.*_drops", "packets dropped", "lower", "saturation"),
    ("host.net.*_errors", "packets in error", "lower", "errors"),
    ("host.net.*_bytes", "bytes through the interface", "neutral", "utilization"),
    ("host.pressure.*", "time that tasks waited for it", "lower", "saturation"),
    ("host.memory.MemAvailable", "memory available", "neutral", "utilization"),
)
# Gauges of information_schema.INNODB_METRICS.
INNODB_GAUGES = (
    "*_current*",
    "*_age*",
    "*_avg*",
    "*_pct_*",
    "*_per_call",
    "*_pending*",
    "buffer_flush_n_to_flush_*",
    "buffer_pool_bytes_*",
    "buffer_pool_pages_*",
    "buffer_pool_size",
    "ddl_background_drop_*",
    "ddl_online_create_index",
    "file_num_open_files",
    "ibuf_size",
    "innodb_page_size",
    "lock_rec_locks",
    "lock_row_lock_time_max",
    "lock_table_locks",
    "purge_dml_delay_usec",
    "trx_active_*",
    "trx_rseg_history_len",
    "trx_undo_slots_*",
)
INNODB_COUNTERS = ("log_lsn_current",)
INNODB_UNITS = (
    ("*_usec", "µs"),
    ("lock_row_lock_time*", "ms"),
    ("*_avg_time", "ms"),
    ("*_pct_*", "%"),
    ("*_bytes*", "bytes"),
    ("buffer_data_*", "bytes"),
    ("log_lsn_*", "bytes"),
    ("log_max_modified_age_*", "bytes"),
    ("innodb_page_size", "bytes"),
    ("buffer_pool_reads", "reads"),
    ("*_fsyncs", "fsyncs"),
    ("*_deadlocks", "deadlocks"),
    ("*_waits", "waits"),
    ("*_pages*", "pages"),
    ("*page_splits", "pages"),
    ("ibuf_size", "pages"),
    ("buffer_pool_size", "pages"),
    ("trx_*_commits", "transactions"),
    ("trx_rollbacks*", "transactions"),
)
INNODB_RESOURCES = (
    ("adaptive_hash_*", "adaptive hash index"),
    ("buffer_data_*", "disk"),
    ("buffer_page_*", "disk"),
    ("buffer_pages_*", "disk"),
    ("buffer_*", "buffer pool"),
    ("compress*", "compression"),
    ("ibuf_*", "change buffer"),
    ("index_*", "index pages"),
    ("lock_table_*", "table locks"),
    ("lock_*", "row locks"),
    ("innodb_log_*", "redo log"),
    ("log_*", "redo log"),
    ("os_log_*", "redo log"),
    ("os_*", "disk"),
    ("innodb_dblwr_*", "disk"),
    ("purge_*", "purge"),
    ("trx_rseg_*", "purge"),
    ("trx_*", "transactions"),
)
STATUS = "mysql.status."
INNODB = "mysql.innodb."
# Latency of one transaction type, such as new_order.
TYPE_LATENCY = re.compile(r"client\.([a-z][a-z_]*)\.latency\.[a-z0-9_]+")


def describe(key: str) -> MetricSpec:
    """The best guess for a key that no table describes. A key that fits no rule is a gauge without unit."""
    if key.startswith(STATUS):
        return _status(key, key.removeprefix(STATUS))
    if key.startswith(("host.", "process.")):
        return _host(key)
    if key.startswith(INNODB):
        return _innodb(key, key.removeprefix(INNODB))
    name = _words(key.rpartition(".")[2])
    if key.startswith("client.latency."):
        return MetricSpec(key=key, name=f"latency, {name}", unit="ms", kind="distribution", direction="lower")
    if of_type := TYPE_LATENCY.fullmatch(key):
        label = f"{_words(of_type[1])} latency, {name}"
        return MetricSpec(key=key, name=label, unit="ms", kind="distribution", direction="lower")
    return MetricSpec(key=key, name=name, unit="", kind="gauge", direction="neutral")


def rate_unit(unit: str) -> str:
    """Unit of a counter's rate. Seconds of CPU or wait per second, s/s, is the number busy or waiting at once."""
    return f"{unit}/s" if unit else "1/s"


def _status(key: str, name: str) -> MetricSpec:
    gauge = _matches(name, STATUS_GAUGES) and not _matches(name, STATUS_COUNTERS)
    return MetricSpec(
        key=key,
        name=name,
        unit=_first(name, STATUS_UNITS),
        kind="gauge" if gauge else "counter",
        direction="neutral",
        resource=_first(name, STATUS_RESOURCES),
    )


def _innodb(key: str, name: str) -> MetricSpec:
    gauge = _matches(name, INNODB_GAUGES) and not _matches(name, INNODB_COUNTERS)
    return MetricSpec(
        key=key,
        name=_words(name),
        unit=_first(name, INNODB_UNITS),
        kind="gauge" if gauge else "counter",
        direction="neutral",
        resource=_first(name, INNODB_RESOURCES),
    )


def _host(key: str) -> MetricSpec:
    meaning = next((entry for entry in HOST_MEANINGS if fnmatchcase(key, entry[0])), None)
    device = re.match(r"host\.(?:disk|net)\.(.+)\.[a-z_]+$", key)
    name = meaning[1] if meaning else _words(key.rpartition(".")[2])
    return MetricSpec(
        key=key,
        name=f"{name} ({device.group(1)})" if device else name,
        unit=_first(key, HOST_UNITS),
        kind="gauge" if _matches(key, HOST_GAUGES) and not _matches(key, HOST_COUNTERS) else "counter",
        direction=meaning[2] if meaning else "neutral",
        resource=_first(key, HOST_RESOURCES),
        aspect=meaning[3] if meaning else "",
    )


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _first(name: str, table: tuple[tuple[str, str], ...]) -> str:
    return next((value for pattern, value in table if fnmatchcase(name, pattern)), "")


def _words(name: str) -> str:
    return name.replace("_", " ")
