"""The kind of load and the load generator of each workload, which determine agreement across tools.

Two workloads of one kind measure the same property of a system in different ways. Two tools driven by one program
(sysbench with scripts of our own) count as one: a fault of the program affects both.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

READS, WRITES, MIXED, INGEST, TPCC = "reads", "writes", "mixed", "ingest", "tpcc"
SCHEMA_CHANGE, FAILOVER, LATENCY, CONNECTIONS = "schema_change", "failover", "latency", "connections"
MACHINE, OTHER = "machine", "other"

# In display order.
KINDS: Mapping[str, str] = {
    READS: "reads",
    WRITES: "writes",
    MIXED: "reads and writes mixed",
    INGEST: "ingest",
    TPCC: "TPC-C-like transactions",
    SCHEMA_CHANGE: "schema changes under load",
    FAILOVER: "failover",
    LATENCY: "time until a request is served",
    CONNECTIONS: "opening connections",
    MACHINE: "the machine without a database",
    OTHER: "other load",
}
# Tests of sysbench, mixes of asyncload and mysqlslap, and test names in published results.
READING = ("read_only", "point_select", "point_query", "random_points", "random_ranges", "hot_points")
MIXING = ("read_write",)
WRITING = ("write_only", "update", "insert", "delete")

Parameters = Mapping[str, Any]


def kind_of_test(name: str) -> str:
    """Kind of a test, by its name: "oltp_read_only", "update-index"."""
    plain = name.replace("-", "_")
    for kind, words in ((MIXED, MIXING), (READS, READING), (WRITES, WRITING)):
        if any(word in plain for word in words):
            return kind
    return CONNECTIONS if plain == "connect" else OTHER


def _by_test(parameters: Parameters) -> str:
    return kind_of_test(str(parameters.get("test", "")))


def _by_mix(parameters: Parameters) -> str:
    return kind_of_test(str(parameters.get("mix", "")))


def _of_mysqlslap(parameters: Parameters) -> str:
    """From our own parameter, or mysqlslap's --auto-generate-sql-load-type."""
    load = str(parameters.get("auto_generate_sql_load_type", parameters.get("load", "")))
    kinds = {"mixed": MIXED, "read": READS, "key": READS, "write": WRITES, "update": WRITES}
    return _by_mix(parameters) if "mix" in parameters else kinds.get(load, OTHER)


def _by_weights(parameters: Parameters) -> str:
    reads = parameters.get("reads", 0)
    writes = sum(parameters.get(name, 0) for name in ("updates", "creates", "deletes"))
    return MIXED if reads and writes else READS if reads else WRITES


def _of_benchbase(parameters: Parameters) -> str:
    return {"tpcc": TPCC}.get(str(parameters.get("benchmark", "")), OTHER)


def _of_go_tpc(parameters: Parameters) -> str:
    return TPCC if parameters.get("benchmark", "tpcc") == "tpcc" else OTHER


def _of_ycsb(parameters: Parameters) -> str:
    """By the name of YCSB's own workloads; b and d have 5 % of writes, e scans and inserts."""
    if parameters.get("phase") == "load":
        return INGEST
    name = str(parameters.get("workload", ""))
    return READS if name == "workloadc" else MIXED if re.fullmatch(r"workload[abdef]", name) else OTHER


def _of_iibench_py(parameters: Parameters) -> str:
    """With queries beside the inserts it is a mixed load."""
    return INGEST if not parameters.get("query_threads") else MIXED


def _of_pgbench(parameters: Parameters) -> str:
    """Of its built-in scripts: TPC-B and simple-update read a row beside their writes."""
    names = {each.partition(":")[0] for each in str(parameters.get("script", "")).split("+")}
    if not names <= {"tpcb-like", "simple-update", "select-only"}:
        return OTHER
    return READS if names == {"select-only"} else MIXED


# Tool -> its load generator, and the kind or a function of its parameters.
TOOLS: Mapping[str, tuple[str, str | Callable[[Parameters], str]]] = {
    "sysbench": ("sysbench", _by_test),
    "sysbench_oltp": ("sysbench", _by_test),
    "index_cost": ("sysbench", _by_test),
    "app_oltp": ("sysbench", _by_weights),
    "app_ingest": ("sysbench", INGEST),
    "iibench": ("sysbench", INGEST),
    "tpcc_like": ("sysbench", TPCC),
    "execution_latency": ("sysbench", LATENCY),
    "ddl_under_load": ("sysbench", SCHEMA_CHANGE),
    "fileio": ("sysbench", MACHINE),
    "cpu": ("sysbench", MACHINE),
    "memory": ("sysbench", MACHINE),
    "asyncload": ("asyncload", _by_mix),
    "slap": ("mysqlslap", _by_mix),
    "mysqlslap": ("mysqlslap", _of_mysqlslap),
    "data_load": ("data_load", INGEST),
    "failover": ("failover", FAILOVER),
    "tpcc-mysql": ("tpcc-mysql", TPCC),
    "iibench.py": ("iibench.py", _of_iibench_py),
    "hammerdb": ("HammerDB", TPCC),
    "benchbase": ("BenchBase", _of_benchbase),
    "pgbench": ("pgbench", _of_pgbench),
    "fio": ("fio", MACHINE),
    "go-tpc": ("go-tpc", _of_go_tpc),
    "ycsb": ("YCSB", _of_ycsb),
    "go-ycsb": ("go-ycsb", _of_ycsb),
    "own": ("own", OTHER),
}


def kind_of(tool: str, parameters: Parameters) -> str:
    """A key of KINDS; OTHER for unknown tools."""
    _, kind = TOOLS.get(tool, ("", OTHER))
    return kind if isinstance(kind, str) else kind(parameters)


def generator_of(tool: str) -> str:
    """The program that generates the load; an unknown tool counts as its own."""
    program, _ = TOOLS.get(tool, (tool, OTHER))
    return program
