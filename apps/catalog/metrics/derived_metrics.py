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
    Share of all CPU time in programs, kernel and interrupts; the rest was idle, waited for a disk, or was stolen.
derived.cpu.iowait | CPU waiting for disks | % | lower | disk | saturation
    = 100 * host.cpu.iowait / host.cpu.*
    Share of all CPU time that was idle while a disk request was pending.
derived.cpu.steal | CPU stolen | % | lower | cpu | saturation
    = 100 * host.cpu.steal / host.cpu.*
    Share of all CPU time that the hypervisor gave to others.
derived.cpu.runnable | tasks runnable for each CPU | tasks | lower | cpu | saturation
    = host.procs_running / host.cpus
    Tasks on a CPU or waiting for one, for each CPU; above 1 some wait.
derived.cpu.server | CPUs busy with the server | CPUs | neutral | cpu | utilization
    = process.cpu.user + process.cpu.system
    CPU time of the database server per second: how many CPUs it kept busy.
derived.cpu.server_share | CPU time in the server | % | neutral | cpu | utilization
    = min(100, 100 * (process.cpu.user + process.cpu.system) / host.cpus)
    Share of all CPU time that the database server took. It is counted in ticks of the kernel's clock: what that gives
    beyond all of the time is cut off.
derived.cpu.pressure | some task waits for a CPU | % | lower | cpu | saturation
    = min(100, 100 * host.pressure.cpu.some)
    Share of time in which at least one task was ready to run and had no CPU.
derived.cpu.server_per_statement | server CPU for each statement | ms | lower | cpu | -
    = 1000 * (process.cpu.user + process.cpu.system) / Questions
    CPU time of the database server by statements from clients; background work counts too.
derived.cpu.switches_per_statement | context switches for each statement | switches | lower | cpu | -
    = host.context_switches / Questions
    Changes from one task to another on the whole machine by statements from clients.
derived.threads.running_per_cpu | threads running for each CPU | threads | lower | cpu | saturation
    = Threads_running / host.cpus
    Statements in execution for each CPU; far above 1 they wait for CPUs or for each other.
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
    The kernel counts whole ticks of its clock, of a second that is measured to the microsecond: what that gives beyond
    all of the time is cut off.
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
derived.net.sent_again | packets sent again | % | lower | network | saturation
    = 100 * host.tcp.retransmits / host.net.*.tx_packets
    TCP segments sent again by the packets that all interfaces sent, the loopback among them.
derived.net.dropped | packets dropped | % | lower | network | saturation
    = 100 * (host.net.*.rx_drops + host.net.*.tx_drops) / (host.net.*.rx_packets + host.net.*.tx_packets)
    Share of the packets of all interfaces that found no room, or that nobody here wanted.

derived.statements.per_transaction | statements for each transaction | statements | neutral | statements | -
    = Questions / Com_commit
    Statements from clients by COMMIT statements; not observed where every statement commits itself.
derived.statements.write_share | statements that write | % | neutral | statements | -
    = 100 * (Com_insert + Com_update + Com_delete) / (Com_select + Com_insert + Com_update + Com_delete)
    Share of INSERT, UPDATE and DELETE in these and SELECT.
derived.statements.rollback_share | transactions rolled back | % | lower | statements | errors
    = 100 * Com_rollback / (Com_commit + Com_rollback)
    Share of ROLLBACK in the statements that end a transaction; what the server itself rolls back is not in it.
derived.rows.read_per_statement | rows read for each statement | rows | lower | storage engine calls | -
    = Handler_read_* / Questions
    Rows asked of the storage engines, those of temporary tables too, by statements from clients.
derived.rows.scan_share | rows read by table scans | % | lower | storage engine calls | -
    = 100 * Handler_read_rnd_next / Handler_read_*
    Share of rows asked for in scans of tables, temporary tables too.
derived.net.sent_per_statement | bytes sent for each statement | bytes | neutral | network | -
    = Bytes_sent / Questions
    Bytes to clients by statements from them.

derived.buffer_pool.miss_ratio | buffer pool misses | % | lower | buffer pool | saturation
    = min(100, 100 * Innodb_buffer_pool_reads / Innodb_buffer_pool_read_requests)
    Share of the pages asked of the buffer pool that had to be read from disk while a statement waited. The
    server counts a few reads, as those of ALTER TABLE, without a request: what that gives beyond all is cut off.
derived.buffer_pool.misses_per_statement | misses for each statement | reads | lower | buffer pool | saturation
    = Innodb_buffer_pool_reads / Questions
    Pages that had to be read from disk while a statement waited, by statements from clients.
derived.buffer_pool.used | buffer pool used | % | neutral | buffer pool | utilization
    = 100 * (Innodb_buffer_pool_pages_total - Innodb_buffer_pool_pages_free) / Innodb_buffer_pool_pages_total
    Share of the buffer pool's pages that hold something.
derived.buffer_pool.dirty | buffer pool dirty | % | neutral | buffer pool | saturation
    = 100 * Innodb_buffer_pool_pages_dirty / Innodb_buffer_pool_pages_total
    Share of the buffer pool's pages that are changed and not yet written.
derived.redo.per_transaction | redo log for each transaction | bytes | lower | redo log | -
    = Innodb_os_log_written / Com_commit
    Bytes of redo log by COMMIT statements; not observed where every statement commits itself.
