"""The curated metrics, one table; docs/reference/metrics.md lists them all. Pure.

Each entry: key | name | unit | kind | direction | resource | USE aspect, then its meaning on indented lines; "-" is
empty. A counter's unit is that of its total; its rate is per second.
"""

from apps.catalog.metrics import agent_sources, cloudwatch, postgresql, servers, work, workloads
from apps.catalog.metrics.counter_rules import STATUS, MetricSpec

CLIENT = """
client.throughput | throughput | transactions/s | gauge | higher | - | -
    Transactions that the load generator completed.
client.queries | queries | queries/s | gauge | higher | - | -
    Statements that the load generator completed.
client.reads | read queries | queries/s | gauge | neutral | - | -
    Statements that read, as the load generator counts them.
client.writes | write queries | queries/s | gauge | neutral | - | -
    Statements that write, as the load generator counts them; a batch insert is one.
client.others | other queries | queries/s | gauge | neutral | - | -
    BEGIN, COMMIT and the like.
client.latency | latency | ms | distribution | lower | - | -
    From the start of a transaction to its end, all of them in a histogram; at a fixed rate, from its scheduled start.
client.latency.p50 | latency, median | ms | distribution | lower | - | -
    Half of the transactions took no longer.
client.latency.p95 | latency, 95th percentile | ms | distribution | lower | - | -
    95 of 100 transactions took no longer.
client.latency.p99 | latency, 99th percentile | ms | distribution | lower | - | -
    99 of 100 transactions took no longer.
client.latency.min | latency, shortest | ms | distribution | lower | - | -
    The fastest transaction.
client.latency.avg | latency, mean | ms | distribution | lower | - | -
    Sum of the transactions' times divided by their number.
client.latency.stddev | latency, standard deviation | ms | distribution | lower | - | -
    How far the transactions' times scatter around their mean.
client.latency.max | latency, longest | ms | distribution | lower | - | -
    The slowest transaction.
client.errors | errors | errors/s | gauge | lower | - | errors
    Errors that the load generator ignored.
client.errors.total | errors, total | errors | gauge | lower | - | errors
    Ignored errors over the measured phase.
client.reconnects | reconnects | reconnects/s | gauge | lower | - | errors
    Connections that the load generator had to reopen.
client.threads | client threads | threads | gauge | neutral | - | -
    Threads of the load generator that were running.
client.queue_length | event queue | events | gauge | lower | - | saturation
    Events due at a fixed rate not yet taken by a thread.
client.concurrency | events in progress | events | gauge | neutral | - | -
    Events in execution, at a fixed rate.
client.transactions | transactions, total | transactions | gauge | higher | - | -
    Transactions over the measured phase.
client.rows | rows inserted | rows/s | gauge | higher | - | -
    Rows that the load generator inserted, each row of a batch counted.
client.rows_deleted | rows deleted | rows/s | gauge | neutral | - | -
    Rows that the load generator deleted.
client.rows_inserted | rows inserted since the load began | rows | gauge | neutral | - | -
    Rows since the load began, warm-up included.
client.unmatched | writes without effect | queries/s | gauge | lower | - | errors
    Statements meant to change a row that matched none.
client.new_orders | new orders | orders/s | gauge | higher | - | -
    New-Order transactions completed: the throughput metric of TPC-C.
client.connections.opened | connections opened | connections | gauge | neutral | - | -
    Connections accepted by the server over the whole run.
client.connections.refused | connections refused | connections | gauge | lower | - | errors
    Connections that the server refused or did not answer, over the whole run; threads without one executed nothing.
client.new_orders.per_minute | new orders per minute | orders/min | gauge | higher | - | -
    New-Order transactions completed: TpmC of tpcc-mysql and go-tpc, NOPM of HammerDB.
client.tpcc_efficiency | TPC-C efficiency | % | gauge | higher | - | -
    New orders per minute over the most that the specification's think times allow, 12.86 a warehouse (go-tpc); above
    100 without them.
client.queries.per_hour | analytical queries per hour | queries/h | gauge | higher | - | -
    3,600 over the mean time of a query in s, beside transactions: QphH of go-tpc's ch.
client.goodput | throughput without failures | transactions/s | gauge | higher | - | -
    Transactions that succeeded, where throughput counts aborted ones too (BenchBase).
client.execution_time.avg | execution time, mean | s | gauge | lower | - | -
    Time to run all statements from many clients at once, over the tool's own repetitions.
client.execution_time.min | execution time, shortest | s | gauge | lower | - | -
    The fastest of these repetitions.
client.execution_time.max | execution time, longest | s | gauge | lower | - | -
    The slowest of these repetitions.
client.statements | statements, total | statements | gauge | neutral | - | -
    Statements to be executed, of all clients.
server.transactions.per_minute | server transactions per minute | transactions/min | gauge | higher | - | -
    Commits and rollbacks as the database server counts them: TPM of HammerDB.
client.execution_latency | time to serve | ms | distribution | lower | - | -
    From sending a request to its start on the server, by two clocks; all requests in a histogram.
client.execution_latency.p50 | time to serve, median | ms | distribution | lower | - | -
    Half of the requests waited no longer.
client.execution_latency.p95 | time to serve, 95th percentile | ms | distribution | lower | - | -
    95 of 100 requests waited no longer.
client.execution_latency.p99 | time to serve, 99th percentile | ms | distribution | lower | - | -
    99 of 100 requests waited no longer.
client.execution_latency.avg | time to serve, mean | ms | distribution | lower | - | -
    Sum of the requests' waits divided by their number.
client.execution_latency.max | time to serve, longest | ms | distribution | lower | - | -
    The request that waited longest.
client.clock.offset | clock offset | ms | gauge | neutral | - | -
    Lead of the server's clock over the client's, measured before the load on an idle connection.
client.clock.drift | clock drift | ms | gauge | neutral | - | -
    Change of the offset by the end of the run.
client.clock.uncertainty | uncertainty of the clocks | ms | gauge | lower | - | -
    Largest error of the offset, and so of each time to serve: half the shortest round trip plus the drift.
client.clock.negative | requests served before sent | requests | gauge | lower | - | -
    Requests served before they were sent, by these clocks: within their uncertainty.
client.elapsed | elapsed time | s | gauge | neutral | - | -
    Length of the measured phase by the load generator's clock.
"""

