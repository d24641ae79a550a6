"""Metrics computed from others on the same node, one table; docs/reference/metrics.md lists them all. Pure.

Each entry: key | name | unit | direction | resource | USE aspect, then on indented lines "= formula" and its meaning;
"-" is empty. A counter in a formula means its rate. Division by zero, or an input that was not observed, gives "not
observed"; a node without one of the inputs does not have the metric. A word in angle brackets makes a family: one
metric per disk or interface of the node.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from apps.catalog.metrics import counter_rules, families, formula
from apps.catalog.metrics.counter_rules import STATUS, MetricSpec
from apps.catalog.metrics.formula import Formula
from apps.catalog.metrics.standard import CURATED

PREFIX = "derived."
TABLE = """
derived.cpu.busy | CPU busy | % | neutral | cpu | utilization
    = min(100, 100 * (host.cpu.user + host.cpu.nice + host.cpu.system + host.cpu.irq + host.cpu.softirq) / host.cpu.*)
    Share of all CPU time in programs, kernel and interrupts; the rest is idle, I/O wait and stolen time.
derived.cpu.iowait | CPU waiting for disks | % | lower | disk | saturation
    = 100 * host.cpu.iowait / host.cpu.*
    Share of all CPU time that was idle while a disk request was pending.
derived.cpu.steal | CPU stolen | % | lower | cpu | saturation
    = 100 * host.cpu.steal / host.cpu.*
    Share of all CPU time that the hypervisor gave to others.
derived.cpu.runnable | tasks runnable per CPU | tasks | lower | cpu | saturation
    = host.procs_running / host.cpus
    Tasks on a CPU or waiting for one, per CPU; above 1 some wait.
derived.cpu.server | CPUs busy with the server | CPUs | neutral | cpu | utilization
    = process.cpu.user + process.cpu.system
    CPU time of the database server per second: the number of CPUs it kept busy.
derived.cpu.server_share | CPU time in the server | % | neutral | cpu | utilization
    = min(100, 100 * (process.cpu.user + process.cpu.system) / host.cpus)
    Share of all CPU time that the database server took. Counted in ticks of the kernel's clock; capped at 100 %.
derived.cpu.pressure | some task waits for a CPU | % | lower | cpu | saturation
    = min(100, 100 * host.pressure.cpu.some)
    Share of time in which at least one task was ready to run and had no CPU.
derived.cpu.server_per_statement | server CPU per statement | ms | lower | cpu | -
    = 1000 * (process.cpu.user + process.cpu.system) / Questions
    CPU time of the database server per statement from clients, background work included.
derived.cpu.switches_per_statement | context switches per statement | switches | lower | cpu | -
    = host.context_switches / Questions
    Context switches of the whole machine per statement from clients.
derived.threads.running_per_cpu | threads running per CPU | threads | lower | cpu | saturation
    = Threads_running / host.cpus
    Statements in execution per CPU; far above 1 they wait for CPUs or for each other.
derived.memory.used | memory used | % | neutral | memory | utilization
    = 100 * (host.memory.MemTotal - host.memory.MemAvailable) / host.memory.MemTotal
    Share of the machine's memory that programs could not take without swapping.
derived.memory.swapping | pages swapped | pages/s | lower | memory | saturation
    = host.vmstat.pswpin + host.vmstat.pswpout
    Pages read from and written to swap.
derived.memory.swap_used | swap used | % | lower | memory | utilization
    = 100 * (host.memory.SwapTotal - host.memory.SwapFree) / host.memory.SwapTotal
    Share of the swap space that holds pages; not observed on a machine without swap.
derived.memory.pressure | some task waits for memory | % | lower | memory | saturation
    = min(100, 100 * host.pressure.memory.some)
    Share of time in which at least one task waited for memory to be freed or read back.

derived.disk.pressure | some task waits for a disk | % | lower | disk | saturation
    = min(100, 100 * host.pressure.io.some)
    Share of time in which at least one task waited for a disk.
derived.disk.<disk>.utilization | disk utilization | % | neutral | disk | utilization
    = min(100, 100 * host.disk.<disk>.io_time)
    Share of time with a request in flight, as iostat's %util; 100 % is not full for a disk with parallel channels.
    Counted in ticks of the kernel's clock; capped at 100 %.
