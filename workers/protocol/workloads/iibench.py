"""Inserts in batches into one growing table."""

from workers.protocol.workloads.declaration import Parameter, WorkloadSpec

SPEC = WorkloadSpec(
    tool="iibench",
    title="iiBench",
    description="Inserts batches of rows into one table, as fast as the server accepts them: rows per second against "
    "rows inserted shows where the secondary indexes no longer fit into memory. Each run starts with the empty table.",
    parameters=(
        Parameter("secondary_indexes", "choice", "secondary indexes of the table", default=3, choices=(0, 3)),
        Parameter("batch", "whole", "rows of each INSERT", default=100, low=1, high=10_000),
        Parameter("data_length", "whole", "bytes of each row's text", default=10, low=1, high=255),
        Parameter(
            "rows_limit",
            "whole",
            "number of rows in the table that ends the run early; 0: no limit",
            default=0,
            high=10_000_000_000,
        ),
    ),
    data_set=("secondary_indexes", "data_length"),
    metrics=("client.rows", "client.rows_inserted", "client.throughput", "client.latency.p95", "client.elapsed"),
    primary_metric="client.rows",
    seeds=({}, {"secondary_indexes": 0}),
    unsteady="its table grows: the slowdown is the result",
)
