"""Tables as text for other programs: CSV (RFC 4180) and Markdown. Pure."""

import csv
import io
from collections.abc import Iterable, Sequence

Cell = str | float | None


def comma_separated(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Numbers with all their digits; None is an empty field."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows([_field(cell) for cell in row] for row in rows)
    return text.getvalue()


def markdown(columns: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: int = 0) -> str:
    """`numbers`: so many columns at the end are aligned to the right."""
    rule = [*["---"] * (len(columns) - numbers), *["---:"] * numbers]
    return "\n".join(
        f"| {' | '.join(row)} |" for row in (map(escaped, columns), rule, *(map(escaped, r) for r in rows))
    )


def escaped(text: str) -> str:
    """As Markdown shows it letter by letter, on one line."""
    for special in "\\|*_<":
        text = text.replace(special, f"\\{special}")
    return plain(text)


def plain(text: str) -> str:
    """Without line breaks and spaces that do not break."""
    return " ".join(text.split())


def _field(cell: Cell) -> str:
    if cell is None:
        return ""
    return _formula_safe(plain(cell)) if isinstance(cell, str) else repr(cell)


def _formula_safe(text: str) -> str:
    """A spreadsheet takes a text that begins so for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
