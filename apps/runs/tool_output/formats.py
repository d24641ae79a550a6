"""Formats of submitted results and attached profiles: named by the sender, never guessed. Pure.

Names of stored files begin with their format, so that newer parsers can read them again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from apps.runs.tool_output import foreign, report_values, sysbench_values
from apps.runs.tool_output.parsers import (
    benchbase,
    digests,
    hammerdb,
    iibench_py,
    mysqlslap,
    perf,
    pt_query_digest,
    report,
    sysbench,
    tpcc_mysql,
)
from apps.runs.tool_output.parsers.fio import report as fio
from apps.runs.tool_output.parsers.parsed_output import NotThisFormat, OutputTable, ParsedOutput, first_line
from apps.runs.tool_output.parsers.pgbench import log as pgbench_log
from apps.runs.tool_output.parsers.pgbench import report as pgbench
from apps.runs.tool_output.values import Output

__all__ = [
    "ATTACHED",
    "DEFAULT",
    "SUBMITTED",
    "Attached",
    "NotThisFormat",
    "Submitted",
    "SubmittedOutput",
    "of_artifact",
    "series_for",
]


@dataclass(frozen=True)
class SubmittedOutput:
    """A parsed file, and the load and the workload's parameters that it states; None: not stated. `is_rated`: whether a
    rate limited the load."""

    output: Output
    threads: int | None = None
    rate: float | None = None
    is_rated: bool | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Submitted:
    """A format of a run's output. `tool`: the tool of its workloads. `made_by`: the file's source. `series_of`: for a
    format with series, the format of the same tool's totals that they supplement. `states_work`: the output states the
    workload's parameters. `counts_all`: such series count all transactions of the totals but those of one interval."""

    name: str
    title: str
    tool: str
    extension: str
    made_by: str
    read: Callable[[bytes], SubmittedOutput]
    series_of: str = ""
    states_work: bool = False
    counts_all: bool = False

    @property
    def artifact(self) -> str:
        return f"{self.name}.{self.extension}"


@dataclass(frozen=True)
class Attached:
    """A format of a further file of a run, such as a profile."""

    name: str
    title: str
    extension: str
    made_by: str
    read: Callable[[bytes], OutputTable]


def _read_sysbench(content: bytes, kind: str = "oltp") -> SubmittedOutput:
    """Parses the output of sysbench's tests of that `kind`. A file without any known line is refused."""
    parsed = sysbench.parse(content)
    known = parsed.totals or parsed.intervals or parsed.messages or parsed.version or parsed.threads is not None
    if not known:
        raise first_line(content).refuse("sysbench's output, which begins “sysbench 1.0.20 (using …)”")
    if parsed.second_run:
        line = content.count(b"\n", 0, parsed.second_run) + 1
        raise NotThisFormat(line, "", "one run; another begins here: send the output of each by itself")
    if parsed.kind not in ("", kind):
        made, wanted = FORMAT_OF[parsed.kind], FORMAT_OF[kind]
        raise NotThisFormat(1, "", f"of sysbench's {kind}, but of its {parsed.kind}: choose {made}, not {wanted}")
    return SubmittedOutput(sysbench_values.read(content), parsed.threads, parsed.rate)


def _read_report(content: bytes, tool: str) -> SubmittedOutput:
    """Parses a report of our own format, printed by the agent's program or made from what others measured."""
    begun = next((p.line for p in report.parse(content).lines if isinstance(p.line, report.Begin)), None)
    if begun is None:
        raise first_line(content).refuse('a report, whose first line is {"kind":"begin",…}')
    if begun.tool != tool:
        raise NotThisFormat(1, "", f"the report of {tool}, but of {begun.tool[:60]}")
    return SubmittedOutput(report_values.read(content), threads=1)


def _read(name: str, version: str, parse: Callable[[bytes], ParsedOutput]) -> Callable[[bytes], SubmittedOutput]:
    def read(content: bytes) -> SubmittedOutput:
        found = parse(content)
        output = foreign.output_of(found, parser=name, version=version)
        return SubmittedOutput(output, found.threads, is_rated=found.is_rated, parameters=found.parameters)

    return read


