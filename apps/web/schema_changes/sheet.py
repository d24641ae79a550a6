"""Tables of the schema changes page: measured changes and published results, row by row, and both as files."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from urllib.parse import urlencode

from django.urls import reverse

from apps.comparison.pure import (
    QUANTITIES,
    ChangeTrial,
    Quantity,
    SchemaChange,
    SchemaChanges,
    stated_operation,
    title_of,
)
from apps.core import tabular, units
from apps.core.tabular import Cell as FileCell
from apps.published.values import ArticleValue, FigureValue, SideValue
from apps.web.compare.view import CompareAddress
from apps.web.schema_changes.charts import ChangeChart, chart
from apps.web.schema_changes.wording import answers

# Quantity of a column, the one shown with it, and that one's text: {} is its value.
COLUMNS = (
    ("duration", "", ""),
    ("gap", "gap_before", "before {}"),
    ("stall", "", ""),
    ("depth", "depth_before", "before {}"),
    ("throughput_deviation", "throughput_deviation_before", "before {}"),
    ("latency_deviation", "latency_deviation_before", "before {}"),
    ("lock_wait", "lock_queue", "{} behind it"),
)
HEADS = tuple(next(quantity for quantity in QUANTITIES if quantity.key == key) for key, _, _ in COLUMNS)
# The articles' names -> quantities.
STATED = {
    "execution_time": "duration",
    "stall": "stall",
    "tps_stddev": "throughput_deviation",
    "latency_stddev": "latency_deviation",
}
# Seconds of a run shown before and after its statements.
AROUND = 8
NOT_STATED = "not stated"
FILE_COLUMNS = (
    *("origin", "operation", "setting", "manner", "system", "platform", "release", "quantity", "unit"),
    *("runs", "median", "low", "high", "words"),
)


@dataclass(frozen=True)
class SheetCell:
    """`text` without unit; `is_number` False: `text` is not a number. `below`: range and previous value;
    `amount`: of a published figure."""

    text: str
    is_number: bool
    below: tuple[str, ...]
    title: str
    amount: float | None = None


@dataclass(frozen=True)
class TrialLine:
    """One run of a row, with the address of its statement on the Run page."""

    trial: ChangeTrial
    url: str
    cells: tuple[SheetCell, ...]


@dataclass(frozen=True)
class SystemRow:
    """A measured system."""

    change: SchemaChange
    anchor: str
    cells: tuple[SheetCell, ...]
    chart: ChangeChart | None
    lines: tuple[TrialLine, ...]


@dataclass(frozen=True)
class MannerRows:
    """`compare_url`: these systems in Compare; empty: only one, or their workloads differ."""

    title: str
    rows: tuple[SystemRow, ...]
    compare_url: str


@dataclass(frozen=True)
class PublishedSide:
    """A side of an article."""

    article: ArticleValue
    side: SideValue
    workload: str
    hardware: str
    cells: tuple[SheetCell, ...]


@dataclass(frozen=True)
class Setting:
    """One operation on the same data under the same load; `stated`: published results of that operation.

    `percentiles`: those of the latency deviation, for example "p95".
    """

    operation: str
    title: str
    setting: str
    manners: tuple[MannerRows, ...]
    stated: tuple[PublishedSide, ...]
    answers: tuple[str, ...]
    percentiles: str


@dataclass(frozen=True)
class ChangeSheet:
    """`stated`: published operations that were not measured here, in columns of `stated_heads`.

    `remarks`: published figures that fit no column.
    """

    settings: tuple[Setting, ...]
    stated: tuple[tuple[str, tuple[PublishedSide, ...]], ...]
    stated_heads: tuple[Quantity, ...]
    remarks: tuple[FigureValue, ...]


def sheet(found: SchemaChanges, figures: Sequence[FigureValue]) -> ChangeSheet:
    """`figures`: published figures on schema changes."""
    stated = _stated(figures)
    settings, shown = [], set()
    for (operation, setting), group in groupby(found.changes, key=lambda each: (each.operation, each.setting)):
        changes = list(group)
        settings.append(
            Setting(
                operation=operation,
                title=title_of(operation),
                setting=setting,
                manners=tuple(_manners(changes)),
                # Shown once, with the first setting of an operation.
                stated=() if operation in shown else stated.get(operation, ()),
                answers=tuple(answers(changes)),
                percentiles=" or ".join(sorted({each.latency.rsplit(".", 1)[-1] for each in changes if each.latency})),
            )
        )
        shown.add(operation)
    elsewhere = {operation: rows for operation, rows in stated.items() if operation not in shown}
    entries = [
        place
        for place in range(len(HEADS))
        if any(r.cells[place].is_number for rows in elsewhere.values() for r in rows)
    ]
    return ChangeSheet(
        settings=tuple(settings),
        stated=tuple(
            (
                title_of(operation),
                tuple(replace(row, cells=tuple(row.cells[place] for place in entries)) for row in rows),
            )
            for operation, rows in elsewhere.items()
        ),
        stated_heads=tuple(HEADS[place] for place in entries),
        remarks=tuple(figure for figure in figures if figure.side is None or figure.metric not in STATED),
    )


def charts_of(found: ChangeSheet) -> list[ChangeChart]:
    rows = [row for setting in found.settings for manner in setting.manners for row in manner.rows]
    return [row.chart for row in rows if row.chart]


def _manners(changes: Sequence[SchemaChange]) -> Iterable[MannerRows]:
    for _, group in groupby(changes, key=lambda each: each.manner):
        own = list(group)
        alike = {change.workload for change in own}
        several = len(own) > 1 and len(alike) == 1
        sides = tuple(change.system for change in own[:4])
        yield MannerRows(
            title=own[0].manner.text,
            rows=tuple(_row(change, changes) for change in own),
            compare_url=CompareAddress(sides=sides, workload=own[0].workload).url() if several else "",
        )


def _row(change: SchemaChange, changes: Sequence[SchemaChange]) -> SystemRow:
    anchor = f"change-{change.workload}-{change.load_level}-{change.system}"
    return SystemRow(
        change=change,
        anchor=anchor,
        cells=tuple(_cell(change, *column) for column in COLUMNS),
        chart=chart(change, changes, anchor=anchor, data_url=_data_url(change)),
        lines=tuple(TrialLine(trial, run_url(trial), _trial_cells(trial)) for trial in change.trials),
    )


def _cell(change: SchemaChange, key: str, beside: str, words: str) -> SheetCell:
    found = change.value(key)
    if found.median is None:
        return SheetCell(found.missing, False, (), found.quantity.meaning)
    unit = found.quantity.unit
    below = []
    if found.count > 1 and found.low is not None and found.high is not None:
        below.append(f"{units.format_number(found.low, unit=unit)} to {units.format_number(found.high, unit=unit)}")
    if beside:
        other = change.value(beside)
        text = other.missing if other.median is None else units.format_number(other.median, unit=other.quantity.unit)
        below.append(words.format(text))
    title = f"{found.quantity.meaning}: {units.all_digits(found.median)} {unit}, median of {found.count}"
    return SheetCell(units.format_number(found.median, unit=unit), True, tuple(below), title)


def _trial_cells(trial: ChangeTrial) -> tuple[SheetCell, ...]:
    found = []
    for head in HEADS:
        value = trial.values.get(head.key)
        text = head.missing if value is None else units.format_number(value, unit=head.unit)
        found.append(SheetCell(text, value is not None, (), f"{head.name}: {units.all_digits(value)} {head.unit}"))
    return tuple(found)


def run_url(trial: ChangeTrial) -> str:
    """The run's page, zoomed to its statements."""
    first, last = trial.statements[0].starts_at - AROUND, trial.statements[-1].ends_at + AROUND
    clock = urlencode({"from": f"{max(first, 0):.1f}", "to": f"{last:.1f}"})
    return f"{reverse('web:run', args=[trial.run])}?{clock}"


