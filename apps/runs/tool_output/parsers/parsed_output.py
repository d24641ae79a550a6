"""Shared by the parsers of foreign outputs: their results, errors by line, lines and byte ranges. Pure.

A parser converts the bytes of one file to ParsedOutput or OutputTable, or raises NotThisFormat with the first invalid
line. Units are never guessed: values whose unit is stated by neither the file nor the tool's source are not read.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any, TypeGuard

from apps.core import limits
from apps.core.answers import Cell, Name, component
from apps.runs.samples.histograms import HistogramCounts

LINE_SHOWN = 160


class NotThisFormat(ValueError):
    """The file is not of the declared format. `line` counts from 1; `text` is that line, shortened."""

    def __init__(self, line: int, text: str, expected: str) -> None:
        super().__init__(f"line {line} is {text!r}; expected {expected}" if text else f"line {line}: {expected}")
        self.line = line
        self.text = text
        self.expected = expected


@dataclass(frozen=True)
class TextLine:
    """One line without its line end, at `content[start:]`. `ended` False: the file ends within the line."""

    number: int
    start: int
    text: bytes
    ended: bool

    @property
    def shown(self) -> str:
        return shown(self.text)

    def refuse(self, expected: str) -> NotThisFormat:
        return NotThisFormat(self.number, self.shown, expected)


@dataclass(frozen=True)
class ParsedValue:
    """A headline value in the metric's unit, and the bytes it was read or summed from."""

    metric: str
    value: float
    start: int
    end: int


@dataclass(frozen=True)
class ParsedDistribution:
    """All values of the measured phase in a histogram, and the bytes it was read from."""

    metric: str
    counts: HistogramCounts
    start: int
    end: int


@dataclass(frozen=True)
class ToolMessage:
    """An error or warning of the tool; `at`: s on the tool's clock."""

    kind: str  # error or warning
    label: str
    at: float
    count: int = 1


@dataclass(frozen=True)
class ParsedOutput:
    """Content of one output. `reason`: why the result is incomplete; empty: complete.

    `clock`: s on the tool's clock, one per sample of `series` (metric -> values in the metric's unit; None: no value).
    `tail`: what rates of the last sample are if its interval is whole, which the file does not show.
    `measured`: time covered by the headline values, on the same clock. This, `threads`, `rate` (1/s) and `repetition`
    are as stated in the output.
    `parameters`: of the workload, as stated in the output. `is_rated`: whether a rate limited the load; None: not
    stated.
    """

    version: str = ""
    reason: str = ""
    threads: int | None = None
    rate: float | None = None
    repetition: int | None = None
    values: tuple[ParsedValue, ...] = ()
    clock: tuple[float, ...] = ()
    series: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    tail: Mapping[str, float | None] = field(default_factory=dict)
    events: tuple[ToolMessage, ...] = ()
    unparsed: tuple[str, ...] = ()
    measured: tuple[float, float] | None = None
    distributions: tuple[ParsedDistribution, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    is_rated: bool | None = None


@component("Column")
@dataclass(frozen=True)
class TableColumn:
    """`unit`: empty for text and plain counts."""

    name: str
    unit: Annotated[str, "empty: text, or a plain count"] = ""


@dataclass(frozen=True)
class OutputTable:
    """Rows of a profile or digest, largest first. `total`: number of rows in the file; `note`: what they cover."""

    title: str
    columns: tuple[TableColumn, ...]
    rows: Annotated[tuple[tuple[Cell, ...], ...], "a list of cells each, the largest first; null: not reported"]
    total: Annotated[int, "rows of the file; at most 200 are here"]
    note: Annotated[str, "what the rows cover"] = ""
    unparsed: Annotated[tuple[str, ...], Name("unparsed_lines")] = ()


def shown(text: bytes) -> str:
    text_shown = readable(text[: LINE_SHOWN * 2].decode("utf-8", "backslashreplace"))
    return text_shown if len(text_shown) <= LINE_SHOWN else text_shown[: LINE_SHOWN - 1] + "…"


def readable(text: str) -> str:
    """`text` with signs that are not printable as their codes."""
    return "".join(sign if sign.isprintable() else f"\\x{ord(sign):02x}" for sign in text)


def lines(content: bytes) -> Iterator[TextLine]:
    """The lines of a file. Raises NotThisFormat for too many."""
    start, number = 0, 1
    while start < len(content):
        end = content.find(b"\n", start)
        ended = end >= 0
        text = content[start : end if ended else len(content)].removesuffix(b"\r")
        if number > limits.OUTPUT_LINES:
            raise NotThisFormat(number, "", f"at most {limits.OUTPUT_LINES:,} lines")
        yield TextLine(number, start, text, ended)
        start, number = (end + 1 if ended else len(content)), number + 1


def first_line(content: bytes) -> TextLine:
    """The first line that is not blank; else an empty line."""
    return next((line for line in lines(content) if line.text.strip()), TextLine(1, 0, b"", ended=False))


def number_of(line: TextLine, found: re.Match[bytes], group: str | int, metric: str, *, per: int = 1) -> ParsedValue:
    """The number in a regex group as a headline value; `per`: its units per unit of the metric."""
    start, end = found.span(group)
    return ParsedValue(metric, scaled(found[group], per), line.start + start, line.start + end)


def scaled(text: bytes | str, per: int = 1) -> float:
    """`text` / `per`, exact in decimals: 51237 / 1000 is 51.237. Infinite when out of range."""
    word = text.decode() if isinstance(text, bytes) else text
    try:
        return float(Decimal(word) / per)
    except ArithmeticError:
        return math.inf


def load_json(content: bytes, expected: str) -> Any:
    """Parses JSON in UTF-8. Raises NotThisFormat with the line of the error."""
    try:
        return json.loads(content.decode(), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        raise NotThisFormat(number, _line_at(content, number), f"{expected}, in UTF-8") from error
    except json.JSONDecodeError as error:
        raise NotThisFormat(error.lineno, _line_at(content, error.lineno), f"{expected}; {error.msg}") from error
    except (ValueError, RecursionError) as error:
        first = first_line(content)
        raise first.refuse(f"{expected}; {error}") from error


def is_count(value: object) -> TypeGuard[int]:
    """Whether a JSON value is a whole number from 0 that a float represents exactly."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def _line_at(content: bytes, number: int) -> str:
    found = content.split(b"\n", number)
    return shown(found[number - 1]) if number <= len(found) else ""


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number in JSON")
