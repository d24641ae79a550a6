"""Formats of submitted results and attached profiles, with what each is recognised by. Pure.

Names of stored files begin with their format, so that newer parsers can read them again.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial

from apps.runs.tool_output import file_map, report_values, sysbench_values
from apps.runs.tool_output.declaration import Attached, FormatFacts, Submitted, SubmittedOutput, mark
from apps.runs.tool_output.file_map import BadMapping, FileMapping
from apps.runs.tool_output.foreign_formats import FOREIGN_FORMATS, reader
from apps.runs.tool_output.parsers import benchbase, hammerdb, own, report, sysbench
from apps.runs.tool_output.parsers.attachments import digests, perf, pt_query_digest
from apps.runs.tool_output.parsers.parsed_output import NotThisFormat, TextLine, first_line

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


def _read_unmapped(_: bytes) -> SubmittedOutput:
    raise NotThisFormat(1, "", "a mapping beside the file, which says which of its values are which metrics")


def mapped(document: object, started_at: datetime) -> Submitted:
    """The format of a file of the sender's own, by the mapping. Raises BadMapping."""
    found = file_map.read(document)
    parse = reader(OWN, own.VERSION, partial(own.parse, mapping=found, started_at=started_at))
    kept = {"mapping": document, "started_at": started_at.isoformat()}
    return replace(
        SUBMITTED[OWN],
        parse=lambda content: _described(parse(content), found),
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
# Versions, real or imitated.
MACHINE_FACTS = {
    **dict.fromkeys(("cpu", "memory"), ("sysbench's tests of the machine", "real")),
    "fileio": (
        "sysbench's tests of the machine; 1.1, which prints no time and no number of requests",
        "real; imitated",
    ),
}
READS_MACHINE = {
    "cpu": "totals and intervals: events/s; latencies",
    "memory": "totals and intervals: MiB/s and operations/s; latencies",
    "fileio": "totals and intervals: reads, writes and fsyncs/s, MiB/s; latencies",
}
BY_LOCALE = "a build that prints numbers by `LC_NUMERIC`, all of a file"
_ALL = (
    Submitted(
        *("sysbench", "sysbench 1.0, 1.1", "sysbench", "txt", "what sysbench … run prints", _read_sysbench),
        mark=mark("“sysbench 1.0.20 (using …)”", SYSBENCH, unless=b"|".join(MACHINE.values())),
        facts=FormatFacts(
            *("sysbench 1.0.20; 1.1", "real; imitated"),
            "OLTP tests: totals, intervals, histogram, errors, checkpoints",
            "1.1 with `--report-checkpoints` was never seen",
            commas=BY_LOCALE,
        ),
    ),
    *(
        Submitted(
            *(kind, f"sysbench {kind}", kind, "txt", f"what sysbench {kind} … run prints"),
            partial(_read_sysbench, kind=kind),
            mark=mark(f"“sysbench 1.0.20 (using …)” and “{MACHINE_WORDS[kind]}”", SYSBENCH, pattern),
            facts=FormatFacts(*MACHINE_FACTS[kind], READS_MACHINE[kind], commas=BY_LOCALE),
        )
        for kind, pattern in MACHINE.items()
    ),
    *FOREIGN_FORMATS,
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
        *(OWN, "CSV or JSON of your own", "own", "txt", "a CSV or JSON file, with a mapping", _read_unmapped),
        facts=FormatFacts(
            *("any CSV or JSON [with a mapping](../howto/own-results.md)", "imitated"),
            "what the mapping names: totals, series, threads, rate, repetition",
            "what the mapping does not name",
            "tabs or semicolons between its cells",
        ),
    ),
)
SUBMITTED: Mapping[str, Submitted] = {one.name: one for one in _ALL}
ATTACHED: Mapping[str, Attached] = {
    one.name: one
    for one in (
        Attached(
            *("digests", "statements by digest", "jsonl", "the agent, from performance_schema"),
            *(digests.parse, digests.statements),
        ),
        Attached(
            *("pt-query-digest", "pt-query-digest, JSON", "json", "pt-query-digest --output json SLOW_LOG"),
            *(pt_query_digest.parse, pt_query_digest.statements, pt_query_digest.without_literals),
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
