"""Parser of the output of pt-query-digest --output json. Pure.

Numbers are strings; times are in seconds. Classes beyond its --limit are missing.
"""

import json
import re
from typing import Any

from apps.runs.tool_output.parsers.attachments.statements import StatementCounts, merged
from apps.runs.tool_output.parsers.parsed_output import (
    NotThisFormat,
    OutputTable,
    TableColumn,
    is_count,
    load_json,
    scaled,
    shown,
)

VERSION = "1"
EXPECTED = "the JSON of “pt-query-digest --output json”, an object with “classes” and “global”"
ROWS_KEPT = 200
NUMBER = re.compile(r"\d{1,18}(?:\.\d{1,12})?")
COLUMNS = (
    TableColumn("statement"),
    TableColumn("count"),
    TableColumn("total time", "s"),
    TableColumn("mean time", "s"),
    TableColumn("p95 time", "s"),
    TableColumn("longest", "s"),
    TableColumn("rows examined"),
    TableColumn("rows sent"),
    TableColumn("fingerprint"),
    TableColumn("checksum"),
)
STATEMENT_KEPT = 300
KEPT_OF_EXAMPLES = {"ts", "Query_time"}


def parse(content: bytes) -> OutputTable:
    """One row per class of statements, sorted by total time. Raises NotThisFormat."""
    document = load_json(content, EXPECTED)
    if not isinstance(document, dict) or not isinstance(document.get("classes"), list):
        raise NotThisFormat(1, "", EXPECTED)
    whole = document.get("global")
    if not isinstance(whole, dict) or not is_count(whole.get("query_count")):
        raise NotThisFormat(1, "", f"global.query_count is missing; expected {EXPECTED}")
    rows = [_row(content, place, one) for place, one in enumerate(document["classes"])]
    rows.sort(key=lambda row: -float(row[2] or 0))
    counted = int(sum(float(row[1] or 0) for row in rows))
    note = f"{counted:,} of {whole['query_count']:,} statements; the rest is beyond the --limit of the digest"
    if counted == whole["query_count"]:
        note = f"all {counted:,} statements of the log"
    return OutputTable("Statements by total time", COLUMNS, tuple(rows[:ROWS_KEPT]), len(rows), note)


def statements(content: bytes) -> tuple[StatementCounts, ...]:
    """Raises NotThisFormat."""
    found = parse(content)
    names = [column.name for column in found.columns]
    rows = (dict(zip(names, row, strict=True)) for row in found.rows)
    return merged(
        StatementCounts(
            text=str(row["fingerprint"] or row["statement"] or ""),
            count=float(row["count"] or 0),
            seconds=float(row["total time"] or 0),
            rows_examined=None if row["rows examined"] is None else float(row["rows examined"]),
            span=None,
        )
        for row in rows
    )


def without_literals(content: bytes) -> bytes:
    """Without the statements that it quotes as examples, which hold values of rows; fingerprints hold none. The same
    where it quotes none. `content`: one that `parse` reads."""
    document = load_json(content, EXPECTED)
    examples = [one["example"] for one in document["classes"] if isinstance(one.get("example"), dict)]
    quotes = [(example, name) for example in examples for name in example.keys() - KEPT_OF_EXAMPLES]
    for example, name in quotes:
        del example[name]
    return json.dumps(document).encode() if quotes else content


def _row(content: bytes, place: int, one: Any) -> tuple[str | float | None, ...]:
    checksum = one.get("checksum") if isinstance(one, dict) else None
    metrics = one.get("metrics") if isinstance(one, dict) else None
    if not isinstance(checksum, str) or not isinstance(metrics, dict) or not is_count(one.get("query_count")):
        raise NotThisFormat(1, "", f"class {place + 1} has no checksum, query_count and metrics; expected {EXPECTED}")
    line = content.count(b"\n", 0, max(content.find(checksum.encode()), 0)) + 1

    def number(metric: str, statistic: str) -> float | None:
        held = metrics.get(metric)
        value = held.get(statistic) if isinstance(held, dict) else None
        if value is None:
            return None
        if not isinstance(value, str) or not NUMBER.fullmatch(value):
            raise NotThisFormat(line, f"{metric}.{statistic}: {value!s:.60}", "a number, written as a text")
        return scaled(value)

    if number("Query_time", "sum") is None:
        raise NotThisFormat(line, f"class {checksum:.40}", "metrics.Query_time.sum")
    return (
        _plain(one.get("distillate")),
        float(one["query_count"]),
        number("Query_time", "sum"),
        number("Query_time", "avg"),
        number("Query_time", "pct_95"),
        number("Query_time", "max"),
        number("Rows_examined", "sum"),
        number("Rows_sent", "sum"),
        _plain(one.get("fingerprint")),
        checksum[:40],
    )


def _plain(text: object) -> str:
    """`text` without characters that neither pages nor database columns can hold."""
    encoded = str(text or "").rstrip("\0").encode("utf-8", "backslashreplace")
    return shown(encoded[:STATEMENT_KEPT])
