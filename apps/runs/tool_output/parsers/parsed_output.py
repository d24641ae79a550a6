"""What parsers of foreign outputs share: the value that each gives, refusals by line, lines and bytes. Pure.

A parser takes the bytes of one file and gives `Told`, or raises NotThisFormat with the first line that broke. It never
guesses a unit: what the file or the tool's source does not say is not read.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeGuard

LINE_SHOWN = 160
# More would be no output of any of these tools, and take minutes to read.
MOST_LINES = 2_000_000
# Echoes of a password that a tool prints in clear: `[pass]: x`, `option p with value 'x'`, `Changed … mysql_pass from`.
PASSWORDS = (
    re.compile(rb"^ *\[pass\]: *(?!\*+ *$)\S"),
    re.compile(rb"^option p with value '(?!\*+')[^']"),
    re.compile(rb"^Changed \S+:\w*pass\w* from (?!\*+ to \*+)"),
)


class NotThisFormat(ValueError):
    """The file is not what it is said to be. `line` counts from 1; `text` is that line, shortened."""

    def __init__(self, line: int, text: str, expected: str) -> None:
        super().__init__(f"line {line} is {text!r}; expected {expected}" if text else f"line {line}: {expected}")
        self.line = line
        self.text = text
        self.expected = expected


@dataclass(frozen=True)
class TextLine:
    """One line without its end: `content[start:]`. `ended` False: the file stops within it."""

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
    """A headline value, in the metric's unit, and the bytes that it was read or summed from."""

    metric: str
    value: float
    start: int
    end: int


@dataclass(frozen=True)
class ToolMessage:
    """Something that the tool complained of; `at`: s on the tool's clock."""

    kind: str  # error or warning
    label: str
    at: float
    count: int = 1


@dataclass(frozen=True)
class ParsedOutput:
    """What one output says. `reason`: why it is no complete result; empty when it is one.

    `clock`: s on the tool's clock, one for each sample of `series` (metric -> values in the metric's unit; None: none).
    `measured`: what the headline values cover, on the same clock, as the output states it. `threads`: as it states.
    """

    version: str = ""
    reason: str = ""
    threads: int | None = None
    values: tuple[ParsedValue, ...] = ()
    clock: tuple[float, ...] = ()
    series: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    events: tuple[ToolMessage, ...] = ()
    unparsed: tuple[str, ...] = ()
    measured: tuple[float, float] | None = None


@dataclass(frozen=True)
class TableColumn:
    """`unit`: empty for text and plain counts."""

    name: str
    unit: str = ""


@dataclass(frozen=True)
class OutputTable:
    """What a profile or a digest lists, the largest first. `total`: rows that the file has; `note`: what they cover."""

    title: str
    columns: tuple[TableColumn, ...]
    rows: tuple[tuple[str | float | None, ...], ...]
    total: int
    note: str = ""
    unparsed: tuple[str, ...] = ()


def shown(text: bytes) -> str:
    said = text[: LINE_SHOWN * 2].decode("utf-8", "backslashreplace")
    said = "".join(sign if sign.isprintable() else f"\\x{ord(sign):02x}" for sign in said)
    return said if len(said) <= LINE_SHOWN else said[: LINE_SHOWN - 1] + "…"


def lines(content: bytes) -> Iterator[TextLine]:
    """Raises NotThisFormat for a line that shows a password, without showing it."""
    start, number = 0, 1
    while start < len(content):
        end = content.find(b"\n", start)
        ended = end >= 0
        text = content[start : end if ended else len(content)].removesuffix(b"\r")
        if number > MOST_LINES:
            raise NotThisFormat(number, "", f"at most {MOST_LINES:,} lines")
        if any(pattern.match(text) for pattern in PASSWORDS):
            raise NotThisFormat(
                number, "", "shows a password: write * in its place, since raw files are kept and shown"
            )
        yield TextLine(number, start, text, ended)
        start, number = (end + 1 if ended else len(content)), number + 1


def first_line(content: bytes) -> TextLine:
    """The first that is not blank; an empty one if there is none."""
    return next((line for line in lines(content) if line.text.strip()), TextLine(1, 0, b"", ended=False))


def number_of(line: TextLine, found: re.Match[bytes], group: str | int, metric: str, *, per: int = 1) -> ParsedValue:
    """The number in a group as a headline value; `per`: how many of its units make one of the metric's."""
    start, end = found.span(group)
    return ParsedValue(metric, scaled(found[group], per), line.start + start, line.start + end)


def scaled(text: bytes | str, per: int = 1) -> float:
    """Exact in decimals: 51237 of a thousandth is 51.237. Infinite: beyond all numbers."""
    word = text.decode() if isinstance(text, bytes) else text
    try:
        return float(Decimal(word) / per)
    except ArithmeticError:
        return math.inf


def load_json(content: bytes, expected: str) -> Any:
    """Raises NotThisFormat with the line at which it is no JSON."""
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
    """Whether JSON said a whole number that a float holds exactly."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def _line_at(content: bytes, number: int) -> str:
    found = content.split(b"\n", number)
    return shown(found[number - 1]) if number <= len(found) else ""


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no number in JSON")
