"""Rows of a CSV or JSON file of the sender's own: their cells as numbers, and the bytes of each. Pure."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NoReturn

from apps.core import limits
from apps.runs.tool_output.parsers.parsed_output import NotThisFormat, TextLine, lines, load_json, shown

CSV_EXPECTED = "a CSV whose first line names its columns, or JSON, in UTF-8"
JSON_EXPECTED = "JSON, as the file begins with { or ["
BOM = b"\xef\xbb\xbf"
NUMBER = re.compile(r"[+-]?(?:\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})(?:[eE][+-]?\d{1,2})?")
# With a comma as a decimal one only if another number of the file proves it.
GROUPS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+")
BLANKS = re.compile(r"[ \t\r\n]*")


class OwnFile(ABC):
    """A file's rows, from 0, and its values apart from them."""

    @property
    @abstractmethod
    def count(self) -> int:
        """Rows."""

    @abstractmethod
    def has_column(self, place: str) -> bool:
        """Whether `place` is a column of the rows, not a value of the whole file."""

    @abstractmethod
    def text(self, row: int, column: str) -> str:
        """The cell as written; empty: no value. Raises NotThisFormat for an unknown column."""

    @abstractmethod
    def span(self, row: int, column: str) -> tuple[int, int]:
        """The cell's bytes."""

    @abstractmethod
    def alone(self, place: str) -> tuple[str, tuple[int, int]]:
        """A value of the file as a whole, and its bytes: of the only row of a CSV, by its path in JSON."""

    @abstractmethod
    def refuse(self, row: int, column: str, expected: str) -> NoReturn:
        """Raises NotThisFormat with the row's line and the column."""

    @abstractmethod
    def refuse_alone(self, place: str, expected: str) -> NoReturn:
        """Raises NotThisFormat with the line of a value of the whole file."""

    def number(self, text: str) -> Decimal | None:
        """None: it is no number."""
        word = text.strip()
        return Decimal(word) if NUMBER.fullmatch(word) else None


# ---------------------------------------------------------------- CSV


@dataclass
class CsvFile(OwnFile):
    """Separated by tabs, semicolons or commas, as its first line shows. `commas`: decimal ones."""

    columns: dict[str, int]
    separator: bytes
    rows: list[tuple[TextLine, list[tuple[int, int]]]]
    commas: bool = False

    @property
    def count(self) -> int:
        return len(self.rows)

    def has_column(self, place: str) -> bool:
        return bool(place)

    def text(self, row: int, column: str) -> str:
        if column not in self.columns:
            raise NotThisFormat(1, "", f"a column {column!r:.80}; there are {', '.join(self.columns)[:200]}")
        line, cells = self.rows[row]
        start, end = cells[self.columns[column]]
        return _unquoted(line.text[start:end])

    def span(self, row: int, column: str) -> tuple[int, int]:
        line, cells = self.rows[row]
        start, end = cells[self.columns[column]]
        return line.start + start, line.start + end

    def alone(self, place: str) -> tuple[str, tuple[int, int]]:
        return self.text(0, place), self.span(0, place)

    def refuse(self, row: int, column: str, expected: str) -> NoReturn:
        line = self.rows[row][0]
        raise line.refuse(f"in row {row + 1}, column {column!r:.80}: {expected}")

    def refuse_alone(self, place: str, expected: str) -> NoReturn:
        self.refuse(0, place, expected)

    def number(self, text: str) -> Decimal | None:
        if not self.commas:
            return super().number(text)
        return None if "." in text else super().number(text.replace(",", ".", 1))


