"""Parser of what PostgreSQL's pgbench prints: the final report, and the progress lines of -P on standard error. Pure.

Wording of 9.4 to 19. Failed and skipped transactions are counted from 15 and 9.4 on. Statement latencies (-r) and the
figures of single scripts are no values of a run. `latency average = … (including failures)` is not one of transactions.
Up to 13, nothing shows whether each transaction had a connection of its own (-C): tps is printed with and without them.
"""

import hashlib
import math
import re
from dataclasses import dataclass, field
from typing import Any

from apps.runs.tool_output.parsers.parsed_output import (
    ParsedOutput,
    ParsedValue,
    TextLine,
    ToolMessage,
    first_line,
    lines,
    number_of,
    scaled,
)

VERSION = "2"
EXPECTED = "what pgbench prints, “pgbench (15.4)”, “transaction type: …” or “progress: 1.0 s, … tps, …”"
N, X = rb"\d{1,15}", rb"-?(?:\d{1,15}\.\d{1,6}|nan|NaN)"
SHARE = rb" \((?:-?\d{1,3}\.\d{1,3}|-?nan|NaN) ?%\)"
BANNER = re.compile(rb"^pgbench \((?P<version>[^(),]{1,60}(?:\([^()]{0,60}\))?)(?:, server (?P<server>.{1,80}))?\)$")
# Figure of the report, in the metric's unit -> metric. 13 and older print the second form of tps.
FIGURES = {
    "client.transactions": rb"number of transactions actually processed: (?P<x>%s)(?:/%s)?" % (N, N),
    "client.errors.total": rb"number of failed transactions: (?P<x>%s)%s" % (N, SHARE),
    "client.skipped.total": rb"number of transactions skipped: (?P<x>%s)%s" % (N, SHARE),
    "client.retried.total": rb"number of transactions retried: (?P<x>%s)%s" % (N, SHARE),
    "client.retries.total": rb"(?:total )?number of retries: (?P<x>%s)" % N,
    "client.latency.avg": rb"latency average(?: =|:) (?P<x>%s) ms" % X,
    "client.latency.stddev": rb"latency stddev(?: =|:) (?P<x>%s) ms" % X,
    "client.start_delay.avg": rb"rate limit schedule lag: avg (?P<x>%s) \(max %s\) ms" % (X, X),
    "client.start_delay.max": rb"rate limit schedule lag: avg %s \(max (?P<x>%s)\) ms" % (X, X),
    "client.connect.first": rb"initial connection time = (?P<x>%s) ms" % X,
    "client.connect.avg": rb"average connection time = (?P<x>%s) ms" % X,
    "client.throughput": rb"tps = (?P<x>%s) \((?:without initial connection time|including reconnection times|"
    rb"excluding connections establishing)\)" % X,
}
# Of 13 and older: tps where each transaction connects.
WITH_CONNECTING = re.compile(rb"^tps = (?P<x>%s) \(including connections establishing\)$" % X)
COMPILED = {metric: re.compile(rb"^" + pattern + rb"$") for metric, pattern in FIGURES.items()}
LATE = re.compile(
    rb"^number of transactions above the (?P<limit>%s) ms latency limit: (?P<late>%s)(?:/(?P<of>%s))?%s$"
    % (X, N, N, SHARE)
)
FACT = re.compile(
    rb"^(?P<name>transaction type|scaling factor|partition method|partitions|query mode|number of clients|"
    rb"maximum number of tries|duration): (?P<value>.{1,500}?)(?: s)?$"
)
PROGRESS = re.compile(
    rb"^progress: (?P<t>\d{1,12}\.\d{1,3}) s, (?P<tps>%s) tps, lat (?P<lat>%s) ms stddev (?P<stddev>%s)"
    rb"(?:, (?P<failed>%s) failed)?(?:, lag (?P<lag>%s) ms)?(?:, (?P<skipped>%s) skipped)?"
    rb"(?:, (?P<retried>%s) retried, (?P<retries>%s) retries)?$" % (X, X, X, N, X, N, N, N)
)
# Of each interval: gauge -> metric, count -> metric of its rate.
GAUGES = {"lat": "client.latency.avg", "stddev": "client.latency.stddev", "lag": "client.start_delay.avg"}
COUNTS = {"failed": "client.errors", "skipped": "client.skipped", "retries": "client.retries"}
SCRIPT = re.compile(rb"^SQL script (?P<n>%s): (?P<name>.{1,500})$" % N)
WEIGHT = re.compile(rb"^ - weight: (?P<weight>%s)(?: \(.{1,60}\))?$" % N)
STATEMENTS = re.compile(rb"^(?: - )?statement latencies in milliseconds.{0,40}:$")
STATEMENT = re.compile(rb"^ {2,}\d{1,12}\.\d{3}(?: {1,12}\d{1,15}){0,2} .*$")
ABORTED = re.compile(rb"^(?:pgbench: error: )?Run was aborted; the above results are incomplete\.$")
# What one client met; equal ones are counted.
MESSAGE = re.compile(rb"^(?:pgbench: )?(?P<level>error|warning|fatal): (?P<text>.{1,2000})$")
CLIENT = re.compile(
    rb"^(?:pgbench: )?client %s (?P<text>(?:got an error|script %s aborted|aborted) .{1,2000})$" % (N, N)
)
ONE = re.compile(rb"\bclient %s\b" % N)
NOTICE = re.compile(
    rb"^(?:\s*| - .*|starting vacuum.*|number of threads: %s|number of transactions per client: %s|"
    rb"number of (?:serialization|deadlock|other) failures: .*|"
    rb"latency average(?: =|:) .* ms \(including failures\)|"
    rb"pgbench: client %s (?:repeats|ends) .*|pgbench: setting random seed .*|"
    rb"(?:NOTICE|HINT|DETAIL|LINE \d+): .*|DETAIL: .*|dropping old tables.*|creating .*|generating data .*|"
    rb"%s of %s tuples .*|vacuuming.*|done in .*)$" % (N, N, N, N, N)
)
BUILTIN = {
    "<builtin: TPC-B (sort of)>": "tpcb-like",
    "TPC-B (sort of)": "tpcb-like",  # 9.5 and older
    "<builtin: simple update>": "simple-update",
    "Update only pgbench_accounts": "simple-update",
    "<builtin: select only>": "select-only",
    "SELECT only": "select-only",
}
SEVERAL = "multiple scripts"
LONGEST_SCRIPT = 60  # characters of a parameter
KINDS_OF_MESSAGES = 200


