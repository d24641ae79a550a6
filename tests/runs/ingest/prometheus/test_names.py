"""Names of exporters as our metrics."""

import pytest

from apps.catalog.pure import counter_rules
from apps.runs.ingest.prometheus.names import COUNT, LONGEST, SUM, MappedName, mapped, own_key


def keys(name: str, **labels: str) -> list[str]:
    return [each.key for each in mapped({"__name__": name, **labels})]


@pytest.mark.parametrize(
    ("name", "labels", "key"),
    [
        ("node_load1", {}, "host.load.1m"),
        ("node_memory_MemAvailable_bytes", {}, "host.memory.MemAvailable"),
        ("node_memory_Active_anon_bytes", {}, "host.memory.Active_anon"),
        ("node_vmstat_pswpin", {}, "host.vmstat.pswpin"),
        ("node_disk_io_time_seconds_total", {"device": "sda"}, "host.disk.sda.io_time"),
        ("node_disk_written_bytes_total", {"device": "nvme0n1"}, "host.disk.nvme0n1.write_bytes"),
        ("node_network_receive_drop_total", {"device": "eth0"}, "host.net.eth0.rx_drops"),
        ("node_network_transmit_errs_total", {"device": "lo"}, "host.net.lo.tx_errors"),
        ("node_pressure_io_stalled_seconds_total", {}, "host.pressure.io.full"),
        ("mysql_global_status_threads_running", {}, "mysql.status.Threads_running"),
        ("mysql_global_status_innodb_row_lock_time", {}, "mysql.status.Innodb_row_lock_time"),
        ("mysql_global_status_wsrep_cluster_size", {}, "mysql.status.wsrep_cluster_size"),
        ("mysql_global_status_commands_total", {"command": "select"}, "mysql.status.Com_select"),
        ("mysql_global_status_handlers_total", {"handler": "read_key"}, "mysql.status.Handler_read_key"),
        (
            "mysql_global_status_connection_errors_total",
            {"error": "max_connections"},
            "mysql.status.Connection_errors_max_connections",
        ),
        (
            "mysql_global_status_buffer_pool_page_changes_total",
            {"operation": "flushed"},
            "mysql.status.Innodb_buffer_pool_pages_flushed",
        ),
        ("mysql_global_status_buffer_pool_dirty_pages", {}, "mysql.status.Innodb_buffer_pool_pages_dirty"),
        ("mysql_global_status_innodb_row_ops_total", {"operation": "read"}, "mysql.status.Innodb_rows_read"),
        ("mysql_global_variables_max_connections", {}, "mysql.variables.max_connections"),
        ("mysql_global_variables_read_only", {}, "mysql.replication.read_only"),
        ("mysql_slave_status_seconds_behind_master", {"connection_name": ""}, "mysql.replication.seconds_behind"),
        ("mysql_slave_status_seconds_behind_source", {"channel_name": "a b"}, "mysql.replication.a_b.seconds_behind"),
        ("mysql_info_schema_innodb_metrics_lock_lock_deadlocks_total", {}, "mysql.innodb.lock_deadlocks"),
        (
            "mysql_info_schema_innodb_metrics_buffer_page_read_total",
            {"type": "index_leaf"},
            "mysql.innodb.buffer_page_read_index_leaf",
        ),
        ("mysql_galera_evs_repl_latency_avg_seconds", {}, "mysql.status.wsrep_evs_repl_latency_avg"),
    ],
)
def test_a_series_of_an_exporter_is_a_metric_of_ours(name: str, labels: dict[str, str], key: str) -> None:
    assert keys(name, instance="db1:9100", **labels) == [key]


def test_cpus_are_summed_and_counted() -> None:
    idle = {"__name__": "node_cpu_seconds_total", "cpu": "0", "mode": "idle"}
    assert mapped(idle) == [MappedName("host.cpus", COUNT), MappedName("host.cpu.idle", SUM)]
    assert keys("node_cpu_seconds_total", cpu="0", mode="guest") == []


@pytest.mark.parametrize("device", ["sda1", "nvme0n1p2", "mmcblk0p1", "loop0", "vda15"])
def test_partitions_and_loops_are_no_disks(device: str) -> None:
    assert keys("node_disk_io_now", device=device) == []


def test_pages_of_the_buffer_pool_add_up_to_its_size() -> None:
    assert keys("mysql_global_status_buffer_pool_pages", state="data") == [
        "mysql.status.Innodb_buffer_pool_pages_data",
        "mysql.status.Innodb_buffer_pool_pages_total",
    ]
    # Old pages are among those with data.
    assert keys("mysql_global_status_buffer_pool_pages", state="old") == ["mysql.status.Innodb_buffer_pool_pages_old"]


def test_what_has_no_counterpart_keeps_its_name_without_where_it_comes_from() -> None:
    labels = {"__name__": "node_filesystem_avail_bytes", "instance": "a:1", "job": "n", "mountpoint": "/my data"}
    assert mapped(labels) == []
    assert own_key(labels) == 'prometheus.node_filesystem_avail_bytes{mountpoint="/my_data"}'
    assert own_key({"__name__": "up", "instance": "a:1"}) == "prometheus.up"
    long = own_key({"__name__": "a", "b": "c" * 300})
    assert len(long) == LONGEST
    assert long != own_key({"__name__": "a", "b": "c" * 301})


@pytest.mark.parametrize(
    ("key", "kind", "unit"),
    [
        ('prometheus.node_filesystem_avail_bytes{mountpoint="/"}', "gauge", "bytes"),
        ("prometheus.process_cpu_seconds_total", "counter", "s"),
        ("prometheus.go_goroutines", "gauge", ""),
        ('prometheus.x_seconds_bucket{le="1"}', "counter", ""),
        ("prometheus.x_seconds_sum", "counter", "s"),
    ],
)
def test_kind_and_unit_of_an_own_name_follow_prometheus_convention(key: str, kind: str, unit: str) -> None:
    found = counter_rules.describe(key)
    assert (found.kind, found.unit, found.direction) == (kind, unit, "neutral")