derived.disk.<disk>.queue | disk queue | requests | lower | disk | saturation
    = host.disk.<disk>.io_weighted_time
    Mean number of requests in flight, as iostat's aqu-sz.
derived.disk.<disk>.await | disk response time | ms | lower | disk | saturation
    = 1000 * (host.disk.<disk>.read_time + host.disk.<disk>.write_time)
      / (host.disk.<disk>.reads + host.disk.<disk>.writes)
    Mean time of a read or write with its time in the queue, as iostat's await; of those that ended in the interval.
derived.disk.<disk>.await_read | disk response time of reads | ms | lower | disk | saturation
    = 1000 * host.disk.<disk>.read_time / host.disk.<disk>.reads
    Mean time of a read with its time in the queue, as iostat's r_await; of those that ended in the interval.
derived.disk.<disk>.await_write | disk response time of writes | ms | lower | disk | saturation
    = 1000 * host.disk.<disk>.write_time / host.disk.<disk>.writes
    Mean time of a write with its time in the queue, as iostat's w_await; of those that ended in the interval.
derived.disk.<disk>.requests | disk requests | requests/s | neutral | disk | utilization
    = host.disk.<disk>.reads + host.disk.<disk>.writes
    Reads and writes that the disk completed.
derived.disk.<disk>.bytes | disk bytes | bytes/s | neutral | disk | utilization
    = host.disk.<disk>.read_bytes + host.disk.<disk>.write_bytes
    Bytes read from and written to the disk.
derived.disk.<disk>.request_size | size of a disk request | bytes | neutral | disk | -
    = (host.disk.<disk>.read_bytes + host.disk.<disk>.write_bytes)
      / (host.disk.<disk>.reads + host.disk.<disk>.writes)
    Mean size of a read or write.
derived.net.<interface>.bytes | bytes in and out | bytes/s | neutral | network | utilization
    = host.net.<interface>.rx_bytes + host.net.<interface>.tx_bytes
    Bytes received and sent by the interface.
derived.net.lost | packets lost | packets/s | lower | network | errors
    = host.net.*.rx_drops + host.net.*.tx_drops + host.net.*.rx_errors + host.net.*.tx_errors
    Packets dropped or in error on all interfaces.
derived.net.sent_again | packets retransmitted | % | lower | network | saturation
    = 100 * host.tcp.retransmits / host.net.*.tx_packets
    TCP segments retransmitted divided by packets sent on all interfaces, loopback included.
derived.net.dropped | packets dropped | % | lower | network | saturation
    = 100 * (host.net.*.rx_drops + host.net.*.tx_drops) / (host.net.*.rx_packets + host.net.*.tx_packets)
    Share of the packets of all interfaces that were dropped for lack of buffers or of a receiver.

derived.statements.per_transaction | statements per transaction | statements | neutral | statements | -
    = Questions / Com_commit
    Statements from clients per COMMIT statement; not observed where every statement is autocommitted.
derived.statements.write_share | statements that write | % | neutral | statements | -
    = 100 * (Com_insert + Com_update + Com_delete) / (Com_select + Com_insert + Com_update + Com_delete)
    Share of INSERT, UPDATE and DELETE among these and SELECT.
derived.statements.rollback_share | transactions rolled back | % | lower | statements | errors
    = 100 * Com_rollback / (Com_commit + Com_rollback)
    Share of ROLLBACK in the statements that end a transaction; rollbacks by the server itself are not included.
derived.rows.read_per_statement | rows read per statement | rows | lower | storage engine calls | -
    = Handler_read_* / Questions
    Rows requested from the storage engines per statement from clients, temporary tables included.
derived.rows.scan_share | rows read by table scans | % | lower | storage engine calls | -
    = 100 * Handler_read_rnd_next / Handler_read_*
    Share of rows requested in table scans, temporary tables included.
derived.net.sent_per_statement | bytes sent per statement | bytes | neutral | network | -
    = Bytes_sent / Questions
    Bytes sent to clients per statement from them.

derived.buffer_pool.miss_ratio | buffer pool misses | % | lower | buffer pool | saturation
    = min(100, 100 * Innodb_buffer_pool_reads / Innodb_buffer_pool_read_requests)
    Share of pages requested from the buffer pool that had to be read from disk while a statement waited. The
    server counts a few reads, such as those of ALTER TABLE, without a request; capped at 100 %.
