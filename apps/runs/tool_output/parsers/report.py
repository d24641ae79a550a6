"""Exact parser of the report format: JSON lines printed by our own tools, alone or between lines of sysbench.

docs/reference/report-format.md defines the grammar. Pure: bytes in, frozen values with their byte ranges out.
Lines that are not report lines are ignored; report lines that break the grammar are kept in `broken` with the reason.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

PARSER = "report"
VERSION = "1"
MARK = b'{"kind":'


class ReportLine(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    """A line of the report."""


class Begin(ReportLine, frozen=True, kw_only=True, tag="begin"):
    """Start of the load, the zero of all times."""

    tool: str
    version: str = ""


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
    found = ParsedReport()
    for start, end in _places(output):
        text = output[start:end]
        try:
            line = decoder.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            found.broken.append(f"{text.decode('utf-8', 'backslashreplace')} ({error})")
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
