"""Our own asynchronous client: a second generator, because results need agreement across tools."""

from workers.protocol.workloads.declaration import Parameter, WorkloadSpec

MIXES = ("insert", "point_select", "read_only")
TABLES = (
    Parameter("mix", "choice", "statements of a transaction, as in sysbench's OLTP test of that name", choices=MIXES),
    Parameter("tables", "whole", "number of equal tables", 4, low=1, high=1000),
    Parameter("table_size", "whole", "rows of each table", 10_000, low=1, high=100_000_000),
)
SPEC = WorkloadSpec(
    tool="asyncload",
    title="asyncload",
    named_by=("mix",),
    description="Our own asynchronous client in Python, independent of sysbench. With a rate, transactions are due on "
    "a fixed schedule and latency counts from the due time. Rows are chosen uniformly: compare with sysbench at "
    "rand_type uniform. One process: client.cpu near 1 means that the client was the limit.",
    parameters=TABLES,
    data_set=("tables", "table_size"),
    metrics=("client.throughput", "client.latency.p95", "client.errors", "client.cpu", "client.schedule_lag"),
    seeds=({"mix": "insert"}, {"mix": "point_select"}, {"mix": "read_only"}),
)