@dataclass
class _PgbenchReport:
    banner: bool = False
    version: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    values: dict[str, ParsedValue] = field(default_factory=dict)
    late: ParsedValue | None = None
    limit: float | None = None
    scripts: list[tuple[str, int]] = field(default_factory=list)
    connects: bool | None = None  # None: not printed
    with_connecting: ParsedValue | None = None
    in_statements: bool = False
    clock: list[float] = field(default_factory=list)
    intervals: list[dict[str, str]] = field(default_factory=list)
    messages: dict[tuple[str, str], tuple[float, int]] = field(default_factory=dict)
    aborted: bool = False
    unparsed: list[str] = field(default_factory=list)


def parse(content: bytes, *, connects: bool = False) -> ParsedOutput:
    """Parses the output of one run. `connects`: each transaction had a connection of its own, which the report of 13
    and older does not state. Raises NotThisFormat."""
    found = _PgbenchReport()
    for line in lines(content):
        _consume(found, line)
    if not (found.banner or found.clock or "transaction type" in found.facts):
        raise first_line(content).refuse(EXPECTED)
    if connects and found.with_connecting:
        found.values["client.throughput"] = found.with_connecting
    return _output(found)


def _consume(found: _PgbenchReport, line: TextLine) -> None:
    text = line.text
    if match := BANNER.match(text):
        if found.banner:
            raise line.refuse("the output of one run; this begins another: send each as a file of its own")
        found.banner = True
        found.version = match["version"].decode("utf-8", "replace")
    elif match := PROGRESS.match(text):
        _interval(found, line, match)
    elif text.startswith(b"progress: ") and line.ended:
        raise line.refuse("a progress line, “progress: 1.0 s, … tps, lat … ms stddev …”")
    elif match := FACT.match(text):
        name = match["name"].decode()
        if name in found.facts:
            raise line.refuse("the output of one run; this is of another: send each as a file of its own")
        if line.ended:
            found.facts[name] = match["value"].decode("utf-8", "replace")
    elif not (_figure(found, line) or _script(found, text) or _message(found, text) or NOTICE.match(text)):
        found.unparsed.append(line.shown)


