"""Parser of the output of Mark Callaghan's iibench.py (mdcallag/mytools, bench/ibench). Pure.

Two formats, distinguished by their header: tab-separated (`i_sec t_sec i_ips …`, 2019 and later) and that of 2009
(`#rows #seconds #total_seconds …`). The work is the inserted rows; queries only read.
"""

import re
from dataclasses import dataclass, field

from apps.runs.tool_output.parsers.parsed_output import (
    NotThisFormat,
    ParsedOutput,
    ParsedValue,
    TextLine,
    ToolMessage,
    lines,
    number_of,
    scaled,
)

VERSION = "1"
OLD_HEADER = b"#rows #seconds #total_seconds cum_ips table_size last_ips #queries cum_qps last_qps"
# Parsed columns; the header may have others.
NEEDED = (b"i_sec", b"t_sec", b"i_ips", b"t_ips", b"i_dps", b"i_qps", b"t_qps")
EXPECTED = "the header of iibench.py, “i_sec t_sec i_ips …” with tabs or “#rows #seconds …”"
CELL = re.compile(rb"-?\d{1,15}(?:\.\d{1,15})?")
LIKE_ROW = re.compile(rb"^\d[\d.,]{0,40}[\t ]")
TOTALS = re.compile(
    rb"^Totals: (?P<seconds>\d{1,15}\.\d) secs, (?P<rate>\d{1,15}\.\d) rows/sec, (?P<rows>\d{1,15}) rows, "
    rb"(?P<retries>(?P<i>\d{1,15}) (?P<d>\d{1,15}) (?P<q>\d{1,15})) insert-delete-query retry$"
)
SHORT_TOTALS = re.compile(
    rb"^Totals: (?P<seconds>\d{1,15}\.\d) secs, (?P<rate>\d{1,15}\.\d) rows/sec, (?P<rows>\d{1,15}) rows$"
)
LOST = re.compile(rb"^(?:Ignoring MySQL exception|Mongo error on insert: .*|SQL error: .*)$")
NOTICE = re.compile(
    rb"^(?:\s*|Done|(?:Insert|Delete|Query) rt: .*|Created secondary indexes in \d{1,15}\.\d seconds|Rollback done"
    rb"|Inserting initial tuples\.\.\.| +(?:Insert|Delete|Query) rt:.*|Using Mongo w=.*)$"
)


@dataclass
class _IibenchLog:
    columns: list[bytes] = field(default_factory=list)
    rows: list[tuple[TextLine, list[bytes]]] = field(default_factory=list)
    totals: tuple[TextLine, re.Match[bytes]] | None = None
    done: bool = False
    errors: dict[tuple[str, float], int] = field(default_factory=dict)
    unparsed: list[str] = field(default_factory=list)

    @property
    def old(self) -> bool:
        return b"#rows" in self.columns

    def seconds(self) -> float:
        name = b"#total_seconds" if self.old else b"t_sec"
        return scaled(self.rows[-1][1][self.columns.index(name)]) if self.rows else 0.0


def parse(content: bytes) -> ParsedOutput:
    """Parses the output of one run. Raises NotThisFormat."""
    reading = _IibenchLog()
    for line in lines(content):
        if not reading.columns:
            _header(reading, line)
        else:
            _consume(reading, line)
    if not reading.columns:
        raise NotThisFormat(1, "", f"the file is empty; expected {EXPECTED}")
    return _output(reading)


def _header(reading: _IibenchLog, line: TextLine) -> None:
    if not line.text.strip():
        return
    tabs = line.text.split(b"\t")
    if line.text == OLD_HEADER:
        reading.columns = line.text.split(b" ")
    elif all(name in tabs for name in NEEDED) and len(set(tabs)) == len(tabs):
        reading.columns = tabs
    else:
        raise line.refuse(EXPECTED)