# Metrics of published results.
PUBLISHED = """
service_interruption | service interruption | s | gauge | lower | - | -
    Time without service around a failure of the writer.
time_to_serve | time to serve | s | gauge | lower | - | -
    Time until the whole load was served.
execution_time | execution time | s | gauge | lower | - | -
    Time that a fixed piece of work took.
replica_lag_peak | replica lag, peak | s | gauge | lower | replication | saturation
    Longest delay of a reader behind the writer.
rows_inserted | rows inserted | rows | gauge | higher | - | -
    Rows inserted in the time given.
rows_per_second | insert rate | rows/s | gauge | higher | - | -
    Rows inserted per second.
handler_throughput | handler throughput | calls/s | gauge | higher | - | -
    Storage engine calls per second.
transactions_per_second | transaction rate | transactions/s | gauge | higher | - | -
    Transactions per second.
transactions | transactions | transactions | gauge | higher | - | -
    Transactions in the time given.
qps | query rate | queries/s | gauge | higher | - | -
    Statements per second.
qps_drop | drop of the query rate | fraction | gauge | lower | - | -
    Share of the query rate lost at the worst moment.
speedup | speed-up | ratio | gauge | higher | - | -
    Speed of one side divided by the other's.
throughput_order | order by throughput | - | gauge | neutral | - | -
    The faster side, where the article gives no number.
outcome | outcome | - | gauge | neutral | - | -
    What happened, in words.
com_select_per_10s | SELECTs in 10 s | count | gauge | higher | - | -
    SELECT statements in each ten seconds.
threads_reached | threads reached | count | gauge | higher | - | -
    Most client threads that could still be served.
threads_running | threads running | count | gauge | neutral | cpu | saturation
    Statements in execution on the server.
tps_stddev | standard deviation of the transaction rate | transactions/s | gauge | lower | - | -
    Variation of the transaction rate from second to second.
latency_stddev | standard deviation of latency | ms | gauge | lower | - | -
    Variation of latency.
latency_p95_spike | latency spike, 95th percentile | ms | gauge | lower | - | -
    95th percentile of latency in the worst second.
spike_length | length of the spike | s | gauge | lower | - | -
    Time for which latency stayed high.
stall | stall | s | gauge | lower | - | -
    Time in which nothing was served.
reads_per_second | read rate | reads/s | gauge | higher | disk | utilization
    Read requests per second.
read_throughput | read throughput | MiB/s | gauge | higher | disk | utilization
    Data read per second.
latency_avg | latency, mean | ms | gauge | lower | - | -
    Mean latency.
latency_p95 | latency, 95th percentile | ms | gauge | lower | - | -
    95 of 100 requests took no longer.
latency_max | latency, longest | ms | gauge | lower | - | -
    The slowest request.
disk_queue_length | disk queue (iostat) | requests | gauge | neutral | disk | saturation
    Mean number of requests at the disk, avgqu-sz.
disk_wait | disk response time (iostat) | ms | gauge | lower | disk | saturation
    Mean time of a request with its time in the queue, await.
disk_utilization | disk utilization (iostat) | % | gauge | neutral | disk | utilization
    Share of time with a request in flight, %util; 100 % is not full for a disk with parallel channels.
response_time_saturation | saturation by response time | ratio | gauge | lower | disk | saturation
    Mean latency over that of one thread.
optimal_concurrency | optimal concurrency | count | gauge | neutral | disk | saturation
    Number of threads that uses the disk well without long waits.
cost_compute | cost of the instance | USD/month | gauge | lower | - | -
    Monthly price of the instance without its storage.
cost_storage | cost of storage | USD/month | gauge | lower | - | -
    Monthly price of the storage.
cost_total | cost, total | USD/month | gauge | lower | - | -
    Monthly price of instance and storage.
compression_ratio | compression ratio | ratio | gauge | higher | disk | -
    Size before compression divided by size after it.
profile_share | share of profile samples | % | gauge | neutral | cpu | utilization
    Share of a sampling profile's samples in one function.
"""


