"""sysbench's own OLTP tests, unmodified."""

from workers.protocol.workloads.declaration import Parameter, WorkloadSpec

TESTS = (
    "oltp_read_write",
    "oltp_read_only",
    "oltp_write_only",
    "oltp_point_select",
    "oltp_insert",
    "oltp_delete",
    "oltp_update_index",
    "oltp_update_non_index",
    "select_random_points",
    "select_random_ranges",
)
# Tests that do not run out of work: oltp_delete soon finds no rows left.
SEEDED = (
    "oltp_read_write",
    "oltp_read_only",
    "oltp_write_only",
    "oltp_point_select",
    "oltp_insert",
    "oltp_update_index",
)
SPEC = WorkloadSpec(
    tool="sysbench",
    title="sysbench",
    description="sysbench's own OLTP tests, as packaged. Any further option of the test may be given.",
    parameters=(
        Parameter("test", "choice", "sysbench's test", choices=TESTS),
        Parameter("tables", "whole", "number of equal tables", low=1, high=10_000),
        Parameter("table_size", "whole", "rows of each table", low=1),
    ),
    data_set=("tables", "table_size", "auto_inc", "create_secondary", "secondary", "mysql_storage_engine"),
    metrics=("client.throughput", "client.queries", "client.latency.p95", "client.errors"),
    seeds=tuple({"test": test, "tables": 4, "table_size": 10_000} for test in SEEDED),
    free=True,
)