def _figure(found: _PgbenchReport, line: TextLine) -> bool:
    known = False
    for metric, pattern in COMPILED.items():
        match = pattern.match(line.text)
        if match is None:
            continue
        known = True
        if value := _complete(line, match, metric):
            if metric in found.values:
                raise line.refuse("the output of one run; this is a second result: send each as a file of its own")
            found.values[metric] = value
        if metric == "client.throughput" and b"excluding" not in line.text:
            found.connects = b"reconnection" in line.text
    if match := WITH_CONNECTING.match(line.text):
        known = True
        found.with_connecting = _complete(line, match, "client.throughput")
    if match := LATE.match(line.text):
        known = True
        late, of = int(match["late"]), match["of"]
        found.limit = scaled(match["limit"]) if b"n" not in match["limit"].lower() else None
        if of and int(of):
            start, end = line.start + match.start("late"), line.start + match.end("of")
            found.late = ParsedValue("client.late", 100 * late / int(of), start, end)
    return known


def _complete(line: TextLine, match: re.Match[bytes], metric: str) -> ParsedValue | None:
    """The number of a figure; None: it is none, or may lack digits at the end of a file that was cut."""
    value = number_of(line, match, "x", metric) if b"n" not in match["x"].lower() else None
    is_whole = line.ended or not line.text[-1:].isdigit()
    return value if value is not None and math.isfinite(value.value) and is_whole else None


def _script(found: _PgbenchReport, text: bytes) -> bool:
    """A line of the part about single scripts and statements."""
    if STATEMENTS.match(text):
        found.in_statements = True
    elif match := SCRIPT.match(text):
        found.scripts.append((match["name"].decode("utf-8", "replace"), 1))
    elif (match := WEIGHT.match(text)) and found.scripts:
        found.scripts[-1] = (found.scripts[-1][0], int(match["weight"]))
    else:
        return found.in_statements and bool(STATEMENT.match(text))
    return True


def _message(found: _PgbenchReport, text: bytes) -> bool:
    if ABORTED.match(text):
        found.aborted = True
        return True
    match = MESSAGE.match(text) or CLIENT.match(text)
    if match is None:
        return False
    label = ONE.sub(b"a client", match["text"]).decode("utf-8", "backslashreplace")
    if CLIENT.match(text):
        label = f"a client {label}"
    kind = "warning" if match.groupdict().get("level") == b"warning" else "error"
    at = found.clock[-1] if found.clock else 0.0
    first, count = found.messages.get((kind, label), (at, 0))
    if count or len(found.messages) < KINDS_OF_MESSAGES:
        found.messages[kind, label] = (first, count + 1)
    return True


def _interval(found: _PgbenchReport, line: TextLine, match: re.Match[bytes]) -> None:
    if not line.ended:
        return  # cut off
    second = scaled(match["t"])
    if found.clock and second <= found.clock[-1]:
        raise line.refuse(f"a time after {found.clock[-1]:g} s: the output of one run")
    found.clock.append(second)
    found.intervals.append({name: value.decode() for name, value in match.groupdict().items() if value is not None})


def _output(found: _PgbenchReport) -> ParsedOutput:
    clock = _clock(found.clock)
    tps, done = found.values.get("client.throughput"), found.values.get("client.transactions")
    complete = tps is not None and done is not None and done.value > 0 and tps.value > 0 and not found.aborted
    values = {**found.values, **({"client.late": found.late} if found.late else {})}
    measured = None
    if complete and tps and done:
        start, end = min(done.start, tps.start), max(done.end, tps.end)
        # The time that tps divides by: it is not printed.
        elapsed = ParsedValue("client.elapsed", round(done.value / tps.value, 6), start, end)
        values["client.elapsed"] = elapsed
        failed = found.values.get("client.errors.total")
        if failed is not None:
            rate = failed.value / elapsed.value
            values["client.errors"] = ParsedValue("client.errors", rate, failed.start, end)
        measured = (0.0, max([elapsed.value, *clock[-1:]]))
    elif clock:
        measured = (0.0, clock[-1])
    events = [ToolMessage(kind, label, at, n) for (kind, label), (at, n) in found.messages.items()]
    return ParsedOutput(
        version=found.version,
        reason="" if complete else _reason(found),
        threads=_whole(found.facts.get("number of clients")),
        values=tuple(values.values()) if complete else (),
        clock=clock,
        series=_series(found, clock),
        events=tuple(events),
        unparsed=tuple(found.unparsed),
        measured=measured,
        parameters=_parameters(found),
        is_rated="client.start_delay.avg" in found.values if complete else None,
    )


