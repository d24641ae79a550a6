"""Parser of the output of go-ycsb in its plain form. Pure.

Rows before the end are cumulative since the load began: rates of an interval are differences of their counts, and no
latency is one of an interval. `TOTAL` holds all operations that succeeded; before version 1.0 there was none.
"""

import math
import re
from dataclasses import dataclass, field

from apps.runs.tool_output.parsers.parsed_output import (
    NotThisFormat,
    ParsedOutput,
    ParsedValue,
    TextLine,
    lines,
    number_of,
    scaled,
)

VERSION = "1"
EXPECTED = "go-ycsb's output, which begins “***************** properties *****************”"
PROPERTIES = b"***************** properties *****************"
PROPERTY = re.compile(rb'^"(?P<name>[\w.-]+)"="(?P<value>.*)"$')
ROW = re.compile(
    rb"^(?P<type>[A-Z][A-Z_]{0,39}) *- Takes\(s\): (?P<takes>\d{1,12}\.\d), Count: (?P<count>\d{1,15})(?P<rest>,.*)$"
)
STATISTIC = re.compile(rb"(?P<name>[A-Za-z]{3}|\d{2}(?:\.\d{1,3})?th)\((?P<unit>us)\): (?P<value>\d{1,15})")
# Of all rows: a figure that is not one would be missed, or the next in its place.
FIGURES = re.compile(
    rb"(?:, (?:OPS: (?:\d{1,15}\.\d|[+-]?(?:NaN|Inf))|(?:Avg|Min|Max|\d{2}(?:\.\d{1,3})?th)\(us\): \d{1,15})){1,30}"
)
RATE = re.compile(rb"OPS: (?P<rate>\d{1,15}\.\d)")
FINISHED = re.compile(rb"^Run finished, takes (?P<takes>\S{2,40})$")
DURATION = re.compile(r"(?:(?P<h>\d{1,6})h)?(?:(?P<m>\d{1,6})m)?(?P<value>\d{1,9}(?:\.\d{1,9})?)(?P<unit>s|ms|µs)")
NOTICE = re.compile(rb"^(?:\*{20,}|Using request distribution '.*|\s*)$")
NAMES = {b"Avg": "avg", b"Min": "min", b"Max": "max"}
OTHER_STYLE = re.compile(rb"^(?:\+-{5,}|\[?\{\"(?:\d|Avg))")


@dataclass
class _YcsbRows:
    """`rows`: second -> type -> the row's line; those after the end of the run in `final`."""

    properties: dict[bytes, bytes] = field(default_factory=dict)
    rows: dict[float, dict[str, re.Match[bytes]]] = field(default_factory=dict)
    final: dict[str, tuple[TextLine, re.Match[bytes]]] = field(default_factory=dict)
    finished: tuple[TextLine, re.Match[bytes]] | None = None
    begun: bool = False
    unparsed: list[str] = field(default_factory=list)


def parse(content: bytes) -> ParsedOutput:
    """Parses the output of one run. Raises NotThisFormat."""
    reading = _YcsbRows()
    for line in lines(content):
        if line.text == PROPERTIES:
            if reading.begun:
                raise line.refuse("the output of one run; this begins another: send each as a file of its own")
            reading.begun = True
        elif not reading.begun:
            if not NOTICE.match(line.text):
                raise line.refuse(EXPECTED)
        elif line.ended:
            _consume(reading, line)
    if not reading.begun:
        raise NotThisFormat(1, "", EXPECTED)
    return _output(reading)


def _consume(reading: _YcsbRows, line: TextLine) -> None:
    if (found := PROPERTY.match(line.text)) and not reading.rows and not reading.finished:
        reading.properties[found["name"]] = found["value"]
    elif OTHER_STYLE.match(line.text):
        raise line.refuse("go-ycsb's plain output: leave outputstyle out")
    elif found := FINISHED.match(line.text):
        reading.finished = (line, found)
    elif found := ROW.match(line.text):
        _row(reading, line, found)
    elif not NOTICE.match(line.text):
        reading.unparsed.append(line.shown)


def _row(reading: _YcsbRows, line: TextLine, found: re.Match[bytes]) -> None:
    name = found["type"].decode()
    if not FIGURES.fullmatch(found["rest"]):
        raise line.refuse("figures such as “OPS: 5487.3, Avg(us): 679, 99.9th(us): 12663”")
    if reading.finished:
        reading.final[name] = (line, found)
        return
    second = scaled(found["takes"])
    last = max(reading.rows, default=0.0)
    # Rows of one interval may differ by the rounding of their own first operation.
    if reading.rows and name not in reading.rows[last] and second <= last + 0.5:
        second = last
    elif second <= last:
        raise line.refuse(f"a time after {last:g} s")
    reading.rows.setdefault(second, {})[name] = found


