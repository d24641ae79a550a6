"""A release against the one before it as Markdown."""

from datetime import date
from typing import Any

import pytest

from apps.regressions.releases.markdown import markdown
from apps.regressions.releases.values import RowVerdict
from tests.regressions.releases.released import a_check, a_row


def written(**fields: Any) -> str:
    row = a_row(RowVerdict.WORSE, **{"tool": "sysbench", "workload": "oltp_write_only", "level": "4 threads", **fields})
    return markdown(a_check(row), link="https://here/", finding=lambda number: f"https://here/{number}")


def test_the_answer_comes_first_then_the_rows() -> None:
    text = written()
    assert text.startswith("**✗ MariaDB 10.11.20 against 10.11.19 on small: 1 worse**\n\n- 1 row is worse.\n")
    assert "| Change | p |" in text
    assert "| worse | sysbench oltp\\_write\\_only | 4 threads |" in text


@pytest.mark.parametrize(
    ("fields", "cell"),
    [
        ({}, "none"),
        ({"finding": 7, "finding_state": "new"}, "[7](https://here/7), new"),
        (
            {
                **{"finding": 7, "finding_state": "accepted", "is_accepted": True},
                **{"accepted_until": date(2999, 1, 1), "accepted_why": "known"},
            },
            "[7](https://here/7), accepted until 2999-01-01: known",
        ),
    ],
)
def test_a_finding_is_linked_with_its_state_and_until_when_and_why_it_is_accepted(
    fields: dict[str, Any], cell: str
) -> None:
    assert f"| {cell} |" in written(**fields)