derived.buffer_pool.misses_per_statement | misses per statement | reads | lower | buffer pool | saturation
    = Innodb_buffer_pool_reads / Questions
    Pages that had to be read from disk while a statement waited, per statement from clients.
derived.buffer_pool.used | buffer pool used | % | neutral | buffer pool | utilization
    = 100 * (Innodb_buffer_pool_pages_total - Innodb_buffer_pool_pages_free) / Innodb_buffer_pool_pages_total
    Share of the buffer pool's pages in use.
derived.buffer_pool.dirty | buffer pool dirty | % | neutral | buffer pool | saturation
    = 100 * Innodb_buffer_pool_pages_dirty / Innodb_buffer_pool_pages_total
    Share of the buffer pool's pages that are changed and not yet written.
derived.redo.per_transaction | redo log per transaction | bytes | lower | redo log | -
    = Innodb_os_log_written / Com_commit
    Bytes of redo log per COMMIT statement; not observed where every statement is autocommitted.
derived.redo.checkpoint_age | redo log in use | % | lower | redo log | saturation
    = min(100, 100 * Innodb_checkpoint_age / Innodb_checkpoint_max_age)
    Checkpoint age divided by the age at which InnoDB flushes synchronously. Concurrent writers may exceed it slightly;
    capped at 100 %.
derived.redo.in_use | redo log in use (MySQL) | % | lower | redo log | saturation
    = 100 * (Innodb_redo_log_current_lsn - Innodb_redo_log_checkpoint_lsn) / Innodb_redo_log_capacity_resized
    Redo log written since the last checkpoint divided by its capacity; MySQL from 8.0.30 on.
derived.disk.fsyncs_per_transaction | fsyncs per transaction | fsyncs | neutral | disk | -
    = Innodb_data_fsyncs / Com_commit
    fsync calls of InnoDB per COMMIT statement; below 1, commits share them or are not made durable at once.
derived.disk.written_per_transaction | bytes written per transaction | bytes | lower | disk | -
    = process.io.write_bytes / Com_commit
    Bytes that the server's process wrote to storage, logs included, per COMMIT statement.
derived.binlog.group_size | transactions in a group commit | transactions | higher | replication log | -
    = Binlog_commits / Binlog_group_commits
    Mean number of transactions written to the binary log together.

derived.row_locks.waiting | transactions waiting for rows, mean | transactions | lower | row locks | saturation
    = Innodb_row_lock_time / 1000
    Mean number of transactions that waited for a row lock at once.
derived.row_locks.wait_per_transaction | row lock wait per transaction | ms | lower | row locks | saturation
    = Innodb_row_lock_time / Com_commit
    Time that transactions waited for row locks, per COMMIT statement.
derived.row_locks.wait | row lock wait | ms | lower | row locks | saturation
    = Innodb_row_lock_time / Innodb_row_lock_waits
    Mean row lock wait; counted when the wait ends.
derived.tables.cache_miss_ratio | table cache misses | % | lower | table cache | saturation
    = 100 * Table_open_cache_misses / (Table_open_cache_hits + Table_open_cache_misses)
    Share of table cache lookups that had to open the table.
derived.tables.temporary_on_disk | temporary tables on disk | % | lower | temporary tables | saturation
    = 100 * Created_tmp_disk_tables / Created_tmp_tables
    Share of internal temporary tables that did not fit in memory.
derived.tables.temporary_on_disk_share | statements with one on disk | % | lower | temporary tables | saturation
    = 100 * Created_tmp_disk_tables / Questions
    Internal temporary tables that did not fit in memory, per statement from clients.
derived.tables.temporary_per_statement | temporary tables per statement | tables | lower | temporary tables | -
    = Created_tmp_tables / Questions
    Internal temporary tables per statement from clients.
derived.threads.cache_miss_ratio | connections without a cached thread | % | lower | connections | saturation
    = min(100, 100 * Threads_created / Connections)
    Share of connections for which a thread had to be created; the server's own threads are included; capped at 100 %.

derived.galera.paused | paused by flow control | % | lower | replication | saturation
    = min(100, 100 * wsrep_flow_control_paused_ns / 1e9)
    Share of time in which a Galera node held back all writers. The server and the sampler read their clocks at slightly
    different times; capped at 100 %.
