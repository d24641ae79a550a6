"""Our own asynchronous client: a second generator, because results need agreement across tools."""

from workers.protocol.workloads.declaration import Parameter, WorkloadSpec

MIXES = ("insert", "point_select", "read_only")
TABLES = (
    Parameter("mix", "choice", "what a transaction does, as sysbench's oltp test of that name", choices=MIXES),
    Parameter("tables", "whole", "tables, all alike", 4, low=1, high=1000),
    Parameter("table_size", "whole", "rows of each table", 10_000, low=1, high=100_000_000),
)
SPEC = WorkloadSpec(
    tool="asyncload",
    title="asyncload",
    description="Our own asynchronous client in Python, independent of sysbench. With a rate, transactions are due on "
    "a fixed schedule and latency counts from when one was due. Rows are chosen uniformly: compare with sysbench at "
    "rand_type uniform. One process: client.cpu near 1 says that the client was the limit.",
    parameters=TABLES,
    data_set=("tables", "table_size"),
    metrics=("client.throughput", "client.latency.p95", "client.errors", "client.cpu", "client.schedule_lag"),
    seeds=({"mix": "insert"}, {"mix": "point_select"}, {"mix": "read_only"}),
)
