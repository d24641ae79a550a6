"""Names of node_exporter, mysqld_exporter and PMM, which uses theirs, as our metrics. Pure.

What has no counterpart keeps its own name: `prometheus.<name>{<label>="<value>"}`.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

PREFIX = "prometheus."
LONGEST = 160  # characters of a key
NAME = "__name__"
# Where a series comes from, not what it is of: left out of a key. PMM adds most of them to every series.
ORIGIN = frozenset(
    {
        *(NAME, "instance", "job", "monitor", "prometheus", "prometheus_replica", "endpoint", "__replica__"),
        *("agent_id", "agent_type", "cluster", "container_id", "container_name", "environment", "machine_id"),
        *("node_id", "node_model", "node_name", "node_type", "service_id", "service_name", "service_type"),
        *("az", "region", "replication_set", "external_group"),
    }
)
# Of these, what tells apart the series of one node, the shortest first.
TELLING = (frozenset({"job"}), frozenset({"service_name"}), frozenset({"job", "instance", "service_name"}))
ONE, SUM, COUNT = "one", "sum", "count"


@dataclass(frozen=True)
class MappedName:
    """`how`: the metric is the series; the sum over all series with this key; or their number."""

    key: str
    how: str = ONE


CPU_MODES = frozenset({"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"})
PLAIN = {
    "node_load1": "host.load.1m",
    "node_procs_running": "host.procs_running",
    "node_procs_blocked": "host.procs_blocked",
    "node_context_switches_total": "host.context_switches",
    "node_pressure_cpu_waiting_seconds_total": "host.pressure.cpu.some",
    "node_pressure_io_waiting_seconds_total": "host.pressure.io.some",
    "node_pressure_io_stalled_seconds_total": "host.pressure.io.full",
    "node_pressure_memory_waiting_seconds_total": "host.pressure.memory.some",
    "node_pressure_memory_stalled_seconds_total": "host.pressure.memory.full",
    "node_netstat_Tcp_RetransSegs": "host.tcp.retransmits",
    "node_netstat_Tcp_InErrs": "host.tcp.errors",
    "node_netstat_Tcp_CurrEstab": "host.tcp.established",
    "node_netstat_Tcp_AttemptFails": "host.tcp.failed_attempts",
    "mysql_global_variables_read_only": "mysql.replication.read_only",
}
DISK = {
    "node_disk_reads_completed_total": "reads",
    "node_disk_writes_completed_total": "writes",
    "node_disk_read_bytes_total": "read_bytes",
    "node_disk_written_bytes_total": "write_bytes",
    "node_disk_read_time_seconds_total": "read_time",
    "node_disk_write_time_seconds_total": "write_time",
    "node_disk_io_time_seconds_total": "io_time",
    "node_disk_io_time_weighted_seconds_total": "io_weighted_time",
    "node_disk_io_now": "in_flight",
}
# As the agent's sampler: partitions and what is no disk are left out.
NOT_A_DISK = re.compile(r"(?:loop|ram|sr|fd)\d+|mmcblk\d+p\d+|nvme\d+n\d+p\d+|(?:[hsv]|xv)d[a-z]+\d+")
NETWORK = {
    f"node_network_{way}_{name}_total": f"{short}_{ours}"
    for way, short in (("receive", "rx"), ("transmit", "tx"))
    for name, ours in (("bytes", "bytes"), ("packets", "packets"), ("errs", "errors"), ("drop", "drops"))
}
MEMORY = re.compile(r"node_memory_(\w+)_bytes")
VMSTAT = re.compile(r"node_vmstat_(\w+)")
STATUS, VARIABLE, SLAVE = "mysql_global_status_", "mysql_global_variables_", "mysql_slave_status_"
OURS = "mysql.status."
VARIABLES = "mysql.variables."
# mysqld_exporter makes one metric with a label of some groups of SHOW GLOBAL STATUS.
GROUPS = {
    "commands_total": ("command", "Com_"),
    "handlers_total": ("handler", "Handler_"),
    "connection_errors_total": ("error", "Connection_errors_"),
    "buffer_pool_pages": ("state", "Innodb_buffer_pool_pages_"),
    "buffer_pool_page_changes_total": ("operation", "Innodb_buffer_pool_pages_"),
    "innodb_row_ops_total": ("operation", "Innodb_rows_"),
    "performance_schema_lost_total": ("instrumentation", "Performance_schema_"),
}
DIRTY = "buffer_pool_dirty_pages"
PAGES_TOTAL = f"{OURS}Innodb_buffer_pool_pages_total"
# Of the states of pages, those that add up to all of them.
PARTS_OF_TOTAL = frozenset({"data", "free", "misc"})
REPLICATION = "mysql.replication."
OF_REPLICA = {
    "seconds_behind_master": "seconds_behind",
    "relay_log_space": "relay_log_space",
    "read_master_log_pos": "received_position",
    "exec_master_log_pos": "applied_position",
    "slave_transactional_groups": "transactional_groups",
    "slave_non_transactional_groups": "non_transactional_groups",
    "slave_ddl_groups": "ddl_groups",
    "last_io_errno": "io_error",
    "last_sql_errno": "sql_error",
    "slave_io_running": "io_running",
    "slave_sql_running": "sql_running",
}
RENAMED = (("replica_", "slave_"), ("source_", "master_"), ("_source", "_master"))
INNODB = "mysql_info_schema_innodb_metrics_"
# Subsystems of INNODB_METRICS, which the exporter puts before the counter's own name, the longer ones first.
SUBSYSTEMS = (
    *("adaptive_hash_index", "buffer_page_io", "change_buffer", "file_system", "buffer", "compression", "cpu"),
    *("ddl", "dml", "icp", "index", "lock", "log", "metadata", "os", "purge", "recovery", "sampling", "server"),
    *("sync", "transaction", "undo"),
)
EVS = re.compile(r"mysql_galera_evs_repl_latency_(min|avg|max)_seconds")


def mapped(labels: Mapping[str, str]) -> list[MappedName]:
    """The metrics of ours that a series is, or is part of; empty: none."""
    name = labels.get(NAME, "")
    if name.startswith("node_"):
        return _of_host(name, labels)
    if name.startswith(STATUS):
        return _of_status(name.removeprefix(STATUS), labels)
    found = _of_server(name, labels)
    return [MappedName(found)] if found else []


def own_key(labels: Mapping[str, str], *, more: frozenset[str] = frozenset()) -> str:
    """The key of a series that is none of ours; `more`: of the labels of its origin, those that tell it from another
    series. A key that is too long ends with a hash."""
    kept = {label: value for label, value in labels.items() if label not in ORIGIN or label in more}
    inside = ",".join(f'{label}="{_plain(value)}"' for label, value in sorted(kept.items()))
    text = f"{PREFIX}{labels.get(NAME, '')}" + (f"{{{inside}}}" if inside else "")
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST - 11]}~{hashlib.sha256(text.encode()).hexdigest()[:10]}"


def telling(alike: Sequence[Mapping[str, str]]) -> frozenset[str]:
    """The labels of their origin by which series of one name differ."""
    several = (more for more in TELLING if len({own_key(labels, more=more) for labels in alike}) == len(alike))
    return next(several, TELLING[-1])


def _plain(value: str) -> str:
    """Without what a key cannot hold, blanks and control characters, nor what would end it."""
    return re.sub(r'[\s"\\\x00-\x1f\x7f]', "_", value)


def _of_host(name: str, labels: Mapping[str, str]) -> list[MappedName]:
    if name == "node_cpu_seconds_total":
        mode = labels.get("mode", "")
        # The number of CPUs is that of their idle times.
        number = [MappedName("host.cpus", COUNT)] if mode == "idle" else []
        return [*number, MappedName(f"host.cpu.{mode}", SUM)] if mode in CPU_MODES else []
    device = _plain(labels.get("device", ""))
    key = PLAIN.get(name, "")
    if name in DISK and device and not NOT_A_DISK.fullmatch(device):
        key = f"host.disk.{device}.{DISK[name]}"
    elif name in NETWORK and device:
        key = f"host.net.{device}.{NETWORK[name]}"
    elif memory := MEMORY.fullmatch(name):
        key = f"host.memory.{memory[1]}"
    elif vmstat := VMSTAT.fullmatch(name):
        key = f"host.vmstat.{vmstat[1]}"
    return [MappedName(key)] if key else []


def _of_status(name: str, labels: Mapping[str, str]) -> list[MappedName]:
    if name == DIRTY:
        return [MappedName(f"{OURS}Innodb_buffer_pool_pages_dirty")]
    if name not in GROUPS:
        return [MappedName(OURS + _cased(name))] if name else []
    label, beginning = GROUPS[name]
    of = labels.get(label, "")
    found = [MappedName(f"{OURS}{beginning}{of}")] if re.fullmatch(r"\w+", of) else []
    # The exporter leaves out the total.
    if name == "buffer_pool_pages" and of in PARTS_OF_TOTAL:
        found.append(MappedName(PAGES_TOTAL, SUM))
    return found


def _cased(name: str) -> str:
    """A status variable in the server's letters, which the exporter lowers: the first is a capital, but of Galera's."""
    return name if name.startswith("wsrep") else name[:1].upper() + name[1:]


def _of_server(name: str, labels: Mapping[str, str]) -> str:
    """The key; empty: none."""
    if name in PLAIN:
        return PLAIN[name]
    if name.startswith(VARIABLE):
        return VARIABLES + name.removeprefix(VARIABLE)
    if name.startswith(SLAVE):
        return _of_replica(name.removeprefix(SLAVE), labels)
    if name.startswith(INNODB):
        return _of_innodb(name.removeprefix(INNODB), labels)
    found = EVS.fullmatch(name)
    return f"{OURS}wsrep_evs_repl_latency_{found[1]}" if found else ""


def _of_replica(name: str, labels: Mapping[str, str]) -> str:
    for new, old in RENAMED:
        name = name.replace(new, old)
    if name not in OF_REPLICA:
        return ""
    connection = re.sub(r"[^A-Za-z0-9_-]", "_", labels.get("connection_name") or labels.get("channel_name") or "")
    return f"{REPLICATION}{connection}{'.' if connection else ''}{OF_REPLICA[name]}"


def _of_innodb(name: str, labels: Mapping[str, str]) -> str:
    if name in ("buffer_page_read_total", "buffer_page_written_total"):
        page = labels.get("type", "")
        return f"mysql.innodb.{name.removesuffix('_total')}_{page}" if re.fullmatch(r"\w+", page) else ""
    for subsystem in SUBSYSTEMS:
        if name.startswith(f"{subsystem}_"):
            return f"mysql.innodb.{name.removeprefix(f'{subsystem}_').removesuffix('_total')}"
    return ""
