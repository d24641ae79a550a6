"""ALTER TABLE while sysbench's oltp_read_write runs at a fixed rate."""

from workers.protocol.workloads.declaration import Parameter, WorkloadSpec

OPERATIONS = ("add_column", "add_column_not_null", "drop_column", "add_index")
ALGORITHMS = ("copy", "inplace", "instant", "default")
LOCKS = ("default", "none", "shared", "exclusive")
# s after a statement in which a stall is still attributed to it
SETTLE = 3.0
SPEC = WorkloadSpec(
    tool="ddl_under_load",
    title="Schema change",
    former_title="Schema changes under load",
    named_by=("algorithm",),
    description="sysbench's oltp_read_write at a fixed rate while its first table is altered: the duration of the "
    "statements, the depth and length of the load's stalls, and what writers of another table and an open transaction "
    "in its way pay. The load level must have a rate that the system serves.",
    parameters=(
        Parameter("tables", "whole", "tables of the load; the first is altered", 1, low=1, high=1000),
        Parameter("table_size", "whole", "rows of each table", 100_000, low=1),
        Parameter("operation", "choice", "change made by each statement", "add_column", choices=OPERATIONS),
        Parameter("algorithm", "choice", "requested ALGORITHM", "copy", choices=ALGORITHMS),
        Parameter("lock", "choice", "requested LOCK", "default", choices=LOCKS),
        Parameter(
            "at", "number", "s from the start of the measured phase to the first statement", 10, low=4, high=86_400
        ),
        Parameter("count", "whole", "statements, one after the other", 1, low=1, high=100),
        Parameter("pause", "number", "s between statements", 10, low=0, high=86_400),
        Parameter(
            "hold",
            "number",
            "s for which an open transaction holds the table's metadata lock when a statement starts; 0: none",
            0,
            high=3600,
        ),
        Parameter("stall_share", "number", "a second below this % of the baseline is a stall", 50, low=1, high=100),
    ),
    data_set=("tables", "table_size"),
    metrics=(
        "ddl.gap",
        "ddl.gap_before",
        "ddl.duration",
        "ddl.stall.length",
        "ddl.stall.depth",
        "ddl.stall.depth_before",
        "ddl.metadata_lock_wait",
        "ddl.other_tables.gap",
        "ddl.holders_lost",
        "client.throughput",
        "client.latency.p95",
        "client.latency.max",
    ),
    primary_metric="ddl.gap",
    seeds=(
        {"algorithm": "copy"},
        {"algorithm": "inplace"},
        {"algorithm": "instant"},
        {"algorithm": "instant", "hold": 5},
        {"algorithm": "instant", "count": 10},
    ),
    unsteady="statements disturb its load on purpose",
)