def read(table: str, prefix: str = "") -> dict[str, MetricSpec]:
    """Parses `table`. Raises ValueError for a duplicate entry or one without a meaning."""
    specs: dict[str, MetricSpec] = {}
    fields: list[str] = []
    meaning: list[str] = []

    def close() -> None:
        if fields:
            key, name, unit, kind, direction, resource, aspect = fields
            if prefix + key in specs or not meaning:
                raise ValueError(f"metric {key} is there twice or without a meaning")
            specs[prefix + key] = MetricSpec(
                key=prefix + key,
                name=name,
                unit=unit,
                kind=kind,
                direction=direction,
                resource=resource,
                aspect=aspect,
                description=" ".join(meaning),
            )

    for line in table.strip().splitlines():
        if line.startswith(" "):
            meaning.append(line.strip())
        else:
            close()
            fields, meaning = ["" if cell == "-" else cell for cell in line.split(" | ")], []
    close()
    return specs


_client, _server, _host, _published = read(CLIENT), read(servers.STATUS, STATUS), read(servers.HOST), read(PUBLISHED)
_postgresql = read(postgresql.METRICS, postgresql.PREFIX)
POSTGRESQL_KEYS = tuple(_postgresql)
_cloud = read(cloudwatch.METRICS, cloudwatch.PREFIX)
CLOUD_KEYS = tuple(_cloud)
_sampled = (
    read(agent_sources.METRICS)
    | read(agent_sources.REPLICATION, agent_sources.REPLICATION_PREFIX)
    | read(agent_sources.GROUP, agent_sources.GROUP_PREFIX)
)
SAMPLED_KEYS = tuple(_sampled)
_workloads = read(workloads.METRICS)
_run_values = read(workloads.RUN_VALUES) | {
    spec.key: MetricSpec(
        spec.key, f"{spec.name} per transaction", spec.unit, "gauge", spec.direction, description=spec.description
    )
    for spec in work.ALL
    if spec.key in work.JUDGED
}
RUN_VALUE_KEYS = tuple(_run_values)
WORKLOAD_KEYS = tuple(_workloads)
CLIENT_KEYS, SERVER_KEYS, HOST_KEYS, PUBLISHED_KEYS = map(tuple, (_client, _server, _host, _published))
CURATED: dict[str, MetricSpec] = {
    **_client,
    **_workloads,
    **_run_values,
    **_server,
    **_postgresql,
    **_sampled,
    **_host,
    **_cloud,
    **_published,
}