def _consume(reading: _IibenchLog, line: TextLine) -> None:
    text = line.text
    if LIKE_ROW.match(text):
        _row(reading, line)
    elif found := TOTALS.match(text) or SHORT_TOTALS.match(text):
        if reading.totals:
            raise line.refuse("the output of one run; this is a second result")
        if line.ended:
            reading.totals = (line, found)
    elif text.split(b"\t") == reading.columns or text == OLD_HEADER:
        raise line.refuse("the output of one run; this begins another: send each as a file of its own")
    elif LOST.match(text):
        key = (line.shown, reading.seconds())
        reading.errors[key] = reading.errors.get(key, 0) + 1
    elif not NOTICE.match(text):
        reading.unparsed.append(line.shown)
    reading.done = reading.done or text == b"Done"


def _row(reading: _IibenchLog, line: TextLine) -> None:
    if not line.ended:
        return  # cut off
    cells = line.text.split(b" " if reading.old else b"\t")
    if len(cells) != len(reading.columns) or not all(CELL.fullmatch(cell) for cell in cells):
        raise line.refuse(f"{len(reading.columns)} numbers, as the header has columns")
    before = reading.seconds()
    reading.rows.append((line, cells))
    if reading.seconds() <= before and len(reading.rows) > 1:
        raise line.refuse(f"a time after {before:g} s")


def _output(reading: _IibenchLog) -> ParsedOutput:
    complete = bool(reading.rows) and reading.done and (reading.old or reading.totals is not None)
    values = (_old_values(reading) if reading.old else _values(reading)) if complete else []
    rates = (
        {"client.rows": b"last_ips", "client.reads": b"last_qps"}
        if reading.old
        else {"client.rows": b"i_ips", "client.rows_deleted": b"i_dps", "client.reads": b"i_qps"}
    )
    places = {key: reading.columns.index(name) for key, name in rates.items()}
    time = reading.columns.index(b"#total_seconds" if reading.old else b"t_sec")
    elapsed = next((value.value for value in values if value.metric == "client.elapsed"), reading.seconds())
    return ParsedOutput(
        version="2009" if reading.old else "",
        reason="" if complete else "the output ends before the result (Totals and Done)",
        values=tuple(values),
        clock=tuple(scaled(cells[time]) for _, cells in reading.rows),
        series={key: tuple(scaled(cells[at]) for _, cells in reading.rows) for key, at in places.items()}
        if reading.rows
        else {},
        events=tuple(ToolMessage("error", label, at, n) for (label, at), n in reading.errors.items()),
        unparsed=tuple(reading.unparsed),
        measured=(0.0, elapsed) if elapsed else None,
    )


def _values(reading: _IibenchLog) -> list[ParsedValue]:
    assert reading.totals  # noqa: S101  for mypy
    line, found = reading.totals
    values = [
        number_of(line, found, "rate", "client.rows"),
        number_of(line, found, "rows", "client.rows_inserted"),
        number_of(line, found, "seconds", "client.elapsed"),
        _cell(reading, b"t_qps", "client.reads"),
    ]
    if "retries" in found.groupdict():
        retries = sum(int(found[name]) for name in "idq")
        start, end = found.span("retries")
        values.append(ParsedValue("client.errors.total", float(retries), line.start + start, line.start + end))
    return values


def _old_values(reading: _IibenchLog) -> list[ParsedValue]:
    """The last row's cumulative figures: the format of 2009 has no totals."""
    return [
        _cell(reading, b"cum_ips", "client.rows"),
        _cell(reading, b"#rows", "client.rows_inserted"),
        _cell(reading, b"#total_seconds", "client.elapsed"),
        _cell(reading, b"cum_qps", "client.reads"),
    ]


def _cell(reading: _IibenchLog, name: bytes, metric: str) -> ParsedValue:
    line, cells = reading.rows[-1]
    place = reading.columns.index(name)
    start = line.start + sum(len(cell) + 1 for cell in cells[:place])
    return ParsedValue(metric, scaled(cells[place]), start, start + len(cells[place]))
