"""sysbench's OLTP family with our reports."""

from workers.protocol.workloads import sysbench
from workers.protocol.workloads.declaration import Parameter, WorkloadSpec

TESTS = (*sysbench.TESTS, "connect")


def _each(name: str, default: int, what: str) -> Parameter:
    return Parameter(name, "whole", f"{what} in each transaction", default=default, high=10_000)


SPEC = WorkloadSpec(
    tool="sysbench_oltp",
    title="sysbench OLTP",
    named_by=("test",),
    description="sysbench's OLTP tests with our reports: refused connections and writes that match nothing are "
    "counted, so that load can ramp until the server refuses. The test connect opens a connection for each "
    "transaction: a connection storm.",
    parameters=(
        Parameter("test", "choice", "sysbench's test, or connect", choices=TESTS),
        Parameter("tables", "whole", "number of equal tables", default=4, low=1, high=10_000),
        Parameter("table_size", "whole", "rows of each table", default=10_000, low=1),
        Parameter(
            "auto_inc",
            "switch",
            "ids from the server; where several nodes write ids have gaps, and most updates would match nothing",
            default=False,
        ),
        _each("point_selects", 10, "reads of one row"),
        _each("simple_ranges", 1, "reads of a range"),
        _each("sum_ranges", 1, "sums over a range"),
        _each("order_ranges", 1, "sorted reads of a range"),
        _each("distinct_ranges", 1, "sorted distinct reads of a range"),
        _each("index_updates", 1, "updates of an indexed column"),
        _each("non_index_updates", 1, "updates of a column without index"),
        _each("delete_inserts", 1, "deletes, each with an insert of the same id"),
        Parameter("range_selects", "switch", "whether the four kinds of range reads are executed", default=True),
        Parameter("range_size", "whole", "rows of a range", default=100, low=1),
        Parameter("random_points", "whole", "ids in the IN of select_random_points", default=10, low=1, high=10_000),
        Parameter("skip_trx", "switch", "each statement commits by itself", default=False),
        Parameter("create_secondary", "switch", "an index on column k", default=True),
        Parameter(
            "rand_type",
            "choice",
            "distribution of the ids",
            default="special",
            choices=("special", "uniform", "gaussian", "pareto"),
        ),
        Parameter(
            "db_ps_mode",
            "choice",
            "auto: statements prepared on the server, about 10 for each table and thread; disable: sent as text",
            default="auto",
            choices=("auto", "disable"),
        ),
    ),
    data_set=("tables", "table_size", "auto_inc", "create_secondary"),
    metrics=("client.throughput", "client.queries", "client.latency.p95", "client.connections.refused"),
    seeds=(
        *({"test": test} for test in TESTS if test != "oltp_delete"),
        {"test": "oltp_read_write", "tables": 250, "table_size": 1000, "db_ps_mode": "disable"},
    ),
)