def _data_url(change: SchemaChange) -> str:
    """The seconds of all its runs as CSV, relative to the first statement."""
    runs = [("run", str(trial.run)) for trial in change.trials]
    metrics = [("metric", key) for key in ("client.throughput", change.latency) if key]
    rest = [("align", "event"), ("event", "ddl"), ("format", "csv")]
    return f"{reverse('api:series-of-runs')}?{urlencode([*runs, *metrics, *rest])}"


def _stated(figures: Sequence[FigureValue]) -> dict[str, tuple[PublishedSide, ...]]:
    """Published results by operation, one row per side."""
    rows: dict[tuple[str, str, str, str], list[FigureValue]] = {}
    for figure in figures:
        words = str(figure.conditions.get("statement", ""))
        if figure.side is not None and words and figure.metric in STATED:
            key = (stated_operation(words), figure.article.slug, figure.workload, figure.side.name)
            rows.setdefault(key, []).append(figure)
    found: dict[str, list[PublishedSide]] = {}
    for (operation, _, _, _), own in rows.items():
        found.setdefault(operation, []).append(_stated_row(own))
    return {operation: tuple(each) for operation, each in found.items()}


def _stated_row(figures: Sequence[FigureValue]) -> PublishedSide:
    first = figures[0]
    by_quantity = {STATED[figure.metric]: figure for figure in figures}
    cells = []
    for head in HEADS:
        figure = by_quantity.get(head.key)
        title = figure.exact_sentence if figure else f"{head.name}: {NOT_STATED}"
        text, amount = (figure.stated, figure.value) if figure else (NOT_STATED, None)
        cells.append(SheetCell(text, figure is not None, (), title, amount))
    side = first.side or SideValue("", "", None)
    return PublishedSide(first.article, side, first.workload_label, first.hardware, tuple(cells))


