"""What statements the nodes executed, as the agent's artifact has it."""

import json
from itertools import count
from typing import Any

import pytest

from apps.runs.tool_output import formats
from apps.runs.tool_output.parsers.attachments import digests
from apps.runs.tool_output.parsers.parsed_output import NotThisFormat


def counts(**fields: Any) -> dict[str, Any]:
    names = ("errors", "rows_affected", "rows_sent", "rows_examined", "tmp_disk_tables", "without_index")
    return {"count": 10, "seconds": 0.5, "lock_seconds": 0.1, **dict.fromkeys(names, 0), **fields}


def a_line(node: str, *statements: dict[str, Any], total: dict[str, Any]) -> str:
    return json.dumps(
        {"kind": "digests", "node": node, "from": 2.0, "to": 12.0, "total": total, "statements": statements}
    )


def a_statement(text: str, **fields: Any) -> dict[str, Any]:
    return {"schema": "bench", "digest": "d" * 32, "text": text, **counts(**fields)}


def test_statements_of_all_nodes_are_listed_by_time_with_rates_and_means() -> None:
    content = "\n".join(
        [
            a_line("db1", a_statement("SELECT ?", seconds=0.2), total=counts(count=30, seconds=1.0)),
            a_line("db2", a_statement("UPDATE t", rows_affected=20), total=counts()),
        ]
    ).encode()
    table = digests.parse(content)
    names = [column.name for column in table.columns]
    rows = [dict(zip(names, row, strict=True)) for row in table.rows]
    assert [(row["node"], row["statement"]) for row in rows] == [("db2", "UPDATE t"), ("db1", "SELECT ?")]
    assert (rows[0]["per second"], rows[0]["mean time"], rows[0]["of it for locks"]) == (1.0, 50.0, 10.0)
    assert rows[0]["rows changed"] == 2.0
    assert rows[1]["share of time"] == pytest.approx(20.0)
    assert table.note.startswith("40 statements in the measured phase")
    assert table.note.endswith("20 more of kinds that took less are not listed")


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"\n", b"{}", b'{"node": 1}', b"junk", b'{"node":"db1"}', b'{"node":"\xf3"}'),
        b'{"more":' + b"[" * 100_000,
    ],
    ids=count(),
)
def test_what_is_no_such_file_is_refused_with_its_line(content: bytes) -> None:
    with pytest.raises(NotThisFormat, match="statements by digest"):
        digests.parse(content)


def test_the_agents_artifact_is_known_by_its_name() -> None:
    found = formats.of_artifact("digests.jsonl")
    assert found is not None
    assert found.parse is digests.parse
