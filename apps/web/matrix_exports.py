"""The sheet of the matrix as Markdown and CSV: what the page shows, cell by cell."""

import csv
import io

from apps.web.matrix_sheet import Group, Sheet

COLUMNS = ("test", "parameters", "metric", "direction", "load", "side", "shown", "value", "low", "high", "verdict")


def markdown(sheet: Sheet, *, link: str) -> str:
    """The answer, the table and what its cells are, with a link to the page."""
    heads = [f"{head.name} (baseline)" if head.is_baseline else head.name for head in sheet.heads]
    columns = ["Test", "Load", "Metric", *heads]
    lines = [
        f"**{_cell(sheet.title)}**",
        "",
        *(f"- {_cell(head.name)}: {_cell(text)}" for head, text in sheet.answers),
        "",
        _row(columns),
        _row(["---", "---", "---", *["---:"] * len(heads)]),
        *(
            _row([_test(group), line.load, f"{group.metric} ({group.direction})", *(c.plain for c in line.cells)])
            for group in sheet.groups
            for line in group.lines
        ),
        "",
        f"{_cell(sheet.method)} {link}",
    ]
    return "\n".join(lines) + "\n"


def comma_separated(sheet: Sheet) -> str:
    """A line for each cell, RFC 4180. `shown` is the cell as on the screen, the numbers have all their digits."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for group in sheet.groups:
        for line in group.lines:
            for head, cell in zip(sheet.heads, line.cells, strict=True):
                about = (group.test, group.detail, group.metric, group.direction, line.load, head.name)
                numbers = ("" if number is None else repr(number) for number in (cell.value, cell.low, cell.high))
                verdict = cell.words or cell.kind
                writer.writerow([*map(_formula_safe, about), _plain(cell.plain), *numbers, verdict])
    return text.getvalue()


def _test(group: Group) -> str:
    return f"{group.test} ({group.detail})" if group.detail else group.test


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(_cell(cell) for cell in cells)} |"


def _cell(text: str) -> str:
    for special in "\\|*_<":
        text = text.replace(special, f"\\{special}")
    return _plain(text)


def _plain(text: str) -> str:
    """Without line breaks and spaces that do not break."""
    return " ".join(text.split())


def _formula_safe(text: str) -> str:
    """A spreadsheet takes a name that begins so for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
