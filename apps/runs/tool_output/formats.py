"""Formats of submitted results and attached profiles, with what each is recognised by. Pure.

Names of stored files begin with their format, so that newer parsers can read them again.
"""

from collections.abc import Callable, Mapping
from functools import partial

from apps.runs.tool_output import foreign, report_values, sysbench_values
from apps.runs.tool_output.declaration import Attached, FormatFacts, Submitted, SubmittedOutput, mark
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
from apps.runs.tool_output.parsers.parsed_output import NotThisFormat, ParsedOutput, TextLine, first_line
from apps.runs.tool_output.parsers.pgbench import log as pgbench_log
from apps.runs.tool_output.parsers.pgbench import report as pgbench

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


ANOTHER = "the output of one run; this begins another: send each as a file of its own, as splashboard submit does"


def _read_sysbench(content: bytes, kind: str = "oltp") -> SubmittedOutput:
    """Parses the output of sysbench's tests of that `kind`. A file without any known line is refused."""
    parsed = sysbench.parse(content)
    if not parsed.has_known_lines:
        raise first_line(content).refuse("sysbench's output, which begins “sysbench 1.0.20 (using …)”")
    if parsed.second_run:
        raise _line_at(content, parsed.second_run).refuse(ANOTHER)
    if parsed.kind not in ("", kind):
        made, wanted = FORMAT_OF[parsed.kind], FORMAT_OF[kind]
        raise NotThisFormat(1, "", f"of sysbench's {kind}, but of its {parsed.kind}: choose {made}, not {wanted}")
    return SubmittedOutput(sysbench_values.read(content), parsed.threads, parsed.rate)


def _read_report(content: bytes, tool: str) -> SubmittedOutput:
    """Parses a report of our own format, printed by the agent's program or made from what others measured."""
    lines = report.parse(content).lines
    begins = [(each.line, each.start) for each in lines if isinstance(each.line, report.Begin)]
    if not begins:
        raise first_line(content).refuse('a report, whose first line is {"kind":"begin",…}')
    if len(begins) > 1:
        raise _line_at(content, begins[1][1]).refuse(ANOTHER)
    begun = begins[0][0]
    if begun.tool != tool:
        raise NotThisFormat(1, "", f"the report of {tool}, but of {begun.tool[:60]}")
    return SubmittedOutput(report_values.read(content), threads=1)


def _line_at(content: bytes, start: int) -> TextLine:
    text = content[start:].partition(b"\n")[0].removesuffix(b"\r")
    return TextLine(content.count(b"\n", 0, start) + 1, start, text, ended=True)


def _read(name: str, version: str, parse: Callable[[bytes], ParsedOutput]) -> Callable[[bytes], SubmittedOutput]:
    def read(content: bytes) -> SubmittedOutput:
        found = parse(content)
        output = foreign.output_of(found, parser=name, version=version)
        return SubmittedOutput(output, found.threads, is_rated=found.is_rated, parameters=found.parameters)

    return read


