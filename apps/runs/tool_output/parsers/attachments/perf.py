"""Parsers of Linux perf: the table of `perf report --stdio`; stacks of `perf script`, folded by symbol. Pure."""

import re
from collections import Counter
from dataclasses import dataclass, field

from apps.runs.tool_output.parsers.parsed_output import (
    NotThisFormat,
    OutputTable,
    TableColumn,
    TextLine,
    lines,
    scaled,
    shown,
)

VERSION = "2"
ROWS_KEPT = 200
REPORT_EXPECTED = "perf report's heading, “# Overhead  Command …” or “# Children  Self  Command …”"
SCRIPT_EXPECTED = "a sample of perf script, “command pid time: [period] event:”"
SAMPLES = re.compile(rb"^# Samples: (?P<n>\S+) +of events? '(?P<event>[^']+)'")
HEADING = re.compile(rb"^# (?:Overhead|Children +Self|Self) ")
DOTS = re.compile(rb"^# \.+(?: +\.+)+ *$")
ROW = re.compile(rb"^ +(?P<share>\d{1,3}\.\d\d)% ")
# Call graph below a row, and perf's comments.
BRANCH = re.compile(rb"^(?: +[|\-]| {12,}\S|#)")


def parse_report(content: bytes) -> OutputTable:
    """The first event's table: share by symbol, %. Raises NotThisFormat."""
    reading = _Report()
    for line in lines(content):
        if not _consume(reading, line):
            break
    if not reading.widths:
        raise _first(content, REPORT_EXPECTED)
    if not reading.rows:
        raise _first(content, "rows with a share, as “ 19.71%  command  object  [k] symbol”")
    columns = tuple(
        TableColumn(name.lower(), "%" if name in ("Overhead", "Children", "Self") else "") for name in reading.names
    )
    note = f"{reading.samples} samples of {reading.event}" if reading.event else ""
    rows, total = tuple(reading.rows[:ROWS_KEPT]), len(reading.rows)
    return OutputTable("Processor profile by symbol", columns, rows, total, note, tuple(reading.unparsed))


@dataclass
class _Report:
    event: str = ""
    samples: str = ""
    names: list[str] = field(default_factory=list)
    heading: bytes = b""
    widths: list[tuple[int, int | None]] = field(default_factory=list)
    rows: list[tuple[str | float | None, ...]] = field(default_factory=list)
    unparsed: list[str] = field(default_factory=list)


def _consume(reading: _Report, line: TextLine) -> bool:
    """False: another event's table begins."""
    text = line.text
    if found := SAMPLES.match(text):
        if reading.rows:
            return False
        reading.samples, reading.event = shown(found["n"]), shown(found["event"])
    elif HEADING.match(text):
        reading.heading = text
    elif DOTS.match(text):
        _read_columns(reading, line)
    elif ROW.match(text):
        if not reading.widths:
            raise line.refuse(REPORT_EXPECTED)
        if line.ended:
            reading.rows.append(_cells(reading, line))
    elif text.strip() and not BRANCH.match(text):
        if not reading.widths:
            raise line.refuse(REPORT_EXPECTED)
        reading.unparsed.append(line.shown)
    return True


def _read_columns(reading: _Report, line: TextLine) -> None:
    """Reads column positions from the dotted line."""
    if not reading.heading:
        raise line.refuse(REPORT_EXPECTED)
    spans = [found.span() for found in re.finditer(rb"\.+", line.text)]
    starts = [start for start, _ in spans]
    ends: list[int | None] = [*starts[1:], None]
    reading.widths = list(zip(starts, ends, strict=True))
    names = [shown(reading.heading[start:end].strip()) for start, end in reading.widths]
    if "Symbol" not in names:
        raise line.refuse("a column Symbol: run perf report without --sort, or with it by symbol")
    reading.names = names


def _cells(reading: _Report, line: TextLine) -> tuple[str | float | None, ...]:
    cells: list[str | float | None] = []
    for name, (start, end) in zip(reading.names, reading.widths, strict=True):
        word = line.text[start:end].strip()
        if name in ("Overhead", "Children", "Self"):
            if not re.fullmatch(rb"\d{1,3}\.\d\d%", word):
                raise line.refuse(f"a share in the column {name}")
            cells.append(scaled(word[:-1]))
        else:
            cells.append(shown(word))
    return tuple(cells)


def _first(content: bytes, expected: str) -> NotThisFormat:
    line = next((line for line in lines(content) if line.text.strip()), None)
    return line.refuse(expected) if line else NotThisFormat(1, "", f"the file is empty; expected {expected}")


# ---------------------------------------------------------------- perf script

# A command may have spaces. What repeats gives nothing back, so that a line takes time in proportion to its length.
# A tracepoint has fields after its name; a sample without a stack begins with spaces.
SAMPLE = re.compile(
    rb"^ *+(?P<command>\S++(?: ++\S++)*?) ++(?P<pid>-?\d+)(?:/\d+)? +(?:\[\d+\] +)?(?:[\d.]+: +)"
    rb"(?:(?P<period>\d{1,18}) +)?(?P<event>[\w:./,=\-]*[\w/])(?::? *$|: +\S)"
)
FRAME = re.compile(rb"^(?=.*\)$)\t? *(?P<address>[0-9a-f]+) (?P<symbol>.+?)(?:\+0x[0-9a-f]+)? \((?P<object>.*)\)$")
FOLDED_COLUMNS = (
    TableColumn("itself", "%"),
    TableColumn("with what it calls", "%"),
    TableColumn("symbol"),
    TableColumn("object"),
)


def parse_script(content: bytes) -> OutputTable:
    """Stacks folded by symbol: share of the symbol itself, and with its callees. Raises NotThisFormat."""
    itself: Counter[tuple[str, str]] = Counter()
    within: Counter[tuple[str, str]] = Counter()
    events: Counter[str] = Counter()
    stack: list[tuple[str, str]] = []
    weight, samples, unparsed = 0, 0, list[str]()
    is_open = False  # from a sample's heading to the end of its stack

    def close() -> None:
        if stack:
            itself[stack[0]] += weight
            within.update(dict.fromkeys(stack, weight))
            stack.clear()

    for line in lines(content):
        if not line.ended:
            break  # cut off
        if found := SAMPLE.match(line.text):
            close()
            weight, samples, is_open = int(found["period"] or 1), samples + 1, True
            events[shown(found["event"])] += 1
        elif found := FRAME.match(line.text):
            if not samples:
                raise line.refuse(SCRIPT_EXPECTED)
            if is_open:
                stack.append((shown(found["symbol"]), shown(found["object"]).rpartition("/")[2]))
        elif not line.text.strip():
            is_open = False
        elif line.text.strip() and not line.text.startswith(b"#"):
            if not samples:
                raise line.refuse(SCRIPT_EXPECTED)
            is_open &= line.text[:1].isspace()
            unparsed.append(line.shown)
    close()
    whole = sum(itself.values())
    if not whole:
        raise _first(content, f"{SCRIPT_EXPECTED}, with the stack below it")
    if len(events) > 1:
        raise NotThisFormat(1, "", f"samples of several events ({', '.join(sorted(events))[:80]}): send each alone")
    rows = [
        (100 * itself[key] / whole, 100 * count / whole, *key)
        for key, count in sorted(within.items(), key=lambda entry: (-itself[entry[0]], -entry[1], entry[0]))
    ]
    note = f"{samples:,} samples of {next(iter(events))}, weighted by their period"
    return OutputTable(
        "Processor profile by symbol", FOLDED_COLUMNS, tuple(rows[:ROWS_KEPT]), len(rows), note, tuple(unparsed)
    )
