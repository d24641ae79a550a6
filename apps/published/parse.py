"""Parses a file of published results; errors name entry and field. Pure: the catalog is checked elsewhere."""

import datetime
import math
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from apps.core import yaml_text
from apps.published.format import (
    QUALIFIERS,
    QUESTIONS,
    RATIO,
    ArticleHardware,
    ArticleSide,
    ArticleSource,
    Document,
    FigureEntry,
    File,
    MalformedFile,
    StatedBottleneck,
    StatedError,
    StatedFigure,
    StatedLoadLevels,
    TableEntry,
    WorkloadEntry,
)

T = TypeVar("T")
DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?\Z")
SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\Z")
# Of whole numbers: from there on not every one is a float.
LARGEST = 2**53
HELP = "docs/reference/published-format.md has the format"


def content_of(path: Path) -> bytes:
    """Raises MalformedFile for an unreadable file."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise MalformedFile(path.name, "", "", f"cannot be read: {error.strerror}") from error


def read(name: str, content: bytes) -> Document:
    """The document in `content`; `name`: the file's name in errors. Raises MalformedFile."""
    return _ArticleReader(name).document(_yaml(name, content))


def _yaml(name: str, content: bytes) -> Any:
    try:
        return yaml_text.load(content)
    except yaml_text.NotYaml as error:
        raise MalformedFile(name, f"line {error.line}" if error.line else "", "", str(error)) from error


