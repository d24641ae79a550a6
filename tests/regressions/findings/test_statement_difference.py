"""Statements before and after a change: what an execution takes, and who took the additional time."""

from collections.abc import Sequence
from functools import partial

import pytest

from apps.comparison.sections import verdicts
from apps.regressions.findings.evidence import statement_difference
from apps.regressions.findings.evidence.statement_difference import StatementDifference
from apps.runs.tool_output.parsers.attachments.statements import StatementCounts, merged, normalised

BEFORE, AFTER = (1, 2, 3), (11, 12, 13)
SIDES = {"before": BEFORE, "after": AFTER}
POINT, SCAN, NEW = "select c from sbtestN where id=?", "select c from sbtestN where k=?", "select ?"


def run(number: int, *statements: tuple[str, float, float, float]) -> tuple[StatementCounts, ...]:
    """Statements with executions, ms and rows of each, in 10 s; runs differ by some per cent."""
    factor = 1 + number % 10 / 100
    return tuple(
        StatementCounts(text, count, count * ms * factor / 1000, count * rows, 10.0)
        for text, count, ms, rows in statements
    )


def compared(
    before: Sequence[tuple[str, float, float, float]],
    after: Sequence[tuple[str, float, float, float]],
    *,
    done: tuple[float, float] | None = (100.0, 100.0),
    is_worse: bool = True,
) -> tuple[StatementDifference, ...]:
    statements = {number: run(number, *before) for number in BEFORE} | {number: run(number, *after) for number in AFTER}
    rates = {number: each for each, side in zip(done, (BEFORE, AFTER), strict=True) for number in side} if done else {}
    judge = partial(verdicts.between, sides=SIDES, sessions={})
    return statement_difference.differences(statements, rates, {}, (BEFORE, AFTER), judge, is_worse=is_worse)


def test_a_statement_that_examines_more_rows_has_most_of_the_additional_time() -> None:
    before = [(POINT, 10_000, 0.1, 1), (SCAN, 1_000, 0.1, 1)]
    after = [(POINT, 10_000, 0.102, 1), (SCAN, 1_000, 9.0, 10_000)]
    (scan,) = compared(before, after)
    assert scan.text == SCAN
    assert scan.share == pytest.approx(1.0, abs=0.03)
    assert scan.rows is not None
    assert (scan.rows.before, scan.rows.after) == (1, 10_000)
    assert scan.rows.shown == "10,000\u00a0× [10,000,\u00a010,000]"
    assert scan.time is not None
    assert scan.time.low is not None
    assert scan.time.low < 90 < (scan.time.high or 0)
    assert scan.time.shown.startswith("90.0\u00a0× [")
    assert scan.executions is not None
    assert not scan.executions.is_sure


def test_a_difference_that_the_runs_do_not_show_is_no_difference() -> None:
    assert compared([(POINT, 10_000, 0.1, 1)], [(POINT, 10_000, 0.102, 1)]) == ()


def test_a_statement_that_came_is_known_by_its_executions_per_transaction() -> None:
    (new,) = compared([(POINT, 10_000, 0.1, 1)], [(POINT, 10_000, 0.1, 1), (NEW, 10_500, 0.5, 1)])
    assert new.text == NEW
    assert new.executions is not None
    assert (new.executions.before, new.executions.ratio) == (0.0, None)
    assert new.executions.rose
    assert new.executions.shown == "higher"
    assert new.time is None


def test_statements_that_only_follow_throughput_take_no_share() -> None:
    """Half the transactions: as many executions and as much time in each."""
    assert compared([(POINT, 10_000, 0.1, 1)], [(POINT, 5_000, 0.1, 1)], done=(100.0, 50.0)) == ()


def test_statements_of_the_sampling_are_left_out() -> None:
    show = "show global status"
    assert compared([(POINT, 9, 0.1, 1), (show, 10, 1.0, 9)], [(POINT, 9, 0.1, 1), (show, 10, 90.0, 9)]) == ()


def test_without_transactions_the_share_and_the_executions_are_not_known() -> None:
    (scan,) = compared([(SCAN, 1_000, 0.1, 1)], [(SCAN, 1_000, 9.0, 10_000)], done=None)
    assert (scan.share, scan.executions) == (None, None)


def test_of_a_change_for_the_better_the_share_is_of_the_time_saved() -> None:
    (scan,) = compared([(SCAN, 1_000, 9.0, 10_000)], [(SCAN, 1_000, 0.1, 1)], is_worse=False)
    assert scan.share == pytest.approx(1.0)


def test_shards_schemas_quotes_and_spaces_do_not_part_a_statement() -> None:
    spellings = ("SELECT `c` FROM `sbtest12` WHERE `id` = ? ", 'select c from "sbtest3" where id=?')
    assert {normalised(each) for each in spellings} == {POINT}
    (found,) = merged(StatementCounts(each, 2, 0.5, 10, 9.0 + place) for place, each in enumerate(spellings))
    assert found == StatementCounts(POINT, 4, 1.0, 20, 10.0)