def comma_separated(found: ChangeSheet) -> str:
    """A line per quantity and row, in full precision, systems and platforms by slug.

    Published lines have the origin "published" and the article's name of the side.
    """
    lines: list[list[FileCell]] = []
    for setting in found.settings:
        for manner in setting.manners:
            for row in manner.rows:
                lines += _measured_lines(setting, manner, row)
    for title, heads, rows in _all_stated(found):
        for stated in rows:
            who = ["published", title, stated.workload, "", stated.side.name, stated.side.platform, ""]
            lines += [
                [*who, head.key, head.unit, None, None, None, None, cell.text]
                for head, cell in zip(heads, stated.cells, strict=True)
                if cell.is_number
            ]
    return tabular.comma_separated(FILE_COLUMNS, lines)


def _measured_lines(setting: Setting, manner: MannerRows, row: SystemRow) -> list[list[FileCell]]:
    change = row.change
    who = [" ".join(change.origins), setting.title, setting.setting, manner.title]
    who += [change.system, change.platform, change.release]
    return [
        [*who, found.quantity.key, found.quantity.unit, found.count, found.median, found.low, found.high, found.words]
        for found in change.ranges
    ]


def _all_stated(found: ChangeSheet) -> list[tuple[str, tuple[Quantity, ...], tuple[PublishedSide, ...]]]:
    beside = [(each.title, HEADS, each.stated) for each in found.settings if each.stated]
    return [*beside, *((title, found.stated_heads, rows) for title, rows in found.stated)]


def markdown(found: ChangeSheet, *, link: str) -> str:
    """Each setting as a table, with published results below."""
    heads = ["Manner", "System", "Runs", *(f"{head.name}, {head.unit}" for head in HEADS)]
    parts = []
    for setting in found.settings:
        rows = [
            [manner.title, row.change.system_name, str(len(row.change.trials)), *map(_plain, row.cells)]
            for manner in setting.manners
            for row in manner.rows
        ]
        rows += [_stated_line(each) for each in setting.stated]
        parts += [f"**{tabular.escaped(setting.title)}: {tabular.escaped(setting.setting)}**", ""]
        parts += [*(f"- {tabular.escaped(answer)}" for answer in setting.answers), ""]
        parts += [tabular.markdown(heads, rows, numbers=len(HEADS)), ""]
    for title, stated in found.stated:
        names = [*heads[:3], *(f"{head.name}, {head.unit}" for head in found.stated_heads)]
        table = tabular.markdown(names, [_stated_line(each) for each in stated], numbers=len(names) - 3)
        parts += [f"**{tabular.escaped(title)}, as published**", "", table, ""]
    return "\n".join([*parts, f"Medians over runs, with their range; see {link}"]) + "\n"


def _plain(cell: SheetCell) -> str:
    return f"{cell.text} ({'; '.join(cell.below)})" if cell.below else cell.text


def _stated_line(row: PublishedSide) -> list[str]:
    by = f"{row.article.by}, {row.article.published}"
    return [
        f"published: {row.workload}, {row.hardware}",
        f"{row.side.name} ({by})",
        NOT_STATED,
        *(cell.text for cell in row.cells),
    ]
