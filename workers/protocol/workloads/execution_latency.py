"""The time a request waits until the server starts it."""

from workers.protocol.workloads.declaration import Parameter, WorkloadSpec

SPEC = WorkloadSpec(
    tool="execution_latency",
    title="Execution latency",
    description="The time from sending a request to the moment at which the server reports the statement's start, "
    "under a load of reads and updates. The lead of the server's clock is measured on an idle connection before "
    "and after the load, and reported with its uncertainty.",
    parameters=(
        Parameter("rows", "whole", "rows of the table", default=10_000, low=1),
        Parameter("updates", "whole", "updates in 100 requests", default=20, high=100),
    ),
    data_set=("rows",),
    metrics=(
        "client.execution_latency.p95",
        "client.execution_latency.avg",
        "client.clock.offset",
        "client.clock.uncertainty",
        "client.throughput",
    ),
    primary_metric="client.execution_latency.p95",
)
