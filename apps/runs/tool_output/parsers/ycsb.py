"""Parser of the text output of YCSB (Java, 0.17): status lines and the totals after them. Pure.

Status lines hold values of their interval, totals those of the run. Read-modify-write operations are measured as
their parts too: then no mean over all types is taken. Percentiles of several types are not merged.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from apps.runs.tool_output.parsers.parsed_output import (
    NotThisFormat,
    ParsedOutput,
    ParsedValue,
    TextLine,
    first_line,
    lines,
    number_of,
    scaled,
)

VERSION = "1"
EXPECTED = "YCSB's output: “[OVERALL], RunTime(ms), …” and status lines such as “… 10 sec: 1234 operations; …”"
TOTAL = re.compile(
    rb"^\[(?P<type>[A-Za-z][\w%. -]{0,59})\], (?P<name>[^,]{1,60}), (?P<value>-?[\d.]{1,30}(?:E-?\d{1,3})?|NaN)$"
)
STATUS = re.compile(
    rb"(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d:\d{3}) (?P<second>\d{1,9}) sec: (?P<done>\d{1,15}) operations; "
    rb"(?:(?P<rate>\S{1,40}) current ops/sec; )?(?P<rest>.*)$"
)
TYPE = re.compile(rb"\[(?P<type>[A-Z][A-Z_-]{0,59}): Count=(?P<count>\d{1,15}), (?P<figures>[^\]]{1,400})\]")
FIGURE = re.compile(
    rb"(?:^|(?<=, ))(?P<name>Max|Min|Avg|\d{1,2}(?:\.\d{1,3})?)=(?P<value>\d{1,15}(?:\.\d{1,4}|,\d{1,2})?)(?=, |$)"
)
LATENCY = re.compile(
    rb"(?:(?P<statistic>Average|Min|Max)Latency|(?P<p>\d{1,2}(?:\.\d{1,3})?)(?:st|nd|rd|th)?PercentileLatency)\((?P<unit>us|ms)\)"
)
STATISTICS = {b"Average": "avg", b"Min": "min", b"Max": "max"}
INTERVAL = {b"Avg": "avg", b"Max": "max", b"50": "p50", b"90": "p90", b"99": "p99", b"99.9": "p999"}
NUMBER = re.compile(rb"\d{1,15}(?:\.\d{1,4}|,\d{1,2})?")
# YCSB prints two decimals, after a comma in some locales; more digits are no decimals of its own.
DOUBTFUL = re.compile(rb"\d{1,15},\d{3}")
CLIENT = re.compile(rb"^YCSB Client (?P<version>\d[\w.-]{0,30})$")
COMMAND = re.compile(rb"^Command line: (?P<words>.*)$")
THREADS = re.compile(rb"(?:^| )(?:-threads |threadcount=)(?P<n>[1-9]\d{0,4})(?= |$)")
# Its file of properties may state both.
IN_FILE = re.compile(rb"(?:^| )-P(?: |$)")
TARGET = re.compile(rb"(?:^| )(?:-target |target=)(?P<n>[1-9]\d{0,8})(?= |$)")
NOTICE = re.compile(
    rb"^(?:\s*|Loading workload\.\.\.|Starting test\.|\[command line: .*|DBWrapper: .*|Adding shard node URL: .*"
    rb"|Using shards: .*|mongo client connection created .*|(?:/\S+)?java .*|.*report latency for each error is .*)$"
)
# Sections of the totals that are no operation.
ASIDE = ("OVERALL", "TOTAL_GC", "MAX_", "MIN_", "CLEANUP", "THREAD_COUNT", "USED_MEM_MB", "SYS_LOAD_AVG", "GCS")
PARTS = "READ-MODIFY-WRITE"
# An insert that waits for its batch to be sent has succeeded.
SUCCEEDED = (b"Return=OK", b"Return=BATCHED_OK")


@dataclass
class _YcsbOutput:
    """`totals`: section -> name of the value -> its line; `status`: s since the first -> its line."""

    totals: dict[str, dict[bytes, tuple[TextLine, re.Match[bytes]]]] = field(default_factory=dict)
    status: dict[float, re.Match[bytes]] = field(default_factory=dict)
    began: datetime | None = None
    version: str = ""
    threads: int | None = None
    target: int | None = None
    unparsed: list[str] = field(default_factory=list)

    def operations(self) -> list[str]:
        return [name for name in self.totals if not name.startswith(ASIDE)]


def parse(content: bytes) -> ParsedOutput:
    """Parses the output of one run. Raises NotThisFormat."""
    reading = _YcsbOutput()
    for line in lines(content):
        if line.ended:
            _consume(reading, line)
    if not (reading.totals or reading.status or reading.version):
        raise first_line(content).refuse(EXPECTED) if content.strip() else NotThisFormat(1, "", EXPECTED)
    return _output(reading)


def _consume(reading: _YcsbOutput, line: TextLine) -> None:
    text = line.text
    if found := TOTAL.match(text):
        section = reading.totals.setdefault(found["type"].decode(), {})
        if found["name"] in section:
            raise line.refuse("the output of one run; this is a second result: send each as a file of its own")
        section[found["name"]] = (line, found)
    elif found := STATUS.search(text):
        _status(reading, line, found)
    elif found := CLIENT.match(text):
        reading.version = found["version"].decode()
    elif found := COMMAND.match(text):
        threads, target = THREADS.search(found["words"]), TARGET.search(found["words"])
        unstated = None if IN_FILE.search(found["words"]) else 1
        reading.threads = int(threads["n"]) if threads else unstated
        reading.target = int(target["n"]) if target else None
    elif not NOTICE.match(text):
        reading.unparsed.append(line.shown)


def _status(reading: _YcsbOutput, line: TextLine, found: re.Match[bytes]) -> None:
    if doubtful := DOUBTFUL.search(line.text):
        number = doubtful[0].decode()
        raise line.refuse(f"at most two decimals after a comma, not {number}: remove separators of thousands")
    try:
        moment = datetime.strptime(found["at"].decode(), "%Y-%m-%d %H:%M:%S:%f")  # noqa: DTZ007  differences alone count
    except ValueError as error:
        raise line.refuse("a time such as 2026-01-31 12:00:10:000") from error
    if reading.began is None:
        reading.began = moment
    second = round((moment - reading.began).total_seconds(), 3)
    # Printed also where the run was started with the status on standard output.
    if second in reading.status:
        return
    if second < max(reading.status, default=0.0):
        raise line.refuse("a time after that of the line before: another run? send each as a file of its own")
    reading.status[second] = found


def _output(reading: _YcsbOutput) -> ParsedOutput:
    overall = reading.totals.get("OVERALL", {})
    shown = {each["type"].decode() for found in reading.status.values() for each in TYPE.finditer(found["rest"])}
    closed = all(_is_closed(reading, section) for section in reading.operations() if not _is_failed(section))
    lacking = {name for name in shown if not name.startswith(ASIDE)} - reading.totals.keys()
    complete = {b"RunTime(ms)", b"Throughput(ops/sec)"} <= overall.keys() and bool(reading.operations()) and closed
    complete = complete and not lacking
    length = scaled(overall[b"RunTime(ms)"][1]["value"], 1000) if b"RunTime(ms)" in overall and complete else None
    clock, series = _series(reading)
    return ParsedOutput(
        version=reading.version,
        reason="" if complete else "the output ends before the result ([OVERALL] and a section of each operation)",
        threads=reading.threads,
        rate=reading.target,
        values=tuple(_values(reading)) if complete else (),
        clock=clock,
        series=series,
        unparsed=tuple(reading.unparsed),
        measured=(0.0, max([length or 0.0, *clock])) if length or clock else None,
    )


def _is_closed(reading: _YcsbOutput, name: str) -> bool:
    """Whether a section of operations has what they returned: it ends with that; failures are counted apart, too. Of
    read-modify-writes their parts say what they returned: their section ends with the latencies that theirs have."""
    section = reading.totals[name]
    if name == PARTS:
        others = (reading.totals[each] for each in reading.operations() if each != PARTS and not _is_failed(each))
        return any(section.keys() >= _latency_names(other) for other in others)
    good, bad = (sum(_read(each) for each in _returned(section, ok=ok)) for ok in (True, False))
    failed = reading.totals.get(f"{name}-FAILED", {}).get(b"Operations")
    return good + bad > 0 and (failed is None or bad >= _read(failed))


def _latency_names(section: "Section") -> set[bytes]:
    return {name for name in section if LATENCY.fullmatch(name)}


def _returned(section: "Section", *, ok: bool) -> list[tuple[TextLine, re.Match[bytes]]]:
    return [each for name, each in section.items() if name.startswith(b"Return=") and (name in SUCCEEDED) is ok]


def _is_failed(section: str) -> bool:
    return section.endswith("-FAILED") or section.startswith("Intended-")


def _series(reading: _YcsbOutput) -> tuple[tuple[float, ...], dict[str, tuple[float | None, ...]]]:
    """The first line, at 0 s, has nothing."""
    rows: list[dict[str, float]] = []
    clock = [second for second in reading.status if second > 0]
    for second in clock:
        found = reading.status[second]
        row: dict[str, float] = {}
        if found["rate"] and NUMBER.fullmatch(found["rate"]):
            row["client.throughput"] = _number(found["rate"])
        for each in TYPE.finditer(found["rest"]):
            name = each["type"].decode()
            if int(each["count"]) and not name.startswith(ASIDE) and not _is_failed(name):
                metric = f"client.{_key(name)}.latency"
                figures = {part["name"]: part["value"] for part in FIGURE.finditer(each["figures"])}
                row |= {
                    f"{metric}.{INTERVAL[part]}": _number(value) / 1000
                    for part, value in figures.items()
                    if part in INTERVAL
                }
        rows.append(row)
    keys = dict.fromkeys(key for row in rows for key in row)
    return tuple(clock), {key: tuple(row.get(key) for row in rows) for key in keys}


def _number(text: bytes) -> float:
    return scaled(text.replace(b",", b"."))


def _key(section: str) -> str:
    return section.lower().replace("-", "_")


# ---------------------------------------------------------------- totals


def _values(reading: _YcsbOutput) -> list[ParsedValue]:
    overall = reading.totals["OVERALL"]
    values = [
        _value(overall, b"Throughput(ops/sec)", "client.throughput"),
        _value(overall, b"RunTime(ms)", "client.elapsed", per=1000),
    ]
    sections = {name: reading.totals[name] for name in reading.operations() if not _is_failed(name)}
    for name, section in sections.items():
        values += _latencies(section, f"client.{_key(name)}.latency")
    return [value for value in (*values, *_over_all(sections)) if value is not None]


Section = Mapping[bytes, tuple[TextLine, re.Match[bytes]]]


def _over_all(sections: Mapping[str, Section]) -> list[ParsedValue | None]:
    """Totals over the types of operations: where there is one, all of its statistics."""
    failed = sum(_read(each) for section in sections.values() for each in _returned(section, ok=False))
    places = [line for section in sections.values() for line, _ in section.values()]
    start, end = places[0].start, places[-1].start + len(places[-1].text)
    values: list[ParsedValue | None] = [ParsedValue("client.errors.total", failed, start, end)]
    counted = all({b"Operations", b"AverageLatency(us)"} <= section.keys() for section in sections.values())
    if PARTS in sections or not counted:
        return values
    counts = [_read(section[b"Operations"]) for section in sections.values()]
    values.append(ParsedValue("client.transactions", sum(counts), start, end))
    if len(sections) == 1:
        return [*values, *_latencies(next(iter(sections.values())), "client.latency")]
    means = [_read(section[b"AverageLatency(us)"]) for section in sections.values()]
    if sum(counts):
        mean = sum(count * mean for count, mean in zip(counts, means, strict=True) if count) / sum(counts) / 1000
        values.append(ParsedValue("client.latency.avg", mean, start, end))
    return values


def _latencies(section: Section, metric: str) -> list[ParsedValue | None]:
    found: list[ParsedValue | None] = []
    for name in section:
        if each := LATENCY.fullmatch(name):
            statistic = (
                STATISTICS.get(each["statistic"])
                or f"p{(each['p'] or b'').decode().removesuffix('.0').replace('.', '')}"
            )
            found.append(_value(section, name, f"{metric}.{statistic}", per=1000 if each["unit"] == b"us" else 1))
    return found


def _value(section: Section, name: bytes, metric: str, *, per: int = 1) -> ParsedValue | None:
    """None: NaN, as of a type without operations."""
    line, found = section[name]
    return None if found["value"] == b"NaN" else number_of(line, found, "value", metric, per=per)


def _read(each: tuple[TextLine, re.Match[bytes]]) -> float:
    return 0.0 if each[1]["value"] == b"NaN" else scaled(each[1]["value"])
