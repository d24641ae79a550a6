"""Tables as CSV (RFC 4180) and Markdown. Pure."""

import csv
import io
from collections.abc import Iterable, Sequence

from apps.core.text import visible

Cell = str | float | None


def comma_separated(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """CSV. Numbers have all their digits; None is an empty field."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([_field(column) for column in columns])
    writer.writerows([_field(cell) for cell in row] for row in rows)
    return text.getvalue()


def markdown(columns: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: int = 0) -> str:
    """A Markdown table. The last `numbers` columns are right-aligned."""
    rule = [*["---"] * (len(columns) - numbers), *["---:"] * numbers]
    return "\n".join(
        f"| {' | '.join(row)} |" for row in (map(escaped, columns), rule, *(map(escaped, r) for r in rows))
    )


def escaped(text: str) -> str:
    """`text` on one line, with Markdown's special characters escaped."""
    for special in "\\|*_<":
        text = text.replace(special, f"\\{special}")
    return plain(text)


def plain(text: str) -> str:
    """`text` with each run of whitespace, line breaks and no-break spaces included, as one space, and visible."""
    return visible(" ".join(text.split()))


def _field(cell: Cell) -> str:
    if cell is None:
        return ""
    return _formula_safe(plain(cell)) if isinstance(cell, str) else repr(cell)


def _formula_safe(text: str) -> str:
    """Spreadsheets read text that starts with = + - or @ as a formula: quote it."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
