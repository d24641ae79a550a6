"""Parsers of HammerDB's TPROC-C: the log of virtual users, and the response times of its time profiler. Pure.

Both per minute: NOPM counts new orders, TPM the database's transactions (commits and rollbacks).
"""

import re
from dataclasses import dataclass, field

from apps.runs.tool_output.parsers.parsed_output import (
    NotThisFormat,
    OutputTable,
    ParsedOutput,
    ParsedValue,
    TableColumn,
    TextLine,
    ToolMessage,
    is_count,
    lines,
    load_json,
    number_of,
    scaled,
    shown,
)

VERSION = "1"
EXPECTED = "a log of HammerDB's virtual users, with lines “Vuser 1:…”"
VUSER_WITHIN = 5000  # lines; the CLI prints its settings first
VUSER = re.compile(rb"^Vuser (?P<user>\d{1,15}):(?P<text>.*)$")
RESULT = re.compile(rb"^TEST RESULT : System achieved (?P<nopm>\d{1,15}) NOPM from (?P<tpm>\d{1,15}) (?P<db>.+) TPM$")
# Format until version 3.
OLD_RESULT = re.compile(rb"^TEST RESULT : System achieved (?P<tpm>\d{1,15}) (?P<db>.+) TPM at (?P<nopm>\d{1,15}) NOPM$")
ACTIVE = re.compile(rb"^(?P<n>\d{1,15}) Active Virtual Users configured$")
RAMP_UP = re.compile(rb"^Rampup (?P<minutes>\d{1,15}) minutes complete \.\.\.$")
TIMED = re.compile(rb"^Timing test period of (?P<minutes>\d{1,15}) in minutes$")
CLI = re.compile(rb"^HammerDB CLI v(?P<version>\S+)$")
ERROR = re.compile(rb"^Error in Virtual User (?P<user>\d{1,15}): ?(?P<text>.*)$")
FAILED = re.compile(rb"^FINISHED FAILED$")
NOTICE = re.compile(
    rb"^(?:\s*|HammerDB.*|Copyright .*|Type \"help\".*|Initialized .*|Hammerdb Log @ .*|[-+=]+|Timestamp \d{1,15} @ .*"
    rb"|Vuser \d{1,15} (?:created.*|MONITOR.*)|Database set to .*|Benchmark set to .*|Script loaded.*|Changed .*"
    rb"|Value .*|ALL VIRTUAL USERS COMPLETE|\d{1,15} Virtual Users Created.*|TEST STARTED|TEST COMPLETE.*"
    rb"|vudestroy success|.*Transaction Counter.*|Destroying Virtual Users.*|Virtual Users Destroyed"
    rb"|Logging activated.*|to /.*|Jobid .*|\d{1,15} \S.* tpm|Warning: .*)$"
)


@dataclass
class _HammerdbLog:
    version: str = ""
    stated: dict[re.Pattern[bytes], int] = field(default_factory=dict)
    vusers: int = 0
    result: tuple[TextLine, re.Match[bytes], int] | None = None
    errors: dict[tuple[str, str], int] = field(default_factory=dict)
    failed: int = 0
    minute: int = 0
    unparsed: list[str] = field(default_factory=list)


def parse(content: bytes) -> ParsedOutput:
    """Parses the log of one timed run. Raises NotThisFormat."""
    reading = _HammerdbLog()
    for line in lines(content):
        _consume(reading, line)
        if not reading.vusers and line.number == VUSER_WITHIN:
            break
    if not reading.vusers:
        first = next((line for line in lines(content) if line.text.strip()), None)
        raise first.refuse(EXPECTED) if first else NotThisFormat(1, "", f"the file is empty; expected {EXPECTED}")
    return _output(reading)


def _consume(reading: _HammerdbLog, line: TextLine) -> None:
    found = VUSER.match(line.text)
    if found:
        reading.vusers += 1
        _vuser(reading, line, found)
    elif error := ERROR.match(line.text):
        key = ("error", shown(error["text"]) or "error in a virtual user")
        reading.errors[key] = reading.errors.get(key, 0) + 1
    elif cli := CLI.match(line.text):
        reading.version = cli["version"].decode("utf-8", "backslashreplace")
    elif not NOTICE.match(line.text):
        reading.unparsed.append(line.shown)