derived.redo.checkpoint_age | redo log in use | % | lower | redo log | saturation
    = min(100, 100 * Innodb_checkpoint_age / Innodb_checkpoint_max_age)
    Checkpoint age by the age at which InnoDB flushes at all cost. Writers that were let in just before may take it a
    little beyond, which is cut off.
derived.redo.in_use | redo log in use (MySQL) | % | lower | redo log | saturation
    = 100 * (Innodb_redo_log_current_lsn - Innodb_redo_log_checkpoint_lsn) / Innodb_redo_log_capacity_resized
    Redo log written since the last checkpoint by its capacity; MySQL reports it from 8.0.30 on.
derived.disk.fsyncs_per_transaction | fsyncs for each transaction | fsyncs | neutral | disk | -
    = Innodb_data_fsyncs / Com_commit
    fsync calls by InnoDB by COMMIT statements; below 1, commits share them or are not made durable at once.
derived.disk.written_per_transaction | bytes written for each transaction | bytes | lower | disk | -
    = process.io.write_bytes / Com_commit
    Bytes that the server's process had written to storage, its logs included, by COMMIT statements.
derived.binlog.group_size | transactions in a group commit | transactions | higher | replication log | -
    = Binlog_commits / Binlog_group_commits
    Transactions that were written to the binary log together.

derived.row_locks.waiting | transactions waiting for rows, mean | transactions | lower | row locks | saturation
    = Innodb_row_lock_time / 1000
    How many transactions waited for a row lock at once, on average.
derived.row_locks.wait_per_transaction | row lock wait for each transaction | ms | lower | row locks | saturation
    = Innodb_row_lock_time / Com_commit
    Time that transactions waited for rows by COMMIT statements.
derived.row_locks.wait | row lock wait | ms | lower | row locks | saturation
    = Innodb_row_lock_time / Innodb_row_lock_waits
    Mean time of a wait for a row; the server adds it when the wait ends.
derived.tables.cache_miss_ratio | table cache misses | % | lower | table cache | saturation
    = 100 * Table_open_cache_misses / (Table_open_cache_hits + Table_open_cache_misses)
    Share of tables asked of the cache that had to be opened.
derived.tables.temporary_on_disk | temporary tables on disk | % | lower | temporary tables | saturation
    = 100 * Created_tmp_disk_tables / Created_tmp_tables
    Share of internal temporary tables that did not fit in memory.
derived.tables.temporary_on_disk_share | statements with one on disk | % | lower | temporary tables | saturation
    = 100 * Created_tmp_disk_tables / Questions
    Internal temporary tables that did not fit in memory, by statements from clients.
derived.tables.temporary_per_statement | temporary tables for each statement | tables | lower | temporary tables | -
    = Created_tmp_tables / Questions
    Internal temporary tables by statements from clients.
derived.threads.cache_miss_ratio | connections without a cached thread | % | lower | connections | saturation
    = min(100, 100 * Threads_created / Connections)
    Share of connections for which a thread had to be created; those that the server creates for itself count, too.

derived.galera.paused | paused by flow control | % | lower | replication | saturation
    = min(100, 100 * wsrep_flow_control_paused_ns / 1e9)
    Share of time in which a Galera node held back all writers. The server reads its own clock a little later than the
    sampler: what that gives beyond all of the time is cut off.
derived.galera.certification_failures | transactions that failed certification | % | lower | replication | errors
    = 100 * wsrep_local_cert_failures / (wsrep_local_commits + wsrep_local_cert_failures)
    Share of this node's transactions that the cluster refused because another node changed the same row first.
derived.galera.aborts_per_commit | aborts by write sets for each commit | transactions | lower | replication | errors
    = wsrep_local_bf_aborts / wsrep_local_commits
    Local transactions that gave way to a replicated one, by those that committed.
derived.galera.write_set_size | size of a write set | bytes | neutral | replication | -
    = wsrep_replicated_bytes / wsrep_replicated
    Mean size of the write sets that this node sent.
derived.galera.latency | time to replicate a message | ms | lower | replication | saturation
    = 1000 * wsrep_evs_repl_latency_avg
    From sending a message to the group to its delivery in order; mean over Galera's report period, 1 min by default.
derived.galera.traffic | write sets in and out | bytes/s | neutral | replication | utilization
    = wsrep_replicated_bytes + wsrep_received_bytes
    Bytes of write sets that this node sent to the cluster and received from it.

derived.proxy.connections | proxy connections used | % | neutral | proxy | utilization
    = 100 * haproxy.process.CurrConns / haproxy.process.Maxconn
    Connections that HAProxy holds by the most that it accepts.
derived.proxy.busy | proxy busy | % | neutral | proxy | utilization
    = 100 * (100 - haproxy.process.Idle_pct) / 100
    Share of time in which HAProxy's event loop had something to do.
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
        meant = formula.meant(family.key, key)
        if meant:
            return _member(family, tuple(meant.items()))
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
            fits = (formula.meant(spec.formula.inputs[0], key) for key in ordered)
            members = [_member(spec, tuple(meant.items())) for meant in fits if meant]
        found += [each for each in members if formula.has_all(each.formula.inputs, keys)]
    return tuple(found)


@lru_cache(maxsize=4096)
def _member(family: DerivedSpec, meant: tuple[tuple[str, str], ...]) -> DerivedSpec:
    words = dict(meant)
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
