"""Formats of the outputs of other load tools than sysbench, with what each is recognised by. Pure."""

from collections.abc import Callable
from functools import partial

from apps.runs.tool_output import foreign
from apps.runs.tool_output.declaration import FormatFacts, Submitted, SubmittedOutput, mark
from apps.runs.tool_output.parsers import benchbase, go_tpc, go_ycsb, hammerdb, iibench_py, mysqlslap, tpcc_mysql, ycsb
from apps.runs.tool_output.parsers.fio import report as fio
from apps.runs.tool_output.parsers.parsed_output import ParsedOutput
from apps.runs.tool_output.parsers.pgbench import log as pgbench_log
from apps.runs.tool_output.parsers.pgbench import report as pgbench

__all__ = ["FOREIGN_FORMATS", "reader"]

OF_JVM = "a JVM of such a locale"
YCSB = rb"^(?:YCSB Client \d|\[OVERALL\], RunTime\(ms\), )"


def reader(name: str, version: str, parse: Callable[[bytes], ParsedOutput]) -> Callable[[bytes], SubmittedOutput]:
    """Parses an output, and keeps the name of the format and the parser's version with it."""

    def read(content: bytes) -> SubmittedOutput:
        found = parse(content)
        return SubmittedOutput(
            foreign.output_of(found, parser=name, version=version),
            found.threads,
            found.rate,
            repetition=found.repetition,
            is_rated=found.is_rated,
            parameters=found.parameters,
        )

    return read