derived.galera.certification_failures | transactions that failed certification | % | lower | replication | errors
    = 100 * wsrep_local_cert_failures / (wsrep_local_commits + wsrep_local_cert_failures)
    Share of this node's transactions rejected because another node changed the same row first.
derived.galera.aborts_per_commit | aborts by write sets per commit | transactions | lower | replication | errors
    = wsrep_local_bf_aborts / wsrep_local_commits
    Local transactions aborted by a replicated one, per local commit.
derived.galera.write_set_size | size of a write set | bytes | neutral | replication | -
    = wsrep_replicated_bytes / wsrep_replicated
    Mean size of the write sets that this node sent.
derived.galera.latency | time to replicate a message | ms | lower | replication | saturation
    = 1000 * wsrep_evs_repl_latency_avg
    From sending a message to the group to its delivery in order; mean over Galera's report period, 1 min by default.
derived.galera.traffic | write sets in and out | bytes/s | neutral | replication | utilization
    = wsrep_replicated_bytes + wsrep_received_bytes
    Bytes of write sets that this node sent to the cluster and received from it.

derived.group.throttled | transactions held back by flow control | transactions | lower | replication | saturation
    = Gr_flow_control_throttle_time_sum / 1e6
    Mean number of transactions that flow control of a MySQL group held back at once; above 1 all of a single
    connection's time.
derived.group.latency | time to replicate a message | ms | lower | replication | saturation
    = Gr_data_messages_sent_roundtrip_time_sum / Gr_data_messages_sent_count / 1000
    From sending a transaction to the MySQL group to its delivery in order.
derived.group.conflict_ratio | transactions that failed certification | % | lower | replication | errors
    = 100 * mysql.group.conflicts / mysql.group.certified
    Share of the transactions checked in which another member had changed a row first.
derived.group.traffic | group messages in and out | bytes/s | neutral | replication | utilization
    = Gr_consensus_bytes_sent_sum + Gr_consensus_bytes_received_sum
    Bytes that a member of a MySQL group sent and received to agree on messages.

derived.postgresql.transactions | transactions | transactions/s | higher | transactions | -
    = postgresql.database.xact_commit + postgresql.database.xact_rollback
    Transactions of a database of PostgreSQL that ended; uneven in single seconds, as sessions report once a second.
derived.postgresql.rollback_share | transactions rolled back | % | lower | transactions | errors
    = 100 * postgresql.database.xact_rollback / (postgresql.database.xact_commit + postgresql.database.xact_rollback)
    Share of the transactions that ended in ROLLBACK, or with an error.
derived.postgresql.hit_ratio | blocks found in shared_buffers | % | higher | buffer pool | -
    = 100 * postgresql.database.blks_hit / (postgresql.database.blks_hit + postgresql.database.blks_read)
    Share of the requested blocks that shared_buffers had; the rest came from the kernel's cache or a disk.
derived.postgresql.reads_per_transaction | blocks read per transaction | blocks | lower | buffer pool | saturation
    = postgresql.database.blks_read / postgresql.database.xact_commit
    Blocks that shared_buffers did not have, per committed transaction.
derived.postgresql.wal_per_transaction | WAL per transaction | bytes | lower | redo log | -
    = postgresql.wal.position / postgresql.database.xact_commit
    Bytes of write-ahead log per committed transaction of the database.
derived.postgresql.cpu_per_transaction | server CPU per transaction | ms | lower | cpu | -
    = 1000 * (process.cpu.user + process.cpu.system) / postgresql.database.xact_commit
    CPU time of all processes of PostgreSQL per committed transaction, background work included.
derived.postgresql.active_per_cpu | sessions in a statement per CPU | sessions | lower | cpu | saturation
    = postgresql.sessions.active / host.cpus
    Client sessions with a statement in execution per CPU; far above 1 they wait for CPUs or for each other.

derived.proxy.connections | proxy connections used | % | neutral | proxy | utilization
    = 100 * haproxy.process.CurrConns / haproxy.process.Maxconn
    Open connections of HAProxy divided by the most that it accepts.
derived.proxy.busy | proxy busy | % | neutral | proxy | utilization
    = 100 * (100 - haproxy.process.Idle_pct) / 100
    Share of time in which HAProxy's event loop was not idle.
