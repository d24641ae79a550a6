"""The load of an OLTP application."""

from workers.protocol.workloads.declaration import Parameter, WorkloadSpec


def _weight(name: str, default: int, what: str) -> Parameter:
    return Parameter(name, "whole", f"weight of {what} among the transactions", default=default, high=1000)


SPEC = WorkloadSpec(
    tool="app_oltp",
    title="Application OLTP",
    description="Reads (by primary key, by an index, over a range, by IN, by exact match with a join), updates, "
    "creations and deletions on pairs of a parent and a child table. Every write matches a row: what one thread "
    "deletes no other touches, and the next run starts with the tables as they were prepared.",
    parameters=(
        Parameter("tables", "whole", "pairs of a parent and a child table", default=15, low=1, high=1000),
        Parameter("rows", "whole", "rows of each parent table", default=1000, low=10, high=100_000_000),
        Parameter("children", "whole", "child rows of each parent row", default=2, low=1, high=100),
        _weight("reads", 70, "reads, a fifth of each kind"),
        _weight("updates", 10, "updates, half by primary key and half by an index"),
        _weight("creates", 10, "creations of a parent with its children"),
        _weight("deletes", 10, "deletions of a parent with its children"),
        Parameter("range_size", "whole", "rows of a range", default=20, low=1, high=100_000),
        Parameter("in_size", "whole", "ids of an IN", default=10, low=1, high=10_000),
        Parameter("foreign_keys", "switch", "whether the child tables refer to their parents", default=False),
        Parameter(
            "rand_type",
            "choice",
            "distribution of the ids",
            default="uniform",
            choices=("uniform", "special", "gaussian", "pareto"),
        ),
    ),
    data_set=("tables", "rows", "children", "foreign_keys"),
    metrics=("client.throughput", "client.queries", "client.latency.p95", "client.rows", "client.rows_deleted"),
)