FOREIGN_FORMATS = (
    Submitted(
        *("tpcc-mysql", "tpcc-mysql", "tpcc-mysql", "txt", "what tpcc_start prints"),
        reader("tpcc-mysql", tpcc_mysql.VERSION, tpcc_mysql.parse),
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
        reader("iibench-py", iibench_py.VERSION, iibench_py.parse),
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
        reader("mysqlslap", mysqlslap.VERSION, mysqlslap.parse),
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
        reader("hammerdb", hammerdb.VERSION, hammerdb.parse),
        mark=mark("“HammerDB CLI v…” or “Vuser 1:…”", rb"^(?:HammerDB CLI v|Vuser \d+:)"),
        facts=FormatFacts(
            *("TPROC-C log, 2 to 3 (TPM before NOPM), 4 and 5", "imitated"),
            "NOPM, TPM; virtual users; ramp-up and timed minutes; errors of virtual users",
            "the transaction counter's log; TPROC-H",
        ),
    ),
    Submitted(
        *("benchbase-summary", "BenchBase, summary", "benchbase", "json", "results/*.summary.json"),
        reader("benchbase-summary", benchbase.VERSION, benchbase.parse_summary),
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
        reader("benchbase-windows", benchbase.VERSION, benchbase.parse_csv),
        series_of="benchbase-summary",
        mark=mark(
            "“Time (seconds),…,Throughput (requests/second),…”",
            rb"^Time \(seconds\),[^\n]*Throughput \(requests/second\)",
        ),
        facts=FormatFacts(
            *("`*.results.csv`, `*.samples.csv`", "imitated"),
            "throughput and latencies of each window",
            "percentiles over all windows; the last window's throughput, unless the summary's time covers the window",
            OF_JVM,
        ),
    ),
    Submitted(
        *("pgbench", "pgbench", "pgbench", "txt", "what pgbench prints, with 2>&1 for the progress lines of -P"),
        reader("pgbench", pgbench.VERSION, pgbench.parse),
        states_work=True,
        parse_if=("connect", reader("pgbench", pgbench.VERSION, partial(pgbench.parse, connects=True))),
        mark=mark(
            "“transaction type: …” or “pgbench (15.18 …)”", rb"^(?:transaction type: |pgbench \(|starting vacuum)"
        ),
        facts=FormatFacts(
            *(
                "pgbench of PostgreSQL 9.4 to 19, with `-P` its progress lines",
                "real: 15, 16, 18; imitated: 13, 14, 19",
            ),
            "tps without connection time (with `-C`: with it), transactions, latency mean and deviation, schedule lag, "
            "skipped, late, failed and retried transactions, connection time; per interval tps, latency, lag, "
            "failures, skipped, retries; errors",
            "statement latencies (`-r`), single scripts, a mean “including failures”",
        ),
    ),
    Submitted(
        *("pgbench-log", "pgbench, log", "pgbench", "txt", "pgbench --log, with or without --aggregate-interval"),
        reader("pgbench-log", pgbench_log.VERSION, pgbench_log.parse),
        series_of="pgbench",
        counts_all=True,
        facts=FormatFacts(
            *("`pgbench --log`, with or without `--aggregate-interval`", "real; imitated: 14"),
            "per interval or second: tps, latency mean, deviation, maximum (single transactions: p50, p95, p99), lag, "
            "skipped, failed, retries",
            "the log's first interval gives no rate: it is not whole",
        ),
    ),
    Submitted(
        *("fio", "fio, JSON", "fio", "json", "fio --output-format=json or json+"),
        reader("fio", fio.VERSION, fio.parse),
        states_work=True,
        mark=mark('“"fio version" : "fio-3…"” in JSON', rb'[{,]\s*"fio version"\s*:\s*"fio-'),
        facts=FormatFacts(
            *("fio 3 with `--output-format=json` or `json+`", "real: 3.33; imitated: 3.16"),
            "reads and writes: requests/s, MiB/s, completion latency (ms): mean, deviation, extremes, p50 to p99.9, "
            "histogram of `json+`; fsyncs; snapshots of `--status-interval` as series",
            "trims, CPU, disks; `unified_rw_reporting`: only requests/s",
        ),
    ),
    Submitted(
        *("go-tpc", "go-tpc: tpcc, tpch, ch", "go-tpc", "txt", "what go-tpc … run prints, in plain style"),
        reader("go-tpc", go_tpc.VERSION, go_tpc.parse),
        mark=mark("“[Current] NEW_ORDER - Takes(s): …” or “[Summary] …”", rb"^\[(?:Current|Summary)\] [A-Z]"),
        facts=FormatFacts(
            *("pingcap/go-tpc 1.0.12 `tpcc`, `ch`; `tpch`; plain style", "real; imitated"),
            "tpmC, efficiency; throughput, transactions, failures of all types; each type's mean, percentiles, "
            "maximum; per interval throughput, new orders, p95, p99; `tpch`: each query's mean, and their sum as "
            "execution time; `ch`: QphH",
            "`tpmTotal` (throughput is counted); QphH with failed queries, which it counts; table and JSON styles",
        ),
    ),
    Submitted(
        *("ycsb", "YCSB", "ycsb", "txt", "what ycsb run or load prints, with -s its status lines too"),
        reader("ycsb", ycsb.VERSION, ycsb.parse),
        mark=mark("“YCSB Client 0.17.0” or “[OVERALL], RunTime(ms), …”", YCSB),
        facts=FormatFacts(
            *("YCSB 0.17 (Java), text", "imitated"),
            "throughput, time, failures; each type's mean, percentiles, extremes; with `-s` per interval throughput "
            "and each type's latencies",
            "garbage collection, `CLEANUP`; histograms of `measurement.histogram.verbose`; JSON exporters",
            f"{OF_JVM}: status lines alone",
        ),
    ),
    Submitted(
        *("go-ycsb", "go-ycsb", "go-ycsb", "txt", "what go-ycsb run or load prints, in plain style"),
        reader("go-ycsb", go_ycsb.VERSION, go_ycsb.parse),
        # YCSB's BasicDB prints such a line, too.
        mark=mark("“***************** properties *****************”", rb"^\*+ properties \*+\r?$", unless=YCSB),
        facts=FormatFacts(
            *("go-ycsb 1.0.3, plain style", "real"),
            "throughput, time, failures; latencies of all (`TOTAL`) and of each type; per interval throughput",
            "latencies before the end: they cover all since the start; table and JSON styles",
        ),
    ),
)