def _vuser(reading: _HammerdbLog, line: TextLine, outer: re.Match[bytes]) -> None:
    text, offset = outer["text"], outer.start("text")
    if text.startswith(b"TEST RESULT"):
        found = RESULT.match(text) or OLD_RESULT.match(text)
        if found is None:
            if line.ended:
                raise line.refuse("“TEST RESULT : System achieved n NOPM from n database TPM”")
            return
        if reading.result:
            raise line.refuse("the log of one run; this is a second result: HammerDB appends to its log")
        reading.result = (line, found, offset)
    elif found := ACTIVE.match(text) or RAMP_UP.match(text) or TIMED.match(text):
        before, number = reading.stated.get(found.re), int(found[1])
        # Each minute of the ramp-up is printed.
        is_next = before in (None, number) or (found.re is RAMP_UP and number > (before or 0))
        if reading.result or not is_next:
            raise line.refuse("the log of one run; this is of another: HammerDB appends to its log")
        reading.stated[found.re] = number
    elif FAILED.match(text):
        reading.failed += 1


def _output(reading: _HammerdbLog) -> ParsedOutput:
    messages = [ToolMessage(kind, label, 0.0, n) for (kind, label), n in reading.errors.items()]
    if reading.failed:
        messages.append(ToolMessage("error", f"{reading.failed} virtual users finished with a failure", 0.0))
    timed, start = reading.stated.get(TIMED), reading.stated.get(RAMP_UP, 0) * 60.0
    return ParsedOutput(
        version=reading.version,
        reason="" if reading.result else "the log ends before the result (TEST RESULT)",
        threads=reading.stated.get(ACTIVE),
        values=tuple(_values(reading)),
        events=tuple(messages),
        unparsed=tuple(reading.unparsed),
        measured=None if timed is None else (start, start + timed * 60.0),
    )


def _values(reading: _HammerdbLog) -> list[ParsedValue]:
    if reading.result is None:
        return []
    line, found, offset = reading.result
    at = TextLine(line.number, line.start + offset, line.text[offset:], line.ended)
    return [
        number_of(at, found, "nopm", "client.new_orders.per_minute"),
        number_of(at, found, "tpm", "server.transactions.per_minute"),
    ]


# ---------------------------------------------------------------- response times

TIMING_EXPECTED = "the JSON of “jobs ID timing”, an object with one entry for each procedure"
TIMING_COLUMNS = (
    ("calls", "calls", ""),
    ("mean", "avg_ms", "ms"),
    ("median", "p50_ms", "ms"),
    ("p95", "p95_ms", "ms"),
    ("p99", "p99_ms", "ms"),
    ("longest", "max_ms", "ms"),
    ("share of the time", "ratio_pct", "%"),
)


def parse_timing(content: bytes) -> OutputTable:
    """Response times by stored procedure, all virtual users together. Raises NotThisFormat."""
    document = load_json(content, TIMING_EXPECTED)
    if not isinstance(document, dict) or not document:
        raise NotThisFormat(1, "", TIMING_EXPECTED)
    rows: list[tuple[str | float | None, ...]] = []
    for name, found in document.items():
        if not isinstance(found, dict) or "calls" not in found or "p95_ms" not in found:
            raise NotThisFormat(_place(content, name), "", f"{name!r:.60} has no calls and p95_ms: {TIMING_EXPECTED}")
        rows.append((name[:80], *(_number(content, name, key, found.get(key)) for _, key, _ in TIMING_COLUMNS)))
    rows.sort(key=lambda row: -float(row[-1] or 0))
    columns = (TableColumn("procedure"), *(TableColumn(title, unit) for title, _, unit in TIMING_COLUMNS))
    return OutputTable("Response times by procedure", columns, tuple(rows), len(rows), "all virtual users")


def _number(content: bytes, name: str, key: str, value: object) -> float | None:
    """A number, which HammerDB writes as a string."""
    if value is None or value == "":
        return None
    if isinstance(value, str) and re.fullmatch(r"\d{1,18}(?:\.\d{1,12})?", value):
        return scaled(value)
    if is_count(value) or isinstance(value, float):
        return float(value)
    raise NotThisFormat(_place(content, name), "", f"{key} of {name!r:.60} is not a number: {value!r:.60}")


def _place(content: bytes, name: str) -> int:
    found = content.find(f'"{name}"'.encode())
    return content.count(b"\n", 0, max(found, 0)) + 1