DEFAULT = "sysbench"
# Kind of test -> format and tool of its workloads.
FORMAT_OF = {"oltp": DEFAULT, "cpu": "cpu", "memory": "memory", "fileio": "fileio"}
SYSBENCH = rb"^sysbench \d\S*(?: \(using [^\n]*\))?\r?$"
# What sysbench's tests of the machine print -> their name.
MACHINE = {
    "cpu": rb"^(?:CPU speed:|Prime numbers limit: )",
    "memory": rb"^Running memory speed test|MiB transferred \(",
    "fileio": rb"^(?:File operations:|Extra file open flags: )",
}
MACHINE_WORDS = {
    "cpu": "Prime numbers limit: …",
    "memory": "Running memory speed test …",
    "fileio": "Extra file open flags: …",
}
READS_MACHINE = {
    "cpu": "totals and intervals: events/s; latencies",
    "memory": "totals and intervals: MiB/s and operations/s; latencies",
    "fileio": "totals and intervals: reads, writes and fsyncs/s, MiB/s; latencies",
}
_ALL = (
    Submitted(
        *("sysbench", "sysbench 1.0, 1.1", "sysbench", "txt", "what sysbench … run prints", _read_sysbench),
        mark=mark("“sysbench 1.0.20 (using …)”", SYSBENCH, unless=b"|".join(MACHINE.values())),
        facts=FormatFacts(
            *("sysbench 1.0.20; 1.1", "real; imitated"),
            "OLTP tests: totals, intervals, histogram, errors, checkpoints",
            "1.1 with `--report-checkpoints` was never seen",
        ),
    ),
    *(
        Submitted(
            *(kind, f"sysbench {kind}", kind, "txt", f"what sysbench {kind} … run prints"),
            partial(_read_sysbench, kind=kind),
            mark=mark(f"“sysbench 1.0.20 (using …)” and “{MACHINE_WORDS[kind]}”", SYSBENCH, pattern),
            facts=FormatFacts("sysbench's tests of the machine", "real", READS_MACHINE[kind]),
        )
        for kind, pattern in MACHINE.items()
    ),
    Submitted(
        *("tpcc-mysql", "tpcc-mysql", "tpcc-mysql", "txt", "what tpcc_start prints"),
        _read("tpcc-mysql", tpcc_mysql.VERSION, tpcc_mysql.parse),
        mark=mark("“*** … TPC-C Load Generator ***”", rb"^\*\*\* [^\n]*TPC-C Load Generator \*\*\*"),
        facts=FormatFacts(
            *("Percona-Lab/tpcc-mysql, with `trx:` (since 2014) and before", "imitated"),
            "TpmC; throughput, transactions, failures of all types; ramp-up and length; per interval throughput, new "
            "orders, New-Order's p95, p99 and maximum; MySQL errors",
            "response times of the older form (unit not settled)",
        ),
    ),
    Submitted(
        *("iibench-py", "iibench.py", "iibench.py", "txt", "what iibench.py prints"),
        _read("iibench-py", iibench_py.VERSION, iibench_py.parse),
        mark=mark(
            "“i_sec t_sec i_ips …” or “#rows #seconds …”", rb"^(?:#rows #seconds #total_seconds |i_sec\tt_sec\t)"
        ),
        facts=FormatFacts(
            *("mdcallag/mytools `iibench.py`, 14 or 17 columns with tabs; the form of 2009", "imitated"),
            "rows/s, deletes/s and reads/s of each interval and in all; rows; time; retries",
            "response times: `max_i` and the histogram of ten steps cover inserts alone",
        ),
    ),
    Submitted(
        *("mysqlslap", "mysqlslap, CSV", "mysqlslap", "csv", "mysqlslap --csv=FILE, one result"),
        _read("mysqlslap", mysqlslap.VERSION, mysqlslap.parse),
        mark=mark(
            "“engine,load,0.018,0.017,0.020,clients,queries”",
            rb"\A\s{0,100}[A-Za-z0-9_]*,[a-z]+(?:,\d+\.\d{3}){3},\d+,\d+\r?$",
        ),
        facts=FormatFacts(
            *("`--csv`, MariaDB 10.11.19", "real"),
            "mean, shortest, longest time (s); clients; statements; statements/s",
            "files with several lines: send each alone",
        ),
    ),
    Submitted(
        *("hammerdb", "HammerDB, log of a run", "hammerdb", "log", "hammerdb.log or what hammerdbcli prints, one run"),
        _read("hammerdb", hammerdb.VERSION, hammerdb.parse),
        mark=mark("“HammerDB CLI v…” or “Vuser 1:…”", rb"^(?:HammerDB CLI v|Vuser \d+:)"),
        facts=FormatFacts(
            *("TPROC-C log, 2 to 3 (TPM before NOPM), 4 and 5", "imitated"),
            "NOPM, TPM; virtual users; ramp-up and timed minutes; errors of virtual users",
            "the transaction counter's log; TPROC-H",
        ),
    ),
    Submitted(
        *("benchbase-summary", "BenchBase, summary", "benchbase", "json", "results/*.summary.json"),
        _read("benchbase-summary", benchbase.VERSION, benchbase.parse_summary),
        mark=mark(
            "“Throughput (requests/second)” and “Latency Distribution” in JSON",
            rb'"Latency Distribution"\s*:\s*\{',
            rb'"Throughput \(requests/second\)"',
        ),
        facts=FormatFacts(
            *("`*.summary.json` of 2021 to 2024", "imitated"),
            *("throughput, goodput, requests, time, latencies", "DBMS parameters"),
        ),
    ),
    Submitted(
        *("benchbase-windows", "BenchBase, windows of time", "benchbase", "csv", "*.results.csv or *.samples.csv"),
        _read("benchbase-windows", benchbase.VERSION, benchbase.parse_csv),
        series_of="benchbase-summary",
        mark=mark(
            "“Time (seconds),…,Throughput (requests/second),…”",
            rb"^Time \(seconds\),[^\n]*Throughput \(requests/second\)",
        ),
        facts=FormatFacts(
            *("`*.results.csv`, `*.samples.csv`", "imitated"),
            *("throughput and latencies of each window", "percentiles over all windows"),
        ),
    ),
    *(
        Submitted(
            *(name, title, tool, "jsonl", f"splashboard-agent report {command}", partial(_read_report, tool=tool)),
            mark=mark(
                f'{{"kind":"begin","tool":"{tool}",…}}',
                rb'^\{"kind":"begin"[^\n]*"tool"\s*:\s*"' + tool.encode() + b'"',
            ),
            facts=FormatFacts(
                "our [report format](report-format.md), printed by the agent's programs or by "
                "`splashboard-agent report` from what others measured",
                "real",
                f"all values, events and intervals; the run appears on {page}",
                "rows are not read back",
            ),
        )
        for name, title, tool, command, page in (
            ("failover-report", "failover, report", "failover", "failover", "Failovers"),
            ("schema-change-report", "schema change, report", "ddl_under_load", "schema-change", "Schema changes"),
        )
    ),
    Submitted(
        *("pgbench", "pgbench", "pgbench", "txt", "what pgbench prints, with 2>&1 for the progress lines of -P"),
        _read("pgbench", pgbench.VERSION, pgbench.parse),
        states_work=True,
        mark=mark(
            "“transaction type: …” or “pgbench (15.18 …)”", rb"^(?:transaction type: |pgbench \(|starting vacuum)"
        ),
        facts=FormatFacts(
            *("pgbench of PostgreSQL 9.4 to 18, with `-P` its progress lines", "real: 15; imitated: 13, 14, 18"),
            "tps without connection time (with `-C`: with it), transactions, latency mean and deviation, schedule lag, "
            "skipped, late, failed and retried transactions, connection time; per interval tps, latency, lag, "
            "failures, skipped, retries; errors",
            "statement latencies (`-r`), single scripts, a mean “including failures”",
        ),
    ),
    Submitted(
        *("pgbench-log", "pgbench, log", "pgbench", "txt", "pgbench --log, with or without --aggregate-interval"),
        _read("pgbench-log", pgbench_log.VERSION, pgbench_log.parse),
        series_of="pgbench",
        counts_all=True,
        facts=FormatFacts(
            *("`pgbench --log`, with or without `--aggregate-interval`", "real"),
            "per interval or second: tps, latency mean, deviation, maximum (single transactions: p50, p95, p99), lag, "
            "skipped, failed, retries",
            "the log's first interval gives no rate: it is not whole",
        ),
    ),
    Submitted(
        *("fio", "fio, JSON", "fio", "json", "fio --output-format=json or json+"),
        _read("fio", fio.VERSION, fio.parse),
        states_work=True,
        mark=mark('“"fio version" : "fio-3…"” in JSON', rb'^\s*"fio version"\s*:\s*"fio-'),
        facts=FormatFacts(
            *("fio 3 with `--output-format=json` or `json+`", "real: 3.33"),
            "reads and writes: requests/s, MiB/s, completion latency (ms): mean, deviation, extremes, p50 to p99.9, "
            "histogram of `json+`; fsyncs; snapshots of `--status-interval` as series",
            "trims, CPU, disks; `unified_rw_reporting`: only requests/s",
        ),
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
