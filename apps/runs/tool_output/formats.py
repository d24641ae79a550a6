"""Formats of submitted results and attached profiles: named by the sender, never guessed. Pure.

Names of stored files begin with their format, so that newer parsers can read them again.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from apps.runs.tool_output import file_map, foreign, report_values, sysbench_values
from apps.runs.tool_output.file_map import BadMapping, FileMapping
from apps.runs.tool_output.parsers import (
    benchbase,
    digests,
    go_tpc,
    go_ycsb,
    hammerdb,
    iibench_py,
    mysqlslap,
    own,
    perf,
    pt_query_digest,
    report,
    sysbench,
    tpcc_mysql,
    ycsb,
)
from apps.runs.tool_output.parsers.parsed_output import NotThisFormat, OutputTable, ParsedOutput, first_line
from apps.runs.tool_output.values import Output

__all__ = [
    "ATTACHED",
    "DEFAULT",
    "MAPPING",
    "OWN",
    "SUBMITTED",
    "Attached",
    "BadMapping",
    "NotThisFormat",
    "Submitted",
    "SubmittedOutput",
    "mapped",
    "mapped_again",
    "of_artifact",
    "series_for",
]


@dataclass(frozen=True)
class SubmittedOutput:
    """A parsed file, and the load and the repetition it states; None: not stated."""

    output: Output
    threads: int | None = None
    rate: float | None = None
    repetition: int | None = None


@dataclass(frozen=True)
class Submitted:
    """A format of a run's output. `tool`: the tool of its workloads. `made_by`: the file's source. `series_of`: for a
    format with series, the format of the same tool's totals that they supplement. `mapping`: of the sender, kept beside
    the file, for a format that needs one; see `mapped`."""

    name: str
    title: str
    tool: str
    extension: str
    made_by: str
    read: Callable[[bytes], SubmittedOutput]
    series_of: str = ""
    mapping: bytes | None = None

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
        return SubmittedOutput(
            foreign.output_of(found, parser=name, version=version), found.threads, found.rate, found.repetition
        )

    return read


def _read_unmapped(_: bytes) -> SubmittedOutput:
    raise NotThisFormat(1, "", "a mapping beside the file, which says which of its values are which metrics")


def mapped(document: object, started_at: datetime) -> Submitted:
    """The format of a file of the sender's own, by the mapping. Raises BadMapping."""
    found = file_map.read(document)
    read = _read(OWN, own.VERSION, partial(own.parse, mapping=found, started_at=started_at))
    kept = {"mapping": document, "started_at": started_at.isoformat()}
    return replace(
        SUBMITTED[OWN],
        read=lambda content: _described(read(content), found),
        mapping=json.dumps(kept, ensure_ascii=False, indent=1).encode(),
    )


def mapped_again(kept: bytes) -> Submitted:
    """As `mapped`, from the mapping as it was kept. Raises NotThisFormat."""
    try:
        held = json.loads(kept)
        return mapped(held["mapping"], datetime.fromisoformat(held["started_at"]))
    except (ValueError, KeyError, TypeError) as error:
        raise NotThisFormat(1, "", f"a mapping kept with the run; {error}") from error


def _described(submitted: SubmittedOutput, found: FileMapping) -> SubmittedOutput:
    return replace(submitted, output=replace(submitted.output, described=found.own))


DEFAULT, OWN = "sysbench", "own"
MAPPING = "own-mapping.json"  # its name among a run's files
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
        *("failover-report", "failover, report", "failover", "jsonl", "splashboard-agent report failover"),
        partial(_read_report, tool="failover"),
    ),
    Submitted(
        *("schema-change-report", "schema change, report", "ddl_under_load", "jsonl"),
        *("splashboard-agent report schema-change", partial(_read_report, tool="ddl_under_load")),
    ),
    Submitted(
        *("go-tpc", "go-tpc: tpcc, tpch, ch", "go-tpc", "txt", "what go-tpc … run prints, in plain style"),
        _read("go-tpc", go_tpc.VERSION, go_tpc.parse),
    ),
    Submitted(
        *("ycsb", "YCSB", "ycsb", "txt", "what ycsb run or load prints, with -s its status lines too"),
        _read("ycsb", ycsb.VERSION, ycsb.parse),
    ),
    Submitted(
        *("go-ycsb", "go-ycsb", "go-ycsb", "txt", "what go-ycsb run or load prints, in plain style"),
        _read("go-ycsb", go_ycsb.VERSION, go_ycsb.parse),
    ),
    Submitted(OWN, "CSV or JSON of your own", "own", "txt", "a CSV or JSON file, with a mapping", _read_unmapped),
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
