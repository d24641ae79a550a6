"""Where the outputs of other tools lie, and what their parsers make of them."""

from collections.abc import Callable

from apps.runs.tool_output.parsers import (
    benchbase,
    go_tpc,
    go_ycsb,
    hammerdb,
    iibench_py,
    mysqlslap,
    tpcc_mysql,
    ycsb,
)
from apps.runs.tool_output.parsers.attachments import perf, pt_query_digest
from apps.runs.tool_output.parsers.fio import report as fio
from apps.runs.tool_output.parsers.parsed_output import OutputTable, ParsedOutput
from apps.runs.tool_output.parsers.pgbench import log as pgbench_log
from apps.runs.tool_output.parsers.pgbench import report as pgbench
from tests.paths import DATA

OUTPUTS = DATA / "outputs"
RUNS: dict[str, Callable[[bytes], ParsedOutput]] = {
    "tpcc_mysql/two_intervals.txt": tpcc_mysql.parse,
    "tpcc_mysql/old_form.txt": tpcc_mysql.parse,
    "iibench_py/tabs.txt": iibench_py.parse,
    "iibench_py/form_2009.txt": iibench_py.parse,
    "mysqlslap/innodb_t4.csv": mysqlslap.parse,
    "hammerdb/mariadb.log": hammerdb.parse,
    "hammerdb/version_3.log": hammerdb.parse,
    "benchbase/tpcc.summary.json": benchbase.parse_summary,
    "benchbase/tpcc.results.csv": benchbase.parse_csv,
    "benchbase/tpcc.samples.csv": benchbase.parse_csv,
    "go_tpc/tpcc.txt": go_tpc.parse,
    "go_tpc/ch.txt": go_tpc.parse,
    "go_tpc/tpch.txt": go_tpc.parse,
    "go_ycsb/run.txt": go_ycsb.parse,
    "go_ycsb/load.txt": go_ycsb.parse,
    "ycsb/workloada.txt": ycsb.parse,
    "pgbench/select.txt": pgbench.parse,
    "pgbench/limit.txt": pgbench.parse,
    "pgbench/weights.txt": pgbench.parse,
    "pgbench/version_13.txt": pgbench.parse,
    "pgbench/version_14.txt": pgbench.parse,
    "pgbench/version_16.txt": pgbench.parse,
    "pgbench/version_18.txt": pgbench.parse,
    "pgbench/version_19.txt": pgbench.parse,
    "pgbench/aggregated_one_thread.log": pgbench_log.parse,
    "fio/fsync_ramp.json": fio.parse,
    "fio/noise.txt": fio.parse,
}
TABLES: dict[str, Callable[[bytes], OutputTable]] = {
    "hammerdb/timing.json": hammerdb.parse_timing,
    "benchbase/tpcc.histograms.json": benchbase.parse_histograms,
    "pt_query_digest/slow_log.json": pt_query_digest.parse,
    "perf/report_flat.txt": perf.parse_report,
    "perf/report_children.txt": perf.parse_report,
    "perf/script.txt": perf.parse_script,
}


def content(name: str) -> bytes:
    return (OUTPUTS / name).read_bytes()


def parsed(name: str, *changes: tuple[str, str]) -> ParsedOutput:
    return RUNS[name](_changed(name, changes))


def table(name: str, *changes: tuple[str, str]) -> OutputTable:
    return TABLES[name](_changed(name, changes))


def _changed(name: str, changes: tuple[tuple[str, str], ...]) -> bytes:
    text = content(name)
    for before, after in changes:
        assert before.encode() in text, before
        text = text.replace(before.encode(), after.encode())
    return text