def csv_file(content: bytes) -> CsvFile:
    """Raises NotThisFormat."""
    found: CsvFile | None = None
    for line in lines(content):
        text = line.text.removeprefix(BOM) if line.number == 1 else line.text
        if not text.strip():
            continue
        if found is None:
            found = _header(line, len(line.text) - len(text))
            continue
        cells = _cells(line, found.separator, 0)
        if len(cells) != len(found.columns):
            raise line.refuse(f"{len(found.columns)} cells, as the first line has columns; it has {len(cells)}")
        if len(found.rows) >= limits.ROWS:
            raise line.refuse(f"at most {limits.ROWS:,} rows")
        found.rows.append((line, cells))
    if found is None or not found.rows:
        raise NotThisFormat(1, "", f"a row of values below the first line; expected {CSV_EXPECTED}")
    if found.separator != b",":
        found.commas = any(re.search(rb"\d,\d", line.text) for line, _ in found.rows)
    if found.commas:
        _require_decimals(found)
    return found


def _require_decimals(file: CsvFile) -> None:
    """Raises NotThisFormat where all commas may separate thousands."""
    doubtful: TextLine | None = None
    for line, cells in file.rows:
        for text in (_unquoted(line.text[start:end]) for start, end in cells if b"," in line.text[start:end]):
            if GROUPS.fullmatch(text):
                doubtful = doubtful or line
            elif NUMBER.fullmatch(text.replace(",", ".", 1)):
                return
    if doubtful is not None:
        raise doubtful.refuse(
            "decimals with a point, or without a separator of thousands: no number of the file shows whether its comma "
            "is one, and 1,234 may be 1.234 or 1234"
        )


def _header(line: TextLine, skipped: int) -> CsvFile:
    separator = next((sign for sign in (b"\t", b";") if sign in line.text), b",")
    cells = _cells(line, separator, skipped)
    try:
        names = [_unquoted(line.text[start:end], strict=True) for start, end in cells]
    except UnicodeDecodeError as error:
        raise line.refuse(CSV_EXPECTED) from error
    if len(names) > limits.COLUMNS:
        raise line.refuse(f"at most {limits.COLUMNS:,} columns")
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise line.refuse(f"columns with names of their own; {twice!r:.60} is there twice")
    if all(NUMBER.fullmatch(name) for name in names):
        raise line.refuse(CSV_EXPECTED)
    return CsvFile({name: place for place, name in enumerate(names)}, separator, [])


def _cells(line: TextLine, separator: bytes, start: int) -> list[tuple[int, int]]:
    """Places of the cells in the line; a quoted one may hold the separator."""
    text, found = line.text, []
    if b'"' not in text:
        for cell in text[start:].split(separator):
            found.append((start, start + len(cell)))
            start += len(cell) + 1
        return found
    while True:
        end = start
        if text[start : start + 1] == b'"':
            end = text.find(b'"', start + 1)
            while end >= 0 and text[end + 1 : end + 2] == b'"':
                end = text.find(b'"', end + 2)
            if end < 0:
                raise line.refuse("a cell that ends with the quote that it begins with, on the same line")
        end = text.find(separator, end)
        found.append((start, len(text) if end < 0 else end))
        if end < 0:
            return found
        start = end + 1


def _unquoted(cell: bytes, *, strict: bool = False) -> str:
    text = cell.decode("utf-8", "strict" if strict else "replace").strip()
    quoted = len(text) > 1 and text[0] == text[-1] == '"'
    return text[1:-1].replace('""', '"').strip() if quoted else text


# ---------------------------------------------------------------- JSON


