"""Parser of the agent's digests.jsonl: statements executed by each node in the measured phase. Pure.

One line per node, written by workers/agent/measure/digests.py; times in s.
"""

import msgspec

from apps.runs.tool_output.parsers.attachments.statements import StatementCounts, merged
from apps.runs.tool_output.parsers.parsed_output import OutputTable, TableColumn, TextLine, first_line, lines, shown

VERSION = "1"
EXPECTED = "the agent's statements by digest, a JSON object in each line"
ROWS_KEPT = 200
STATEMENT_KEPT = 300
COLUMNS = (
    TableColumn("node"),
    TableColumn("statement"),
    TableColumn("per second", "1/s"),
    TableColumn("share of time", "%"),
    TableColumn("mean time", "ms"),
    TableColumn("of it for locks", "ms"),
    TableColumn("rows examined"),
    TableColumn("rows sent"),
    TableColumn("rows changed"),
    TableColumn("errors"),
    TableColumn("schema"),
)


class _Counts(msgspec.Struct, kw_only=True):
    count: int
    seconds: float
    lock_seconds: float
    errors: int
    rows_affected: int
    rows_sent: int
    rows_examined: int


class _Statement(_Counts, kw_only=True):
    schema: str
    digest: str
    text: str


class _NodeDigests(msgspec.Struct, kw_only=True):
    node: str
    begin: float = msgspec.field(name="from")
    end: float = msgspec.field(name="to")
    total: _Counts
    statements: list[_Statement]


def parse(content: bytes) -> OutputTable:
    """One row per node and statement, sorted by total time. Raises NotThisFormat."""
    read = _nodes(content)
    found = [(node, statement) for node in read for statement in node.statements]
    found.sort(key=lambda pair: -pair[1].seconds)
    listed, executed = sum(statement.count for _, statement in found), sum(node.total.count for node in read)
    rest = "" if listed == executed else f"; {executed - listed:,} more of kinds that took less are not listed"
    note = f"{executed:,} statements in the measured phase, with those of the sampling itself{rest}"
    rows = tuple(_row(node, statement) for node, statement in found[:ROWS_KEPT])
    return OutputTable("Statements by total time", COLUMNS, rows, len(found), note)


def statements(content: bytes) -> tuple[StatementCounts, ...]:
    """Of all nodes together. Raises NotThisFormat."""
    return merged(
        StatementCounts(each.text, each.count, each.seconds, each.rows_examined, max(node.end - node.begin, 0) or None)
        for node in _nodes(content)
        for each in node.statements
    )


def _nodes(content: bytes) -> list[_NodeDigests]:
    read = [_node(line) for line in lines(content) if line.text.strip()]
    if not read:
        raise first_line(content).refuse(EXPECTED)
    return read


def _node(line: TextLine) -> _NodeDigests:
    try:
        return msgspec.json.decode(line.text, type=_NodeDigests)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise line.refuse(f"{EXPECTED} ({error})") from error


def _row(node: _NodeDigests, one: _Statement) -> tuple[str | float | None, ...]:
    seconds = node.end - node.begin
    each = max(one.count, 1)
    return (
        shown(node.node.encode()),
        shown(one.text.encode())[:STATEMENT_KEPT] or one.digest[:40],
        one.count / seconds if seconds > 0 else None,
        100 * one.seconds / node.total.seconds if node.total.seconds else None,
        1000 * one.seconds / each,
        1000 * one.lock_seconds / each,
        one.rows_examined / each,
        one.rows_sent / each,
        one.rows_affected / each,
        float(one.errors),
        shown(one.schema.encode()),
    )
