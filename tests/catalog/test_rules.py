"""What a counter is when nobody has described it."""

import pytest

from apps.catalog.metrics import derived_metrics
from apps.catalog.metrics.counter_rules import describe, rate_unit
from apps.catalog.metrics.standard import CURATED


@pytest.mark.parametrize(
    "name",
    [
        "Threads_running",
        "Threads_connected",
        "Innodb_buffer_pool_pages_dirty",
        "Innodb_buffer_pool_bytes_data",
        "Open_tables",
        "Qcache_free_blocks",
        "Max_used_connections",
        "Innodb_row_lock_current_waits",
        "Innodb_row_lock_time_avg",
        "Innodb_data_pending_reads",
        "Innodb_history_list_length",
        "Memory_used",
        "wsrep_local_recv_queue",
        "wsrep_cluster_size",
        "wsrep_flow_control_paused",
        "wsrep_commit_oooe",
        "Slaves_connected",
        "Global_connection_memory",
        "Ongoing_anonymous_transaction_count",
    ],
)
def test_what_stands_at_a_level_is_a_gauge(name: str) -> None:
    assert describe(f"mysql.status.{name}").kind == "gauge"


@pytest.mark.parametrize(
    "name",
    [
        "Uptime",
        "Questions",
        "Com_alter_table",
        "Opened_tables",
        "Threads_created",
        "Innodb_buffer_pool_pages_flushed",
        "Innodb_buffer_pool_pages_made_young",
        "Innodb_row_lock_time",
        "Innodb_lsn_current",
        "Innodb_rows_read",
        "Table_locks_waited",
        "Table_open_cache_misses",
        "wsrep_flow_control_paused_ns",
        "wsrep_received_bytes",
        "wsrep_local_commits",
        "Never_seen_before",
    ],
)
def test_everything_else_counts_up(name: str) -> None:
    assert describe(f"mysql.status.{name}").kind == "counter"


@pytest.mark.parametrize(
    ("key", "kind", "unit", "resource", "aspect"),
    [
        ("host.disk.nvme0n1.io_time", "counter", "s", "disk", "utilization"),
        ("host.disk.nvme0n1.in_flight", "gauge", "requests", "disk", "saturation"),
        ("host.disk.dm-0.read_bytes", "counter", "bytes", "disk", ""),
        ("host.net.eth0.rx_drops", "counter", "packets", "network", "saturation"),
        ("host.net.eth0.tx_bytes", "counter", "bytes", "network", "utilization"),
        ("host.net.bond0.100.rx_errors", "counter", "errors", "network", "errors"),
        ("host.memory.Active(anon)", "gauge", "bytes", "memory", ""),
        ("host.vmstat.pgfault", "counter", "", "memory", ""),
        ("host.vmstat.nr_dirty", "gauge", "pages", "memory", ""),
        ("host.vmstat.nr_dirtied", "counter", "pages", "memory", ""),
        ("host.vmstat.nr_written", "counter", "pages", "memory", ""),
        ("host.pressure.memory.full", "counter", "s", "memory", "saturation"),
        ("host.cpu.guest", "counter", "s", "cpu", ""),
        ("process.rss", "gauge", "bytes", "memory", ""),
        ("client.latency.p90", "distribution", "ms", "", ""),
    ],
)
def test_a_host_counter_is_known_by_its_family(key: str, kind: str, unit: str, resource: str, aspect: str) -> None:
    spec = describe(key)
    assert (spec.kind, spec.unit, spec.resource, spec.aspect) == (kind, unit, resource, aspect)


@pytest.mark.parametrize(
    ("key", "kind", "unit", "resource"),
    [
        ("mysql.innodb.log_lsn_checkpoint_age", "gauge", "bytes", "redo log"),
        ("mysql.innodb.log_lsn_current", "counter", "bytes", "redo log"),
        ("mysql.innodb.buffer_pool_pages_dirty", "gauge", "pages", "buffer pool"),
        ("mysql.innodb.buffer_pages_written", "counter", "pages", "disk"),
        ("mysql.innodb.lock_row_lock_time", "counter", "ms", "row locks"),
        ("mysql.innodb.lock_row_lock_current_waits", "gauge", "waits", "row locks"),
        ("mysql.innodb.os_pending_reads", "gauge", "", "disk"),
        ("mysql.innodb.trx_rw_commits", "counter", "transactions", "transactions"),
        ("mysql.innodb.never_seen_before", "counter", "", ""),
    ],
)
def test_an_innodb_metric_is_known_by_its_name(key: str, kind: str, unit: str, resource: str) -> None:
    spec = describe(key)
    assert (spec.kind, spec.unit, spec.resource) == (kind, unit, resource)


@pytest.mark.parametrize(
    ("key", "name", "kind", "unit"),
    [
        ("haproxy.writer.db1.qcur", "requests queued (writer, db1)", "gauge", "requests"),
        ("haproxy.writer.BACKEND.chkdown", "falls (writer, BACKEND)", "counter", "times"),
        (
            "mysql.waits.io.file.innodb.innodb_log_file.seconds",
            "time waited (io.file.innodb.innodb_log_file)",
            "counter",
            "s",
        ),
        ("mysql.replication.east.seconds_behind", "replication delay (east)", "gauge", "s"),
        ("mysql.replication.seconds_behind", "replication delay", "gauge", "s"),
        ("agent.sampling.mysql.seconds", "time that sampling took (mysql)", "gauge", "s"),
    ],
)
def test_a_key_with_a_name_in_it_is_described_by_its_family(key: str, name: str, kind: str, unit: str) -> None:
    spec, curated = derived_metrics.describe(key)
    assert (spec.name, spec.kind, spec.unit, curated) == (name, kind, unit, True)


def test_the_device_is_in_the_name() -> None:
    assert describe("host.net.bond0.100.rx_errors").name == "packets in error (bond0.100)"


def test_rules_and_table_agree_on_what_is_a_counter() -> None:
    """Else a counter would change its kind when someone describes it."""
    families = ("mysql.status.", "host.", "process.")
    differing = [key for key, spec in CURATED.items() if key.startswith(families) and describe(key).kind != spec.kind]
    assert differing == []


def test_rules_and_table_agree_on_units() -> None:
    families = ("mysql.status.", "host.", "process.")
    units = {key: (describe(key).unit, spec.unit) for key, spec in CURATED.items() if key.startswith(families)}
    assert {key: pair for key, pair in units.items() if pair[0] and pair[0] != pair[1]} == {}


def test_a_rate_is_per_second() -> None:
    assert (rate_unit("bytes"), rate_unit("")) == ("bytes/s", "1/s")