@dataclass
class JsonFile(OwnFile):
    """`rows`: place of each row in the text, and the row itself."""

    content: bytes
    source: str
    rows: list[tuple[int, int, dict[str, Any]]] = field(default_factory=list)
    _inside: dict[int, dict[str, tuple[int, int]]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return len(self.rows)

    def has_column(self, place: str) -> bool:
        return bool(self.rows) and self._find(place, *self.rows[0][:2]) is not None

    def text(self, row: int, column: str) -> str:
        start, end, values = self.rows[row]
        value = values.get(column)
        if isinstance(value, str):  # numbers too, as they are written
            return value
        place = self._find(column, start, end)
        if place is None:
            self.refuse(row, column, f"a value; there are {', '.join(values)[:200]}")
        return self._written(place)

    def span(self, row: int, column: str) -> tuple[int, int]:
        place = self._find(column, *self.rows[row][:2])
        return self._bytes(*(place or self.rows[row][:2]))

    def alone(self, place: str) -> tuple[str, tuple[int, int]]:
        found = self._find(place, _blank(self.source, 0), len(self.source))
        if found is None:
            raise NotThisFormat(1, "", f"a value at {place!r:.80}, as the mapping says")
        return self._written(found), self._bytes(*found)

    def refuse(self, row: int, column: str, expected: str) -> NoReturn:
        start, end, _ = self.rows[row]
        words = f"in row {row + 1}, {column!r:.80}: {expected}"
        raise NotThisFormat(self._line(start), shown(self.source[start:end].encode()), words)

    def refuse_alone(self, place: str, expected: str) -> NoReturn:
        found = self._find(place, _blank(self.source, 0), len(self.source)) or (0, 0)
        raise NotThisFormat(
            self._line(found[0]), shown(self.source[slice(*found)].encode()), f"{expected} at {place!r:.80}"
        )

    def take_rows(self, path: str) -> None:
        """Raises NotThisFormat."""
        first = _blank(self.source, 0)
        place = self._find(path, first, len(self.source)) if path else (first, len(self.source))
        if place is None or self.source[place[0]] != "[":
            where = f"at {path!r:.80}" if path else "as the whole file, or its path as rows"
            raise NotThisFormat(1, "", f"a list of rows {where}")
        decoder = json.JSONDecoder(parse_float=str, parse_int=str)
        for _, start, end in _members(self.source, place[0]):
            if len(self.rows) >= limits.ROWS:
                raise NotThisFormat(self._line(start), "", f"at most {limits.ROWS:,} rows")
            value, _ = decoder.raw_decode(self.source, start)
            if not isinstance(value, dict):
                raise NotThisFormat(self._line(start), shown(self.source[start:end].encode()), "a row: an object")
            self.rows.append((start, end, value))
        if not self.rows:
            raise NotThisFormat(self._line(place[0]), "", "rows; the list is empty")

    def _find(self, path: str, start: int, end: int) -> tuple[int, int] | None:
        """Place of the value at `path` within that at `start`; the longest key that fits comes first."""
        parts = path.split(".")
        while parts:
            if self.source[start] not in "{[":
                return None
            if start not in self._inside:
                self._inside[start] = {key: (at, to) for key, at, to in _members(self.source, start)}
            keys = (".".join(parts[:number]) for number in range(len(parts), 0, -1))
            key = next((key for key in keys if key in self._inside[start]), None)
            if key is None:
                return None
            start, end = self._inside[start][key]
            parts = parts[key.count(".") + 1 :]
        return start, end

    def _written(self, place: tuple[int, int]) -> str:
        written = self.source[slice(*place)]
        return str(json.loads(written)) if written[:1] == '"' else "" if written == "null" else written

    def _bytes(self, start: int, end: int) -> tuple[int, int]:
        if len(self.content) == len(self.source):
            return start, end
        first = len(self.source[:start].encode())
        return first, first + len(self.source[start:end].encode())

    def _line(self, start: int) -> int:
        return self.source.count("\n", 0, start) + 1


def json_file(content: bytes) -> JsonFile:
    """Raises NotThisFormat."""
    load_json(content, JSON_EXPECTED)
    return JsonFile(content, content.decode())


def _members(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """Key, or number in a list, and place of each value within the valid object or list at `start`."""
    decoder, is_object, number = json.JSONDecoder(), text[start] == "{", 0
    at = _blank(text, start + 1)
    while text[at] not in "}]":
        key = str(number)
        if is_object:
            key, at = decoder.raw_decode(text, at)
            at = _blank(text, _blank(text, at) + 1)
        _, end = decoder.raw_decode(text, at)
        yield key, at, end
        number, at = number + 1, _blank(text, end)
        if text[at] == ",":
            at = _blank(text, at + 1)


def _blank(text: str, at: int) -> int:
    found = BLANKS.match(text, at)
    return at if found is None else found.end()