"""


@dataclass(frozen=True, kw_only=True)
class DerivedSpec(MetricSpec):
    """A metric with its formula over the keys of others."""

    formula: Formula

    @property
    def has_rates(self) -> bool:
        """Whether an input is a counter: values then belong to intervals, not to instants."""
        return any(is_counter(key) for key in self.formula.inputs)


@lru_cache(maxsize=4096)
def is_counter(key: str) -> bool:
    """By the metric's description; `key` may contain `*` or a word in angle brackets."""
    return (CURATED.get(key) or families.find(key) or counter_rules.describe(key)).kind == "counter"


def find(key: str) -> DerivedSpec | None:
    """The derived metric of `key`, members of families included; None: not a derived metric."""
    if not key.startswith(PREFIX):
        return None
    if key in DERIVED:
        return DERIVED[key]
    for family in FAMILIES:
        placeholders = formula.placeholders(family.key, key)
        if placeholders:
            return _member(family, tuple(placeholders.items()))
    return None


def formula_of(key: str) -> str:
    """The formula's text; empty for a measured metric."""
    spec = find(key)
    return spec.formula.text if spec else ""


def describe(key: str) -> tuple[MetricSpec, bool]:
    """The description of any key, and whether it comes from a table rather than from counter rules."""
    known = find(key) or CURATED.get(key) or families.find(key)
    return (known, True) if known else (counter_rules.describe(key), False)


def available(keys: Collection[str]) -> list[DerivedSpec]:
    """Derived metrics of a node with series of `keys`, in the order of the table."""
    return list(_available(frozenset(keys)))


@lru_cache(maxsize=64)
def _available(keys: frozenset[str]) -> tuple[DerivedSpec, ...]:
    ordered = sorted(keys)
    found = []
    for spec in ALL:
        members = [spec]
        if formula.words(spec.key):
            fits = (formula.placeholders(spec.formula.inputs[0], key) for key in ordered)
            members = [_member(spec, tuple(placeholders.items())) for placeholders in fits if placeholders]
        found += [
            each
            for each in members
            if len(each.key) <= counter_rules.LONGEST_KEY and formula.has_all(each.formula.inputs, keys)
        ]
    return tuple(found)


@lru_cache(maxsize=4096)
def _member(family: DerivedSpec, placeholders: tuple[tuple[str, str], ...]) -> DerivedSpec:
    words = dict(placeholders)
    return DerivedSpec(
        key=formula.fill(family.key, words),
        name=f"{family.name} ({', '.join(words.values())})",
        unit=family.unit,
        kind=family.kind,
        direction=family.direction,
        resource=family.resource,
        aspect=family.aspect,
        description=family.description,
        formula=Formula(formula.fill(family.formula.text, words)),
    )


def _read(table: str) -> dict[str, DerivedSpec]:
    """Parses `table`. Raises ValueError for a duplicate entry or one without formula or meaning."""
    found: dict[str, DerivedSpec] = {}
    for entry in _entries(table):
        head, formula_line, *meaning = entry
        key, name, unit, direction, resource, aspect = ("" if cell == "-" else cell for cell in head.split(" | "))
        if key in found or not formula_line.startswith("= ") or not meaning or not key.startswith(PREFIX):
            raise ValueError(f"derived metric {key} is there twice, or without formula or meaning")
        found[key] = DerivedSpec(
            key=key,
            name=name,
            unit=unit,
            kind="gauge",
            direction=direction,
            resource=resource,
            aspect=aspect,
            description=" ".join(meaning),
            formula=Formula(formula.with_keys(formula_line.removeprefix("= "), _whole)),
        )
    return found


def _entries(table: str) -> list[list[str]]:
    """The lines of each entry; lines indented by six or more continue the line before."""
    entries: list[list[str]] = []
    for line in filter(None, (line.rstrip() for line in table.splitlines())):
        if line.startswith(6 * " "):
            entries[-1][-1] += " " + line.strip()
        elif line.startswith(" "):
            entries[-1].append(line.strip())
        else:
            entries.append([line])
    return entries


def _whole(key: str) -> str:
    """Prefixes names of SHOW GLOBAL STATUS, which have no dot, with mysql.status."""
    return key if "." in key else STATUS + key


ALL = tuple(_read(TABLE).values())
DERIVED = {spec.key: spec for spec in ALL if not formula.words(spec.key)}
FAMILIES = tuple(spec for spec in ALL if formula.words(spec.key))
