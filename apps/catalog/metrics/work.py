"""Work per transaction (query, row): counters of a system divided by the load generator's output, one table. Pure.

Each entry: key | name | unit | direction | whose | resource, then on indented lines "= formula" and its meaning. The
syntax of formulas is that of derived; a counter means its rate over the measured phase. "server": measured per
database server and summed over nodes. "machine": measured per machine with everything that ran on it; nodes on one
machine count once. Formulas are sums, so a formula over sums equals the sum of the nodes' formulas.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

from apps.catalog.metrics import formula
from apps.catalog.metrics.counter_rules import STATUS
from apps.catalog.metrics.formula import Formula

SERVER, MACHINE = "server", "machine"
PREFIX = "work."
TABLE = """
work.cpu.server | server CPU | ms | lower | server | cpu
    = 1000 * (process.cpu.user + process.cpu.system)
    CPU time of the servers' processes, background work included.
work.cpu.machine | CPU of the machines | ms | lower | machine | cpu
    = 1000 * (host.cpu.user + host.cpu.nice + host.cpu.system + host.cpu.irq + host.cpu.softirq)
    CPU time of all processes on the machines, including a load generator that shares one.
work.cpu.switches | context switches | switches | lower | machine | cpu
    = host.context_switches
    Context switches of the machines.
work.disk.read | bytes read by the server | bytes | lower | server | disk
    = process.io.read_bytes
    Bytes that the servers' processes read from disks, page cache hits excluded.
work.disk.written | bytes written by the server | bytes | lower | server | disk
    = process.io.write_bytes
    Bytes that the servers' processes wrote to disks: pages, doublewrite, redo log, binary log, temporary files.
work.disk.machine_read | bytes read from disks | bytes | lower | machine | disk
    = host.disk.*.read_bytes
    Bytes read from the machines' disks.
work.disk.machine_written | bytes written to disks | bytes | lower | machine | disk
    = host.disk.*.write_bytes
    Bytes written to the machines' disks, by all processes.
work.innodb.read | bytes read by InnoDB | bytes | lower | server | disk
    = Innodb_data_read
    Bytes that InnoDB read from its files, page cache hits included.
work.innodb.written | bytes written by InnoDB | bytes | lower | server | disk
    = Innodb_data_written
    Bytes that InnoDB wrote to its files.
work.innodb.flushed | pages flushed | pages | lower | server | buffer pool
    = Innodb_buffer_pool_pages_flushed
    Dirty pages that InnoDB wrote out.
work.innodb.missed | buffer pool misses | reads | lower | server | buffer pool
    = Innodb_buffer_pool_reads
    Pages that had to be read from disk while a statement waited.
work.fsyncs | fsyncs of InnoDB | fsyncs | lower | server | disk
    = Innodb_data_fsyncs
    fsync calls of InnoDB, redo log included; no server counts those of the binary log.
work.redo | redo log | bytes | lower | server | redo log
    = Innodb_os_log_written
    Bytes of redo log.
work.binlog | binary log | bytes | lower | server | replication log
    = Binlog_bytes_written
    Bytes of binary log, on every node that writes one.
work.binlog.groups | binary log group commits | groups | lower | server | replication log
    = Binlog_group_commits
    Groups of transactions written to binary logs together; each costs an fsync where sync_binlog is 1.
work.galera.sent | write sets sent | bytes | lower | server | replication
    = wsrep_replicated_bytes
    Bytes of write sets that Galera nodes sent to their cluster.
work.net.received | bytes received | bytes | neutral | server | network
    = Bytes_received
    Bytes that servers received from clients, and replicas from their source; without proxies and Galera traffic.
work.net.sent | bytes sent | bytes | neutral | server | network
    = Bytes_sent
    Bytes that servers sent to clients, and a source to its replicas.
work.net.machine | bytes on the network | bytes | lower | machine | network
    = host.net.*.rx_bytes + host.net.*.tx_bytes
    Bytes received and sent by the machines' network interfaces, without loopback and interfaces built on others.
work.statements | statements | statements | neutral | server | statements
    = Questions
    Statements from clients, the agent's sampling included.
work.rows.asked | rows requested from engines | rows | lower | server | storage engine calls
    = Handler_read_*
    Rows requested from the storage engines, temporary tables included.
work.rows.changed | rows changed | rows | neutral | server | storage engine calls
    = Handler_write + Handler_update + Handler_delete
    Requests to the storage engines to insert, change and delete a row, on every node.
work.temporary.tables | temporary tables | tables | lower | server | temporary tables
    = Created_tmp_tables
    Internal temporary tables.
work.temporary.on_disk | temporary tables on disk | tables | lower | server | temporary tables
    = Created_tmp_disk_tables
    Internal temporary tables that did not fit in memory.
work.locks.waited | waiting for rows | ms | lower | server | row locks
    = Innodb_row_lock_time
    Time that transactions waited for row locks, summed.
"""
# Devices built on others, or in memory: their traffic is also counted on the underlying devices, or reaches none.
_MADE_OF_OTHERS = re.compile(
    r"host\.disk\.(?:dm-|md|zram|drbd|nbd|bcache)\d+\..*"
    r"|host\.net\.(?:lo|(?:docker|veth|br-?|virbr|ifb|bond|team|dummy|tun|tap|wg|cni|flannel|vxlan)[^.]*|[^.]+\.\d+)\..*"
)


@dataclass(frozen=True)
class WorkSpec:
    """One quantity; `unit` is per transaction (query, row)."""

    key: str
    name: str
    unit: str
    direction: str
    whose: str
    resource: str
    description: str
    formula: Formula


def fitting(pattern: str, keys: Collection[str]) -> list[str]:
    """The counters among `keys` that match `pattern`, without those of devices built on others."""
    if "*" not in pattern:
        return [pattern] if pattern in keys else []
    return [key for key in formula.fitting(pattern, keys) if not _MADE_OF_OTHERS.fullmatch(key)]


def _read(table: str) -> tuple[WorkSpec, ...]:
    """Parses `table`. Raises ValueError for a duplicate entry or one without formula, meaning or owner."""
    found: dict[str, WorkSpec] = {}
    for entry in re.split(r"\n(?=\S)", table.strip()):
        head, formula_line, *meaning = (line.strip() for line in entry.splitlines())
        key, name, unit, direction, whose, resource = head.split(" | ")
        if key in found or not formula_line.startswith("= ") or not meaning or whose not in (SERVER, MACHINE):
            raise ValueError(f"{key} is there twice, or without formula, meaning or owner")
        text = formula.with_keys(formula_line.removeprefix("= "), _whole)
        found[key] = WorkSpec(key, name, unit, direction, whose, resource, " ".join(meaning), Formula(text))
    return tuple(found.values())


def _whole(key: str) -> str:
    """Prefixes names of SHOW GLOBAL STATUS, which have no dot, with mysql.status."""
    return key if "." in key else STATUS + key


ALL = _read(TABLE)
# Judged between releases: a clear direction, and little that other programs of the machine add.
JUDGED = ("work.rows.asked", "work.fsyncs", "work.innodb.written")
BY_KEY = {spec.key: spec for spec in ALL}
PATTERNS = tuple(dict.fromkeys(pattern for spec in ALL for pattern in spec.formula.inputs))
