"""The matrix as Markdown and CSV, cell by cell as on the page."""

from apps.core import tabular
from apps.core.tabular import escaped
from apps.web.matrix.sheet import MatrixSheet, TestGroup

COLUMNS = ("test", "parameters", "metric", "direction", "load", "side", "shown", "value", "low", "high", "verdict")


def markdown(sheet: MatrixSheet, *, link: str) -> str:
    """The answer, the table and its method, with a link to the page."""
    heads = [f"{head.name} (baseline)" if head.is_baseline else head.name for head in sheet.heads]
    rows = [
        [_test(group), line.load, f"{group.metric} ({group.direction})", *(cell.plain for cell in line.cells)]
        for group in sheet.groups
        for line in group.lines
    ]
    lines = [
        f"**{escaped(sheet.title)}**",
        "",
        *(f"- {escaped(head.name)}: {escaped(text)}" for head, text in sheet.answers),
        "",
        tabular.markdown(["Test", "Load", "Metric", *heads], rows, numbers=len(heads)),
        "",
        f"{escaped(sheet.method)} {link}",
    ]
    return "\n".join(lines) + "\n"


def comma_separated(sheet: MatrixSheet) -> str:
    """One line per cell. `shown` is the cell as on the page, the numbers have full precision."""
    return tabular.comma_separated(
        COLUMNS,
        (
            [
                *(group.test, group.detail, group.metric, group.direction, line.load, head.name, cell.plain),
                *(cell.value, cell.low, cell.high, cell.words or cell.kind),
            ]
            for group in sheet.groups
            for line in group.lines
            for head, cell in zip(sheet.heads, line.cells, strict=True)
        ),
    )


def _test(group: TestGroup) -> str:
    return f"{group.test} ({group.detail})" if group.detail else group.test