def _output(reading: _YcsbRows) -> ParsedOutput:
    expected = {name for row in reading.rows.values() for name in row}
    elapsed = _elapsed(reading.finished[1]["takes"]) if reading.finished else None
    complete = elapsed is not None and expected <= reading.final.keys() and _is_whole(reading.final)
    clock, rates, errors = _series(reading)
    return ParsedOutput(
        reason="" if complete else "the output ends before the result (Run finished and its rows)",
        threads=_whole(reading.properties.get(b"threadcount"), digits=5),
        rate=_whole(reading.properties.get(b"target"), digits=9),
        values=tuple(_values(reading)) if complete else (),
        clock=clock,
        series={"client.throughput": rates, **({"client.errors": errors} if any(errors) else {})} if clock else {},
        unparsed=tuple(reading.unparsed),
        measured=(0.0, elapsed) if complete and elapsed else (0.0, clock[-1]) if clock else None,
    )


def _is_whole(final: dict[str, tuple[TextLine, re.Match[bytes]]]) -> bool:
    """Whether the last rows are all there: of versions that print more percentiles, TOTAL counts what the types do."""
    counts = {name: int(row["count"]) for name, (_, row) in final.items()}
    total = counts.pop("TOTAL", None)
    if total is None:
        return bool(final) and not any(b"50th(us)" in line.text for line, _ in final.values())
    types = sum(count for name, count in counts.items() if not name.endswith("_ERROR"))
    # Operations that ended as the warm-up did may be in one of both.
    return abs(total - types) <= max(100, total / 1000)


def _series(reading: _YcsbRows) -> tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]:
    """Clock, and rates of successes and of errors."""
    clock, rates, errors = [], [], []
    before, done, failed = 0.0, 0, 0
    for second, row in reading.rows.items():
        now, wrong = _count(row), sum(int(each["count"]) for name, each in row.items() if name.endswith("_ERROR"))
        clock.append(second)
        rates.append(max(now - done, 0) / (second - before))
        errors.append(max(wrong - failed, 0) / (second - before))
        before, done, failed = second, now, wrong
    return tuple(clock), tuple(rates), tuple(errors)


def _count(row: dict[str, re.Match[bytes]]) -> int:
    if "TOTAL" in row:
        return int(row["TOTAL"]["count"])
    return sum(int(each["count"]) for name, each in row.items() if not name.endswith("_ERROR"))


def _values(reading: _YcsbRows) -> list[ParsedValue]:
    assert reading.finished  # noqa: S101  (complete)
    line, found = reading.finished
    start, end = line.start + found.start("takes"), line.start + found.end("takes")
    elapsed = _elapsed(found["takes"]) or 0.0
    places = [place for place, _ in reading.final.values()]
    first, last = places[0].start, places[-1].start + len(places[-1].text)
    count = _count({name: each for name, (_, each) in reading.final.items()})
    values = [
        ParsedValue("client.elapsed", elapsed, start, end),
        ParsedValue("client.transactions", count, first, last),
    ]
    total = reading.final.get("TOTAL")
    if total and (rate := RATE.search(total[0].text)):
        values.append(number_of(total[0], rate, "rate", "client.throughput"))
    elif elapsed:
        values.append(ParsedValue("client.throughput", count / elapsed, first, last))
    wrong = [(place, each) for name, (place, each) in reading.final.items() if name.endswith("_ERROR")]
    failed = sum(int(each["count"]) for _, each in wrong)
    values.append(ParsedValue("client.errors.total", failed, first, last))
    single = len(reading.final) == 1
    for name, (place, _) in reading.final.items():
        if name == "TOTAL" or single:
            values += _latencies(place, "client.latency")
        if name != "TOTAL" and not name.endswith("_ERROR"):
            values += _latencies(place, f"client.{name.lower()}.latency")
    return values


def _latencies(line: TextLine, metric: str) -> list[ParsedValue]:
    found = []
    for each in STATISTIC.finditer(line.text):
        name = NAMES.get(each["name"]) or f"p{each['name'].decode().removesuffix('th').replace('.', '')}"
        found.append(number_of(line, each, "value", f"{metric}.{name}", per=1000))
    return found


def _elapsed(text: bytes) -> float | None:
    """s of Go's notation of a duration, such as 1m2.5s; None: it is none."""
    found = DURATION.fullmatch(text.decode("utf-8", "replace"))
    if found is None:
        return None
    seconds = scaled(found["value"], {"s": 1, "ms": 1000, "µs": 10**6}[found["unit"]])
    total = int(found["h"] or 0) * 3600 + int(found["m"] or 0) * 60 + seconds
    return total if math.isfinite(total) else None


def _whole(text: bytes | None, *, digits: int) -> int | None:
    """`digits`: at most."""
    return int(text) if text and len(text) <= digits and re.fullmatch(rb"[1-9]\d*", text) else None
