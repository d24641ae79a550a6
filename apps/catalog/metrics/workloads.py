"""The curated metrics of single workloads, in the format of curated. Pure."""

# Metrics with one event per run: an outage, a statement, the slowest of all. A trailing dot: all keys below it.
SINGLE_EVENTS = (
    "failover.",
    "ddl.gap",
    "ddl.gap_before",
    "ddl.other_tables.gap",
    "ddl.other_tables.gap_before",
    "ddl.holders_lost",
    "ddl.duration",
    "ddl.stall.",
    "ddl.metadata_lock_wait",
    "ddl.metadata_lock_queue",
    "data_load.duration",
    "index_cost.build",
    "client.latency.max",
    "client.execution_latency.max",
    "client.execution_time.max",
    "client.start_delay.max",
    "client.file_read.latency.max",
    "client.file_write.latency.max",
    "client.file_fsync.latency.max",
)


def is_single_event(key: str) -> bool:
    """Whether a run's value of this metric is a single event, not a mean over many."""
    return any(key == each or (each.endswith(".") and key.startswith(each)) for each in SINGLE_EVENTS)


# fio's latencies, of each kind of request.
_OF_REQUESTS = """
client.file_{0}.latency | {1} latency | ms | distribution | lower | disk | -
    From {2} to its completion, all of them in a histogram.
client.file_{0}.latency.avg | {1} latency, mean | ms | distribution | lower | disk | -
    Sum of the times divided by their number.
client.file_{0}.latency.stddev | {1} latency, standard deviation | ms | distribution | lower | disk | -
    How far the times scatter around their mean.
client.file_{0}.latency.min | {1} latency, shortest | ms | distribution | lower | disk | -
    The fastest one.
client.file_{0}.latency.p50 | {1} latency, median | ms | distribution | lower | disk | -
    Half of them took no longer.
client.file_{0}.latency.p90 | {1} latency, 90th percentile | ms | distribution | lower | disk | -
    90 of 100 took no longer.
client.file_{0}.latency.p95 | {1} latency, 95th percentile | ms | distribution | lower | disk | -
    95 of 100 took no longer.
client.file_{0}.latency.p99 | {1} latency, 99th percentile | ms | distribution | lower | disk | -
    99 of 100 took no longer.
client.file_{0}.latency.p99.9 | {1} latency, 99.9th percentile | ms | distribution | lower | disk | -
    999 of 1,000 took no longer.
client.file_{0}.latency.max | {1} latency, longest | ms | distribution | lower | disk | -
    The slowest one.
"""
OF_REQUESTS = "".join(
    _OF_REQUESTS.strip().format(*words) + "\n"
    for words in (
        ("read", "file read", "the submission of a read"),
        ("write", "file write", "the submission of a write"),
        ("fsync", "fsync", "the call of fsync"),
    )
)
METRICS = """
client.start_delay.avg | schedule lag, mean | ms | gauge | lower | - | -
    From the scheduled start of a transaction at a fixed rate to its start, whatever the cause: part of its latency.
client.start_delay.max | schedule lag, longest | ms | gauge | lower | - | -
    The transaction that began latest.
client.skipped | skipped transactions | transactions/s | gauge | lower | - | errors
    Transactions at a fixed rate that were given up before they began, since they were already late.
client.skipped.total | skipped transactions, total | transactions | gauge | lower | - | errors
    The same over the measured phase.
client.late | late transactions | % | gauge | lower | - | -
    Share of the transactions that took longer than the latency limit.
client.retries | retries | tries/s | gauge | lower | - | errors
    Tries of transactions after the first, after serialization failures and deadlocks.
client.retries.total | retries, total | tries | gauge | lower | - | errors
    The same over the measured phase.
client.retried.total | retried transactions | transactions | gauge | lower | - | errors
    Transactions that needed more than one try.
client.connect.first | time to connect all clients | ms | gauge | lower | - | -
    From the start of pgbench's connections to the last one, before the load.
client.connect.avg | connection time, mean | ms | gauge | lower | - | -
    Of a connection where each transaction opens its own.
ddl.gap | longest time without a transaction | s | gauge | lower | - | -
    Longest time, to 50 ms, in which no transaction ended, from a statement's start until 3 s after its end.
ddl.gap_before | longest time without a transaction, before | s | gauge | lower | - | -
    The same before the first statement: the undisturbed load.
ddl.other_tables.gap | longest time without a write to another table | s | gauge | lower | - | -
    Longest time, to 50 ms, in which no write to a table that is not altered ended, from a statement's start until 3 s
    after its end.
ddl.other_tables.gap_before | longest time without a write to another table, before | s | gauge | lower | - | -
    The same before the first statement.
ddl.holders_lost | transactions in the way that were lost | transactions | gauge | lower | table locks | errors
    Open transactions that held the table when a statement came and were rolled back for it.
ddl.duration | time of the statement | s | gauge | lower | - | -
    Time that the ALTER took with its waits; of several, the longest.
ddl.baseline | throughput before the statements | transactions/s | gauge | neutral | - | -
    Median of the whole seconds of the measured phase before the first statement.
ddl.stall.length | stall | s | gauge | lower | - | -
    Seconds with throughput under the stated share of the baseline, from a statement's start until 3 s after its end.
ddl.stall.depth | depth of the stall | % | gauge | lower | - | -
    Share of the baseline that was lost in the worst of these seconds.
ddl.stall.depth_before | deepest second before | % | gauge | lower | - | -
    The same before the first statement: how far the load varies undisturbed.
ddl.metadata_lock_wait | wait for the metadata lock | s | gauge | lower | table locks | saturation
    Time that the statement waited for its table's metadata lock, sampled every 50 ms; of several, the longest.
ddl.metadata_lock_queue | connections behind the statement | connections | gauge | lower | table locks | saturation
    Most other connections that waited for a metadata lock at once while the statement was under way.
client.cpu | CPU of the load generator | CPUs | gauge | neutral | cpu | utilization
    CPUs that our asynchronous client kept busy; it has one thread, so near 1 the client was the limit.
client.schedule_lag | lateness of the load generator | ms | gauge | lower | - | -
    Mean time by which a transaction at a fixed rate began late although a connection was free: part of its latency.
failover.outage | write outage | s | gauge | lower | - | -
    Longest time around and after the fault in which no write was acknowledged; near the probe's interval: none.
failover.detect | time to detect | s | gauge | lower | - | -
    From the fault until the cluster, its manager or its proxy detected it, else until the client's first error.
failover.promote | time to promote | s | gauge | lower | - | -
    From the fault until the server that took the first write afterwards accepted writes.
failover.client_recovered | time to recover | s | gauge | lower | - | -
    From the fault to the first write acknowledged after the outage.
failover.baseline | time to baseline | s | gauge | lower | - | -
    From the fault until throughput and latency were back at their levels before it, for some seconds in a row.
failover.rejoin_outage | write downtime of the rejoin | s | gauge | lower | - | -
    Longest time without an acknowledged write while the struck node came back, until 3 s after every node was in sync.
failover.rejoin | rejoin time | s | gauge | lower | - | -
    From the start, thaw or heal of the struck node until it was in sync with the writer again.
failover.acknowledged_missing | lost writes | writes | gauge | lower | - | -
    Acknowledged inserts that are not in the table when it is read back.
failover.errant_rows | rows only on the old source | rows | gauge | lower | - | -
    Rows of the probe that the old source has and its successor lacks: never replicated, or written after the promotion.
failover.failed_present | failed writes present | writes | gauge | lower | - | -
    Inserts that failed for the client but are in the table: a retry would duplicate them.
failover.duplicated | duplicated writes | rows | gauge | lower | - | -
    Rows beyond the first of the same insert, caused by retries of failed inserts.
failover.stale_reads | stale reads | reads | gauge | lower | - | -
    Reads that did not see a row acknowledged before they began, at the endpoint and at every node.
failover.errors | failed tries | errors | gauge | lower | - | -
    Tries of an insert that were not acknowledged.
client.events | events | events/s | gauge | higher | cpu | -
    Events of sysbench's cpu test, each a search for primes up to a limit.
client.file_reads | file reads | reads/s | gauge | higher | disk | utilization
    Read requests of sysbench's fileio or of fio.
client.file_writes | file writes | writes/s | gauge | higher | disk | utilization
    Write requests of sysbench's fileio or of fio.
client.file_fsyncs | file fsyncs | fsyncs/s | gauge | higher | disk | utilization
    fsync calls of sysbench's fileio or of fio.
client.file_requests | file requests | requests/s | gauge | higher | disk | utilization
    Reads and writes of fio together: IOPS.
client.memory_mib | memory transferred | MiB/s | gauge | higher | memory | utilization
    Memory that sysbench's memory test read or wrote.
client.memory_operations | memory operations | operations/s | gauge | higher | memory | utilization
    Blocks that sysbench's memory test read or wrote.
client.file_read_mib | file data read | MiB/s | gauge | higher | disk | utilization
    Data that sysbench's fileio or fio read.
client.file_write_mib | file data written | MiB/s | gauge | higher | disk | utilization
    Data that sysbench's fileio or fio wrote.
data_load.duration | time to load | s | gauge | lower | - | -
    From the first byte of the dump sent to the client until the client ended.
data_load.bytes | size of the dump | bytes | gauge | neutral | - | -
    Bytes of the dump that was loaded.
index_cost.throughput_without | throughput without the index | transactions/s | gauge | higher | - | -
    Of the half of the run whose tables had no secondary index.
index_cost.throughput_with | throughput with the index | transactions/s | gauge | higher | - | -
    Of the half of the run whose tables had one.
index_cost.latency_p95_without | latency without the index, 95th percentile | ms | gauge | lower | - | -
    95 of 100 transactions of the half without the index took no longer.
index_cost.latency_p95_with | latency with the index, 95th percentile | ms | gauge | lower | - | -
    95 of 100 transactions of the half with the index took no longer.
index_cost.statement_time_without | time of a write without the index | ms | gauge | lower | statements | -
    Mean time on the server of INSERT, UPDATE and DELETE, by performance_schema or the slow log.
index_cost.statement_time_with | time of a write with the index | ms | gauge | lower | statements | -
    The same in the half with the index.
index_cost.build | time to make the index | s | gauge | lower | - | -
    CREATE INDEX on all tables, one after the other, without other load.
index_cost.index_bytes | size of the index | bytes | gauge | lower | disk | -
    Secondary indexes of all tables after the half with the index, as the server estimates them.
"""