class _ArticleReader:
    def __init__(self, name: str) -> None:
        self.name = name

    def document(self, raw: Any) -> Document:
        if not isinstance(raw, dict):
            raise MalformedFile(self.name, "", "", f"must be a mapping with format, slug and source; {HELP}")
        self.check_scalars(raw)
        head = self.convert(raw, File, "")
        self.require(head.format == 1, "", "format", f"{head.format} is not known: use 1")
        self.require(bool(SLUG.match(head.slug)) and len(head.slug) <= 80, "", "slug", "must be like name-2026")
        source = self.convert(head.source, ArticleSource, "source")
        self.check_source(source)
        self.hardware = self.mapping(head.hardware, ArticleHardware, "hardware")
        self.sides = self.mapping(head.sides, ArticleSide, "sides")
        self.workloads = self.mapping(head.workloads, WorkloadEntry, "workloads")
        for key, workload in self.workloads.items():
            known = f"must be one of {', '.join(QUESTIONS)}"
            self.require(workload.question in QUESTIONS, f"workloads.{key}", "question", known)
        for key, side in self.sides.items():
            self.require(0 < len(side.name) <= 80, f"sides.{key}", "name", "must have 1 to 80 characters")
            for machine in side.hardware:
                self.known(machine, self.hardware, f"sides.{key}", "hardware")
        tables = self.entries(head.tables, TableEntry, "tables")
        figures = [
            StatedFigure(entry=f"figures[{i}]", figure=figure)
            for i, figure in enumerate(self.entries(head.figures, FigureEntry, "figures"))
        ]
        for i, table in enumerate(tables):
            figures += self.cells(table, f"tables[{i}]")
        self.check_figures(figures)
        document = Document(
            file=self.name,
            slug=head.slug,
            source=source,
            hardware=self.hardware,
            sides=self.sides,
            workloads=self.workloads,
            conditions=head.conditions,
            topology=head.topology,
            client=head.client,
            releases=head.releases,
            load_levels=self.entries(head.load_levels, StatedLoadLevels, "load_levels"),
            tables=tables,
            bottlenecks=self.entries(head.bottlenecks, StatedBottleneck, "bottlenecks"),
            errors=self.entries(head.errors, StatedError, "errors"),
            notes=head.notes,
            figures=figures,
        )
        self.check_references(document)
        return document

    # -------------------------------------------------------------- shape

    def require(self, holds: bool, entry: str, field: str, message: str) -> None:
        if not holds:
            raise MalformedFile(self.name, entry, field, message)

    def known(self, key: str, names: Mapping[str, Any], entry: str, field: str) -> None:
        there = ", ".join(names) or "none"
        self.require(key in names, entry, field, f"{key!r} is not described in this file; described are: {there}")

    def convert(self, raw: Any, kind: type[T], entry: str) -> T:
        try:
            return msgspec.convert(raw, kind)
        except msgspec.ValidationError as error:
            text, _, path = str(error).partition(" - at `$")
            field = path.rstrip("`").removeprefix(".").removesuffix("[...]")
            named = re.search(r"field `(.+)`", text)
            if named:
                field = ".".join(part for part in (field, named.group(1)) if part)
            raise MalformedFile(self.name, entry, field, f"{text}; {HELP}") from error

    def mapping(self, raw: Mapping[str, Any], kind: type[T], entry: str) -> dict[str, T]:
        for key in raw:
            self.require(bool(key.strip()), entry, "", "a name must not be empty")
            self.require(len(key) <= 80, entry, f"{key[:80]}…", "must have at most 80 characters")
        return {key: self.convert(value, kind, f"{entry}.{key}") for key, value in raw.items()}

    def entries(self, raw: list[Any], kind: type[T], entry: str) -> list[T]:
        return [self.convert(value, kind, f"{entry}[{i}]") for i, value in enumerate(raw)]

    # -------------------------------------------------------------- sense

    def check_scalars(self, raw: Any) -> None:
        """What the database cannot hold is refused wherever it stands."""
        met: set[int] = set()  # aliases may make a short text long, or lead back
        waiting: list[tuple[str, Any]] = [("", raw)]
        while waiting:
            path, value = waiting.pop()
            entry, _, field = path.rpartition(".")
            if isinstance(value, str):
                self.require("\0" not in value, entry, field, "must not contain the character NUL")
            elif isinstance(value, float):
                self.require(math.isfinite(value), entry, field, "must be a finite number")
            elif isinstance(value, int):
                self.require(abs(value) <= LARGEST, entry, field, f"must be within {LARGEST:,} of 0")
            elif isinstance(value, dict | list | tuple | set) and id(value) not in met:
                met.add(id(value))
                # The last is looked at first: keys before what stands under them.
                waiting += reversed(_inside(path, value))
                waiting += [(path, key) for key in value] if isinstance(value, dict) else []

    def check_source(self, source: ArticleSource) -> None:
        self.require(0 < len(source.title) <= 200, "source", "title", "must have 1 to 200 characters")
        for field, most in (("author", 120), ("publisher", 120), ("address", 200)):
            self.require(len(getattr(source, field)) <= most, "source", field, f"must have at most {most} characters")
        self.require(
            not source.address or source.address.startswith(("https://", "http://")),
            "source",
            "address",
            "must be an https:// address, or be left out",
        )
        for field in ("published", "tested"):
            stated = str(getattr(source, field))
            if stated or field == "published":
                self.require(_is_date(stated), "source", field, f"{stated!r} must be YYYY, YYYY-MM or YYYY-MM-DD")

    def cells(self, table: TableEntry, entry: str) -> list[StatedFigure]:
        """The figures below the metric columns; a null cell states nothing."""
        self.require(bool(table.title.strip()), entry, "title", "must not be empty")
        self.require(bool(table.columns), entry, "columns", "a table has at least one column")
        self.require(bool(table.rows), entry, "rows", "a table has at least one row")
        for c, column in enumerate(table.columns):
            one = bool(column.axis) != bool(column.metric)
            self.require(one, f"{entry}.columns[{c}]", "metric", "a column has either an axis or a metric")
        figures = []
        for r, row in enumerate(table.rows):
            where = f"{entry}.rows[{r}]"
            width = len(table.columns)
            self.require(len(row) == width, where, "", f"has {len(row)} cells for {width} columns")
            pairs = list(zip(table.columns, row, strict=True))
            conditions, side = dict(table.conditions), table.side
            for c, (column, cell) in enumerate(pairs):
                if not column.axis:
                    continue
                self.require(cell is not None, where, column.axis, "an axis has a value in every row")
                if column.axis == "side":
                    # 8.0 names a side as its key does, which is text.
                    row[c] = side = str(cell)
                    self.known(side, self.sides, where, "side")
                else:
                    conditions[column.axis] = cell if cell is not None else ""
            for c, (column, cell) in enumerate(pairs):
                if column.axis or cell is None:
                    continue
                number = isinstance(cell, int | float) and not isinstance(cell, bool)
                self.require(number, where, column.metric, f"{cell!r} must be a number, or null if not stated")
                ratio = column.unit == RATIO
                figure = FigureEntry(
                    workload=table.workload,
                    metric=column.metric,
                    conditions=conditions,
                    unit=column.unit,
                    value=float(cell),
                    qualifier=column.qualifier or table.qualifier,
                    side="" if ratio else column.side or side,
                    numerator=column.numerator,
                    denominator=column.denominator,
                    hardware=table.hardware,
                )
                figures.append(StatedFigure(entry=f"{where}[{c}]", figure=figure))
        return figures

    def check_figures(self, figures: list[StatedFigure]) -> None:
        seen: dict[str, str] = {}
        for stated in figures:
            self.check_figure(stated.entry, stated.figure)
            f = stated.figure
            about = (f.workload, f.metric, f.unit, f.side, f.numerator, f.denominator, f.hardware, f.qualifier)
            identity = repr((about, sorted((key, repr(value)) for key, value in f.conditions.items())))
            first = seen.setdefault(identity, stated.entry)
            same = f"duplicates {first}: workload, conditions, metric, sides and qualifier must differ in one"
            self.require(first == stated.entry, stated.entry, "", same)

    def check_figure(self, entry: str, f: FigureEntry) -> None:
        self.known(f.workload, self.workloads, entry, "workload")
        for field in ("side", "numerator", "denominator"):
            if getattr(f, field):
                self.known(getattr(f, field), self.sides, entry, field)
        if f.hardware:
            self.known(f.hardware, self.hardware, entry, "hardware")
        self.require(len(f.unit) <= 40, entry, "unit", "must have at most 40 characters")
        self.require((f.low is None) == (f.high is None), entry, "high" if f.high is None else "low", "low needs high")
        if f.low is not None and f.high is not None:
            self.require(f.low <= f.high, entry, "low", "must not be above high")
        if f.unit == RATIO:
            for field in ("numerator", "denominator"):
                self.require(bool(getattr(f, field)), entry, field, "a ratio names numerator and denominator")
            self.require(f.numerator != f.denominator, entry, "denominator", "must differ from the numerator")
            self.require(not f.side, entry, "side", "a ratio has no absolute value: leave the side out, or the ratio")
        else:
            for field in ("numerator", "denominator"):
                self.require(not getattr(f, field), entry, field, "only a figure of unit ratio has one")
        if f.value is None and f.low is None:
            self.require(bool(f.note), entry, "value", "a figure has a value, a range (low, high) or at least a note")
            self.require(not f.qualifier, entry, "qualifier", "a figure without a value has none")
            self.require(not f.of_which, entry, "of_which", "a figure without a value has none")
        else:
            known = f"{f.qualifier!r} must be one of {', '.join(QUALIFIERS)}"
            self.require(f.qualifier in QUALIFIERS, entry, "qualifier", known)

    def check_references(self, document: Document) -> None:
        for name in ("bottlenecks", "errors", "load_levels"):
            for i, item in enumerate(getattr(document, name)):
                self.known(item.workload, self.workloads, f"{name}[{i}]", "workload")
                if name == "bottlenecks":
                    named = bool(item.saturated) and all(resource.strip() for resource in item.saturated)
                    self.require(named, f"{name}[{i}]", "saturated", "must name at least one resource")
                if name != "load_levels":
                    self.known(item.side, self.sides, f"{name}[{i}]", "side")


def _inside(path: str, value: Collection[Any]) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [(f"{path}.{key}" if path else str(key), inner) for key, inner in value.items()]
    return [(f"{path}[{i}]", inner) for i, inner in enumerate(value)]


def _is_date(text: str) -> bool:
    if not DATE.match(text):
        return False
    try:
        datetime.date.fromisoformat((text + "-01-01")[:10])
    except ValueError:
        return False
    return True