def _reason(found: _PgbenchReport) -> str:
    if found.aborted:
        why = next((label for (kind, label) in found.messages if kind == "error"), "")
        return f"pgbench: Run was aborted{': ' if why else ''}{why}"
    error = next((label for (kind, label) in found.messages if kind == "error"), "")
    return f"pgbench: {error}" if error else "the output ends before the result (tps = …), or has no transaction"


def _clock(printed: list[float]) -> tuple[float, ...]:
    """s since the start. With --progress-timestamp lines have the time of day: the first interval is taken to be as
    long as the second; a single one has no known length."""
    if not printed or printed[0] < 1e8:
        return tuple(printed)
    if len(printed) == 1:
        return ()
    zero = 2 * printed[0] - printed[1]
    return tuple(round(each - zero, 3) for each in printed)


def _series(found: _PgbenchReport, clock: tuple[float, ...]) -> dict[str, tuple[float | None, ...]]:
    if not clock:
        return {}
    lengths = [b - a for a, b in zip((0.0, *clock), clock, strict=False)]
    series = {"client.throughput": tuple(_number(row["tps"]) for row in found.intervals)}
    for name, metric in GAUGES.items():
        if any(name in row for row in found.intervals):
            # Without a transaction there is none; pgbench prints 0.
            series[metric] = tuple(
                _number(row[name]) if name in row and _number(row["tps"]) else None for row in found.intervals
            )
    for name, metric in COUNTS.items():
        if any(name in row for row in found.intervals):
            series[metric] = tuple(
                int(row[name]) / length if name in row and length > 0 else None
                for row, length in zip(found.intervals, lengths, strict=True)
            )
    return series


def _number(text: str) -> float | None:
    return None if "n" in text.lower() else scaled(text)


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"[0-9]{1,9}", text) else None


def _parameters(found: _PgbenchReport) -> dict[str, Any]:
    """What the report states of the work."""
    stated: dict[str, Any] = {}
    kind = found.facts.get("transaction type")
    if kind is not None and (kind != SEVERAL or found.scripts):
        stated["script"] = _named(kind, found.scripts)
    scale = _whole(found.facts.get("scaling factor"))
    # For scripts of one's own it is what -s says, 1 without it, whatever their tables hold.
    if scale is not None and (scale != 1 or kind in BUILTIN):
        stated["scale"] = scale
    if "query mode" in found.facts:
        stated["mode"] = found.facts["query mode"]
    if found.connects is not None:
        stated["connect"] = found.connects
    if "client.throughput" in found.values:
        tries = _whole(found.facts.get("maximum number of tries"))
        # Without a maximum none is printed, though retries are.
        stated["max_tries"] = (0 if "client.retried.total" in found.values else 1) if tries is None else tries
    if found.limit is not None:
        stated["latency_limit"] = found.limit
    if "partition method" in found.facts:
        stated["partition_method"] = found.facts["partition method"]
        stated["partitions"] = _whole(found.facts.get("partitions")) or 0
    return stated


def _named(kind: str, scripts: list[tuple[str, int]]) -> str:
    """`select-only`, `my.sql`, `tpcb-like:1+select-only:3`."""
    several = "+".join(f"{_plain(name)}:{weight}" for name, weight in scripts)
    name = several if kind == SEVERAL else _plain(kind)
    if len(name) <= LONGEST_SCRIPT:
        return name
    mark = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: LONGEST_SCRIPT - len(mark) - 1]}-{mark}"


def _plain(name: str) -> str:
    base = BUILTIN.get(name) or name.rpartition("/")[2]
    return re.sub(r"[^\w.,+-]", "-", base) or "script"
