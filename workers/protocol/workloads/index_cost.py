"""The same load without and with an index: the cost of an index for writes."""

from workers.protocol.workloads.declaration import Parameter, WorkloadSpec

TESTS = ("oltp_insert", "oltp_update_index", "oltp_update_non_index", "oltp_write_only", "oltp_read_write")
SPEC = WorkloadSpec(
    tool="index_cost",
    title="index cost",
    description="One of sysbench's tests twice, each time for half of the duration on freshly prepared tables: without "
    "secondary indexes, and with one on every table. Statement times by the server, from performance_schema or else "
    "from the slow log through pt-query-digest. The run reports both values; a ratio needs repetitions.",
    parameters=(
        Parameter("test", "choice", "sysbench's test", "oltp_write_only", choices=TESTS),
        Parameter("tables", "whole", "number of equal tables", 4, low=1, high=1000),
        Parameter("table_size", "whole", "rows of each table", 10_000, low=1),
        Parameter("column", "choice", "column that is indexed: 4, 120 or 60 bytes", "k", choices=("k", "c", "pad")),
        Parameter("first", "choice", "the half that comes first", "without", choices=("without", "with")),
    ),
    data_set=("tables", "table_size"),
    metrics=(
        "index_cost.throughput_without",
        "index_cost.throughput_with",
        "index_cost.latency_p95_without",
        "index_cost.latency_p95_with",
        "index_cost.statement_time_without",
        "index_cost.statement_time_with",
        "index_cost.build",
        "index_cost.index_bytes",
    ),
    primary_metric="index_cost.throughput_with",
    seeds=({}, {"column": "c"}),
    unsteady="its two halves run on different tables",
)
