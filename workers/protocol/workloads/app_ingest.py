"""An application that ingests data."""

from workers.protocol.workloads.declaration import Parameter, WorkloadSpec

SPEC = WorkloadSpec(
    tool="app_ingest",
    title="Application ingest",
    description="Inserts batches into many pairs of a parent and a child table: each transaction a batch of parents "
    "and a batch of children for each. Each run starts with empty tables.",
    parameters=(
        Parameter("tables", "whole", "pairs of a parent and a child table", default=5, low=1, high=1000),
        Parameter("batch", "whole", "rows of each INSERT", default=50, low=1, high=10_000),
        Parameter("children", "whole", "child rows of each parent row", default=1, high=100),
        Parameter(
            "primary_key",
            "choice",
            "simple: one rising id; composite: one of 100 sources, then the id",
            default="simple",
            choices=("simple", "composite"),
        ),
        Parameter("foreign_keys", "switch", "whether the child tables refer to their parents", default=False),
        Parameter("payload", "whole", "bytes of each row's text", default=100, low=1, high=255),
    ),
    data_set=("tables", "children", "primary_key", "foreign_keys", "payload"),
    metrics=("client.rows", "client.rows_inserted", "client.throughput", "client.latency.p95"),
    primary_metric="client.rows",
    seeds=({}, {"primary_key": "composite"}),
    unsteady="its tables grow: the slowdown is the result",
)
