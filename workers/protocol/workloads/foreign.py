"""Workloads of external tools, whose results are submitted. No agent runs them.

They accept undeclared parameters, as plain texts and numbers: the varied ones distinguish two workloads.
"""

from collections.abc import Mapping
from dataclasses import replace

from workers.protocol.workloads.declaration import Parameter, WorkloadSpec

WAREHOUSES = Parameter("warehouses", "whole", "warehouses of the data set", low=1, high=10_000_000)

TPCC_MYSQL = WorkloadSpec(
    tool="tpcc-mysql",
    title="tpcc-mysql",
    description="Percona's TPC-C-like load without think times.",
    parameters=(WAREHOUSES,),
    data_set=("warehouses",),
    metrics=("client.new_orders.per_minute", "client.throughput"),
    primary_metric="client.throughput",
    seeds=(),
    free=True,
)
IIBENCH_PY = WorkloadSpec(
    tool="iibench.py",
    title="iibench.py",
    description="Mark Callaghan's insert benchmark: rows into one growing table, with concurrent queries if requested.",
    data_set=("num_secondary_indexes", "data_length_max", "num_partitions", "engine"),
    metrics=("client.rows", "client.rows_inserted", "client.elapsed"),
    primary_metric="client.rows",
    seeds=(),
    free=True,
)
HAMMERDB = WorkloadSpec(
    tool="hammerdb",
    title="HammerDB TPROC-C",
    description="HammerDB's TPC-C-like load through stored procedures, by default without think times.",
    parameters=(WAREHOUSES,),
    data_set=("warehouses",),
    metrics=("client.new_orders.per_minute", "server.transactions.per_minute"),
    primary_metric="client.new_orders.per_minute",
    seeds=(),
    free=True,
)
BENCHBASE = WorkloadSpec(
    tool="benchbase",
    title="BenchBase",
    description="One of BenchBase's benchmarks, for example tpcc or ycsb.",
    parameters=(
        Parameter("benchmark", "text", "name of the benchmark in BenchBase"),
        Parameter("scale_factor", "number", "scale factor", low=0.000001, high=10_000_000),
    ),
    data_set=("scale_factor",),
    metrics=("client.throughput", "client.goodput"),
    seeds=(),
    free=True,
)
SLAP = WorkloadSpec(
    tool="mysqlslap",
    title="mysqlslap",
    description="A fixed number of statements from many clients at once, timed from first to last.",
    data_set=("number_int_cols", "number_char_cols", "auto_generate_sql_write_number", "engine"),
    metrics=("client.execution_time.avg", "client.queries"),
    primary_metric="client.execution_time.avg",
    seeds=(),
    free=True,
)
PGBENCH = WorkloadSpec(
    tool="pgbench",
    title="pgbench",
    named_by=("script",),
    description="PostgreSQL's pgbench. Its report states these parameters: they need not be given.",
    parameters=(
        Parameter(
            "script", "text", "tpcb-like, simple-update, select-only, a file's name, or several as `NAME:WEIGHT+…`"
        ),
        Parameter("scale", "whole", "scaling factor of pgbench's tables; of other tables 1", 1, low=1),
        Parameter("mode", "choice", "query mode (-M)", "simple", choices=("simple", "extended", "prepared")),
        Parameter("connect", "switch", "a connection for each transaction (-C)", False),
        Parameter("max_tries", "whole", "tries of a transaction; 0: no limit", 1),
        Parameter("latency_limit", "number", "ms after which a transaction counts as late (-L); 0: none", 0),
    ),
    data_set=("scale", "partitions", "partition_method", "fillfactor", "unlogged_tables", "foreign_keys"),
    metrics=("client.throughput", "client.latency.avg", "client.latency.stddev", "client.start_delay.avg"),
    seeds=(),
    free=True,
)
FIO = WorkloadSpec(
    tool="fio",
    title="fio",
    named_by=("rw",),
    description="fio on files or a device of the machine; load levels are its jobs (numjobs). Its JSON states these "
    "parameters and others: they need not be given. Buffered reads may come from the page cache.",
    parameters=(
        Parameter("rw", "text", "order and kind of requests: read, randread, write, randwrite, randrw, …"),
        Parameter("ioengine", "text", "how requests are made", "psync"),
        Parameter("iodepth", "whole", "requests in flight of each job; synchronous engines have 1", 1, low=1),
        Parameter("direct", "switch", "O_DIRECT, past the page cache", False),
    ),
    data_set=("size", "filesize", "nrfiles"),
    metrics=(
        *("client.file_requests", "client.file_reads", "client.file_writes", "client.file_fsyncs"),
        *("client.file_read_mib", "client.file_write_mib"),
        *("client.file_read.latency.p99", "client.file_write.latency.p99", "client.file_fsync.latency.p99"),
    ),
    primary_metric="client.file_requests",
    seeds=(),
    needs_database=False,
    free=True,
)
MEMORY = WorkloadSpec(
    tool="memory",
    title="sysbench memory",
    description="sysbench's memory test: blocks written to or read from memory as fast as possible.",
    metrics=("client.memory_mib", "client.memory_operations", "client.latency.p95"),
    primary_metric="client.memory_mib",
    seeds=(),
    needs_database=False,
    free=True,
)
GO_TPC = WorkloadSpec(
    tool="go-tpc",
    title="go-tpc",
    description="PingCAP's TPC-C- and TPC-H-like loads, by default without think times; ch runs both at once.",
    parameters=(Parameter("benchmark", "choice", "go-tpc's command", "tpcc", choices=("tpcc", "tpch", "ch")),),
    data_set=("warehouses", "sf", "parts", "partition_type"),
    metrics=("client.new_orders.per_minute", "client.tpcc_efficiency", "client.throughput"),
    seeds=(),
    free=True,
    named_by=("benchmark",),
)
_YCSB = WorkloadSpec(
    tool="ycsb",
    title="YCSB",
    description="The Yahoo! Cloud Serving Benchmark: reads and writes of records by key.",
    parameters=(
        Parameter("workload", "text", "name of the workload's file, for example workloada"),
        Parameter("phase", "choice", "load or run", "run", choices=("load", "run")),
    ),
    data_set=("recordcount", "fieldcount", "fieldlength"),
    metrics=("client.throughput", "client.read.latency.p99", "client.update.latency.p99"),
    seeds=(),
    free=True,
    named_by=("workload",),
)
GO_YCSB = replace(_YCSB, tool="go-ycsb", title="go-ycsb", description="PingCAP's YCSB in Go: reads and writes by key.")
OWN = WorkloadSpec(
    tool="own",
    title="Own",
    description="A benchmark of one's own: its results come as CSV or JSON with a mapping.",
    parameters=(Parameter("benchmark", "text", "name of the benchmark"),),
    seeds=(),
    free=True,
    named_by=("benchmark",),
)
FOREIGN: Mapping[str, WorkloadSpec] = {
    spec.tool: spec
    for spec in (
        *(TPCC_MYSQL, IIBENCH_PY, HAMMERDB, BENCHBASE, SLAP, PGBENCH, FIO, MEMORY),
        *(GO_TPC, _YCSB, GO_YCSB, OWN),
    )
}
