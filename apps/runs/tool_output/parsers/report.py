"""Exact parser of the report format: JSON lines that the tools of ours print, between lines of sysbench or none.

docs/reference/report-format.md has the grammar. Pure: bytes in, frozen values with their byte ranges out. A line
that is no report line is left to others; one that is and breaks the grammar is kept in `broken` with the reason.
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
    """The load begins: the zero of all times."""

    tool: str
    version: str = ""


class ReportInterval(ReportLine, frozen=True, kw_only=True, tag="interval"):
    """`counts` of things within `seconds` up to `t`; `values` of states and percentiles of that time."""

    t: float
    seconds: float
    threads: int | None = None
    counts: dict[str, int | float] = {}
    values: dict[str, int | float | None] = {}


class Total(ReportLine, frozen=True, kw_only=True, tag="total"):
    """The measured phase as a whole."""

    from_: float = msgspec.field(name="from")
    to: float
    counts: dict[str, int | float] = {}
    values: dict[str, int | float | None] = {}


class ReportHistogram(ReportLine, frozen=True, kw_only=True, tag="histogram"):
    """Latencies: [value in ms on sysbench's grid, count], rising."""

    metric: str = "client.latency"
    from_: float = msgspec.field(name="from")
    to: float
    buckets: list[tuple[float, int]]


class ReportEvent(ReportLine, frozen=True, kw_only=True, tag="event"):
    """Something that happened, or lasted."""

    event: str
    label: str
    from_: float = msgspec.field(name="from")
    to: float | None = None
    node: str = ""
    detail: dict[str, Any] = {}


class ReportCheck(ReportLine, frozen=True, kw_only=True, tag="check"):
    """Whether the tool did what it claims."""

    check: str
    label: str
    held: bool
    t: float | None = None
    expected: Any = None
    found: Any = None


class Error(ReportLine, frozen=True, kw_only=True, tag="error"):
    """What the tool met, `count` times."""

    text: str
    t: float = 0.0
    code: int | None = None
    count: int = 1


class Raw(ReportLine, frozen=True, kw_only=True, tag="probe"):
    """One attempt of a probe: kept for whoever reads the artifact."""


class ReportNote(ReportLine, frozen=True, kw_only=True, tag="note"):
    """Words for people."""

    text: str


class End(ReportLine, frozen=True, kw_only=True, tag="end"):
    """Nothing follows."""


AnyLine = Begin | ReportInterval | Total | ReportHistogram | ReportEvent | ReportCheck | Error | Raw | ReportNote | End


@dataclass(frozen=True)
class Placed:
    """A line and where it stands: `output[start:end]`."""

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
    """Where the lines of the report stand."""
    start = 0
    while start < len(output):
        end = output.find(b"\n", start)
        end = len(output) if end < 0 else end
        if output.startswith(MARK, start):
            yield start, end
        start = end + 1
