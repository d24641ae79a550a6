"""Exact parser of the report format: JSON lines printed by our own tools, alone or between lines of sysbench.

docs/reference/report-format.md defines the grammar. Pure: bytes in, frozen values with their byte ranges out.
Lines that are not report lines are ignored; report lines that break the grammar are kept in `broken` with the reason.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from apps.core import limits

PARSER = "report"
VERSION = "1"
MARK = b'{"kind":'
# Bounds of the grammar, within which rates and sums stay finite.
SHOWN = 2_000  # bytes of a line that breaks it
LARGEST = 1e18
LONGEST, SHORTEST = 1e9, 1e-6  # s
NAME = re.compile(r"[A-Za-z0-9][\w.<>*/:+@%-]{0,119}\Z")


class ReportLine(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    """A line of the report."""


class Begin(ReportLine, frozen=True, kw_only=True, tag="begin"):
    """Start of the load, the zero of all times; `monotonic`: that zero by the monotonic clock of the tool's host, s."""

    tool: str
    version: str = ""
    monotonic: float | None = None


class ReportInterval(ReportLine, frozen=True, kw_only=True, tag="interval"):
    """The interval of `seconds` that ends at `t`: `counts` of events; `values` of gauges and percentiles."""

    t: float
    seconds: float
    threads: int | None = None
    counts: dict[str, int | float] = {}
    values: dict[str, int | float | None] = {}


class Total(ReportLine, frozen=True, kw_only=True, tag="total"):
    """Totals of the measured phase."""

    from_: float = msgspec.field(name="from")
    to: float
    counts: dict[str, int | float] = {}
    values: dict[str, int | float | None] = {}


class ReportHistogram(ReportLine, frozen=True, kw_only=True, tag="histogram"):
    """Latency histogram: [value in ms on sysbench's grid, count], ascending."""

    metric: str = "client.latency"
    from_: float = msgspec.field(name="from")
    to: float
    buckets: list[tuple[float, int]]


class ReportEvent(ReportLine, frozen=True, kw_only=True, tag="event"):
    """An event; with `to`, a span of time."""

    event: str
    label: str
    from_: float = msgspec.field(name="from")
    to: float | None = None
    node: str = ""
    detail: dict[str, Any] = {}


class ReportCheck(ReportLine, frozen=True, kw_only=True, tag="check"):
    """Result of a check that the tool made of its own work."""

    check: str
    label: str
    held: bool
    t: float | None = None
    expected: Any = None
    found: Any = None


class Error(ReportLine, frozen=True, kw_only=True, tag="error"):
    """An error that occurred `count` times."""

    text: str
    t: float = 0.0
    code: int | None = None
    count: int = 1


class Raw(ReportLine, frozen=True, kw_only=True, tag="probe"):
    """One attempt of a probe; only kept in the artifact."""


class ReportNote(ReportLine, frozen=True, kw_only=True, tag="note"):
    """Text for display."""

    text: str


class End(ReportLine, frozen=True, kw_only=True, tag="end"):
    """End of the report."""


AnyLine = Begin | ReportInterval | Total | ReportHistogram | ReportEvent | ReportCheck | Error | Raw | ReportNote | End


@dataclass(frozen=True)
class Placed:
    """A line and its byte range, `output[start:end]`."""

    line: AnyLine
    start: int
    end: int


@dataclass
class ParsedReport:
    lines: list[Placed] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)


def parse(output: bytes) -> ParsedReport:
    decoder = msgspec.json.Decoder(AnyLine)
    found, amount = ParsedReport(), _Amount()
    for start, end in _places(output):
        text = output[start:end]
        try:
            line = decoder.decode(text)
            _check(line)
            amount = amount.plus(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, _OutOfBounds) as error:
            found.broken.append(f"{text[:SHOWN].decode('utf-8', 'backslashreplace')} ({error})")
            continue
        found.lines.append(Placed(line, start, end))
    return found


def _places(output: bytes) -> Iterator[tuple[int, int]]:
    """Byte ranges of the report lines."""
    start = 0
    while start < len(output):
        end = output.find(b"\n", start)
        end = len(output) if end < 0 else end
        if output.startswith(MARK, start):
            yield start, end
        start = end + 1


# ---------------------------------------------------------------- bounds


class _OutOfBounds(ValueError):
    """A line's numbers or names lie outside the grammar."""


@dataclass(frozen=True)
class _Amount:
    """Metrics named by the lines so far, and their number of intervals: each name is a series of them all."""

    names: frozenset[str] = frozenset()
    intervals: int = 0

    def plus(self, line: AnyLine) -> "_Amount":
        """Raises _OutOfBounds."""
        names = self.names
        if not names.issuperset(named := _names(line)):
            names = names.union(named)
            _require(len(names) <= limits.REPORT_NAMES, f"a report has at most {limits.REPORT_NAMES:,} names")
        intervals = self.intervals + isinstance(line, ReportInterval)
        _require(intervals <= limits.ROWS, f"a report has at most {limits.ROWS:,} intervals")
        values = f"a report has at most {limits.REPORT_VALUES:,} values: its names times its intervals"
        _require(len(names) * intervals <= limits.REPORT_VALUES, values)
        return _Amount(names, intervals)


def _names(line: AnyLine) -> list[str]:
    match line:
        case ReportInterval() | Total():
            return [*line.counts, *line.values]
        case ReportHistogram():
            return [line.metric]
        case _:
            return []


def _check(line: AnyLine) -> None:
    """Raises _OutOfBounds."""
    match line:
        case ReportInterval():
            _check_time(line.t)
            _require(
                line.seconds <= 0 or SHORTEST <= line.seconds <= LONGEST, "seconds is not the length of an interval"
            )
            _check_numbers([line.threads])
            _check_values(line)
        case Total():
            _check_span(line.from_, line.to)
            _check_values(line)
        case ReportHistogram():
            _check_span(line.from_, line.to)
            _require(bool(NAME.match(line.metric)), "metric is not a metric's key")
            _check_numbers(number for bucket in line.buckets for number in bucket)
            _require(all(count >= 0 for _, count in line.buckets), "a count is negative")
        case ReportEvent():
            _check_span(line.from_, line.from_ if line.to is None else line.to)
            _require(not limits.is_nested_too_deep(line.detail), "detail is nested too deep")
        case ReportCheck():
            _check_time(line.t or 0)
            _require(not limits.is_nested_too_deep([line.expected, line.found]), "expected or found is nested too deep")
        case Error():
            _check_time(line.t)
        case _:
            pass


def _check_time(t: float) -> None:
    _require(abs(t) <= LONGEST, "t is not a time")


def _check_values(line: ReportInterval | Total) -> None:
    for names in (line.counts, line.values):
        _require(all(NAME.match(name) for name in names), "a name is not one of a metric")
        _check_numbers(names.values())


def _check_span(start: float, end: float) -> None:
    _require(-LONGEST <= start <= end <= LONGEST, "from and to are not times in order")
    _require(end in (start, max(end, start + SHORTEST)), "from and to lie too close together")


def _check_numbers(numbers: Iterable[float | None]) -> None:
    _require(all(number is None or abs(number) <= LARGEST for number in numbers), f"a number is beyond {LARGEST:g}")


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise _OutOfBounds(message)
