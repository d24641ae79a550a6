"""Rules for metrics that no table describes: unit, kind, direction and resource from the key alone. Pure."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from apps.catalog.metrics import postgresql, status_rules

LONGEST_KEY = 160  # characters; of a name, too


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
# Series of Prometheus with names of their own: apps.runs.ingest.prometheus.
PROMETHEUS = "prometheus."
# By Prometheus' own convention for names.
PROMETHEUS_COUNTERS = ("*_total", "*_count", "*_sum", "*_bucket")
PROMETHEUS_UNITS = (("*_seconds", "s"), ("*_bytes", "bytes"), ("*_celsius", "°C"), ("*_volts", "V"))
# Latency of one transaction type, such as new_order.
TYPE_LATENCY = re.compile(r"client\.([a-z][a-z0-9_]*)\.latency\.[a-z0-9_]+")


def describe(key: str) -> MetricSpec:
    """The best guess for a key that no table describes. A key that fits no rule is a gauge without unit."""
    if key.startswith(("host.", "process.")):
        return _host(key)
    for beginning, rule in _RULES:
        if key.startswith(beginning):
            return rule(key, key.removeprefix(beginning))
    # p999 is p99.9.
    name = re.sub(r"^p(\d\d)(\d+)$", r"p\1.\2", _words(key.rpartition(".")[2]))
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
    gauge = _matches(name, status_rules.GAUGES) and not _matches(name, status_rules.COUNTERS)
    return MetricSpec(
        key=key,
        name=name,
        unit=_first(name, status_rules.UNITS),
        kind="gauge" if gauge else "counter",
        direction="neutral",
        resource=_first(name, status_rules.RESOURCES),
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


def _postgresql(key: str, name: str) -> MetricSpec:
    return MetricSpec(
        key=key,
        name=_words(name.rpartition(".")[2]),
        unit=_first(name, postgresql.UNITS),
        kind="gauge" if _matches(name, postgresql.GAUGES) else "counter",
        direction="neutral",
        resource=_first(name, postgresql.RESOURCES),
    )


def _prometheus(key: str, name: str) -> MetricSpec:
    """Under the series' own name. Its unit where the name states one: that of a histogram's buckets is its number."""
    bare = name.partition("{")[0]
    plain = re.sub(r"_(?:total|sum)$", "", bare)
    kind = "counter" if _matches(bare, PROMETHEUS_COUNTERS) else "gauge"
    return MetricSpec(key=key, name=name, unit=_first(plain, PROMETHEUS_UNITS), kind=kind, direction="neutral")


_RULES: tuple[tuple[str, Callable[[str, str], MetricSpec]], ...] = (
    (STATUS, _status),
    (INNODB, _innodb),
    (postgresql.PREFIX, _postgresql),
    (PROMETHEUS, _prometheus),
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
