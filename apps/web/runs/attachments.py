"""Tables of attached files for the Run page."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.runs.api import AttachedTable
from apps.runs.pure import Attached, OutputTable

LEAST_DECIMAL = 0.001  # smaller ones are written with an exponent


@dataclass(frozen=True)
class ShownColumn:
    name: str
    unit: str
    numeric: bool


@dataclass(frozen=True)
class AttachmentCell:
    text: str
    numeric: bool


@dataclass(frozen=True)
class ShownTable:
    """`table` None: unreadable, because of `problem`."""

    artifact: str
    format: Attached
    table: OutputTable | None
    problem: str
    columns: tuple[ShownColumn, ...] = ()
    rows: tuple[tuple[AttachmentCell, ...], ...] = ()


def shown(tables: Sequence[AttachedTable]) -> list[ShownTable]:
    return [_shown(one) for one in tables]


def _shown(one: AttachedTable) -> ShownTable:
    if one.problem:
        return ShownTable(one.artifact, one.format, None, one.problem)
    numeric = [any(isinstance(row[place], float) for row in one.table.rows) for place in range(len(one.table.columns))]
    return ShownTable(
        artifact=one.artifact,
        format=one.format,
        table=one.table,
        problem="",
        columns=tuple(
            ShownColumn(column.name, column.unit, is_number)
            for column, is_number in zip(one.table.columns, numeric, strict=True)
        ),
        rows=tuple(
            tuple(AttachmentCell(_text(cell), is_number) for cell, is_number in zip(row, numeric, strict=True))
            for row in one.table.rows
        ),
    )


def _text(cell: str | float | None) -> str:
    """Numbers with up to 3 decimals, below 1 with up to 6, below 0.001 with 6 significant digits."""
    if cell is None:
        return "not reported"
    if isinstance(cell, str):
        return cell
    if cell == int(cell):
        return f"{int(cell):,}"
    if abs(cell) < LEAST_DECIMAL:
        return f"{cell:.6g}"
    return f"{cell:,.{6 if abs(cell) < 1 else 3}f}".rstrip("0").rstrip(".")