DEFAULT = "sysbench"
# Kind of test -> format and tool of its workloads.
FORMAT_OF = {"oltp": DEFAULT, "cpu": "cpu", "memory": "memory", "fileio": "fileio"}
_ALL = (
    Submitted("sysbench", "sysbench 1.0, 1.1", "sysbench", "txt", "what sysbench … run prints", _read_sysbench),
    *(
        Submitted(
            *(kind, f"sysbench {kind}", kind, "txt", f"what sysbench {kind} … run prints"),
            partial(_read_sysbench, kind=kind),
        )
        for kind in ("cpu", "memory", "fileio")
    ),
    Submitted(
        *("tpcc-mysql", "tpcc-mysql", "tpcc-mysql", "txt", "what tpcc_start prints"),
        _read("tpcc-mysql", tpcc_mysql.VERSION, tpcc_mysql.parse),
    ),
    Submitted(
        *("iibench-py", "iibench.py", "iibench.py", "txt", "what iibench.py prints"),
        _read("iibench-py", iibench_py.VERSION, iibench_py.parse),
    ),
    Submitted(
        *("mysqlslap", "mysqlslap, CSV", "mysqlslap", "csv", "mysqlslap --csv=FILE, one result"),
        _read("mysqlslap", mysqlslap.VERSION, mysqlslap.parse),
    ),
    Submitted(
        *("hammerdb", "HammerDB, log of a run", "hammerdb", "log", "hammerdb.log or what hammerdbcli prints, one run"),
        _read("hammerdb", hammerdb.VERSION, hammerdb.parse),
    ),
    Submitted(
        *("benchbase-summary", "BenchBase, summary", "benchbase", "json", "results/*.summary.json"),
        _read("benchbase-summary", benchbase.VERSION, benchbase.parse_summary),
    ),
    Submitted(
        *("benchbase-windows", "BenchBase, windows of time", "benchbase", "csv", "*.results.csv or *.samples.csv"),
        _read("benchbase-windows", benchbase.VERSION, benchbase.parse_csv),
        series_of="benchbase-summary",
    ),
    Submitted(
        *("pgbench", "pgbench", "pgbench", "txt", "what pgbench prints, with 2>&1 for the progress lines of -P"),
        _read("pgbench", pgbench.VERSION, pgbench.parse),
        states_work=True,
    ),
    Submitted(
        *("pgbench-log", "pgbench, log", "pgbench", "txt", "pgbench --log, with or without --aggregate-interval"),
        _read("pgbench-log", pgbench_log.VERSION, pgbench_log.parse),
        series_of="pgbench",
        counts_all=True,
    ),
    Submitted(
        *("fio", "fio, JSON", "fio", "json", "fio --output-format=json or json+"),
        _read("fio", fio.VERSION, fio.parse),
        states_work=True,
    ),
    Submitted(
        *("failover-report", "failover, report", "failover", "jsonl", "splashboard-agent report failover"),
        partial(_read_report, tool="failover"),
    ),
    Submitted(
        *("schema-change-report", "schema change, report", "ddl_under_load", "jsonl"),
        *("splashboard-agent report schema-change", partial(_read_report, tool="ddl_under_load")),
    ),
)
SUBMITTED: Mapping[str, Submitted] = {one.name: one for one in _ALL}
ATTACHED: Mapping[str, Attached] = {
    one.name: one
    for one in (
        Attached("digests", "statements by digest", "jsonl", "the agent, from performance_schema", digests.parse),
        Attached(
            *("pt-query-digest", "pt-query-digest, JSON", "json", "pt-query-digest --output json SLOW_LOG"),
            pt_query_digest.parse,
        ),
        Attached("perf-report", "perf report", "txt", "perf report --stdio", perf.parse_report),
        Attached("perf-script", "perf script", "txt", "perf script", perf.parse_script),
        Attached(
            *("hammerdb-timing", "HammerDB, response times", "json", "jobs ID timing, with the time profiler on"),
            hammerdb.parse_timing,
        ),
        Attached(
            *("benchbase-histograms", "BenchBase, outcomes", "json", "results/*.histograms.json, by -jh"),
            benchbase.parse_histograms,
        ),
    )
}


def series_for(chosen: Submitted) -> Submitted | None:
    """The format of the separate file with the series of such an output; None: none, or in the output itself."""
    return next((one for one in SUBMITTED.values() if one.series_of == chosen.name), None)


def of_artifact(name: str) -> Attached | None:
    """The format of an attached file, from its stored name."""
    return ATTACHED.get(name.partition(".")[0])
