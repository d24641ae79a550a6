"""What the application met: error numbers with what each means and what to do."""

import pytest

from apps.use_method import engine
from apps.use_method.resources import codes, errors
from apps.use_method.values import Panel, Reading, RunFacts, ServerError, UseLevel
from tests.use_method.builders import a_node, facts, lit, reading, steady


def panel_of(*complaints: ServerError, done: float | None = 100.0, failed: float = 0.0) -> Panel:
    """A client that did `done` transactions a second for a minute, of a run with these complaints."""
    series = {} if done is None else {"client.throughput": steady(done), "client.errors": steady(failed)}
    client = a_node("client", "client", series=series)
    return engine.panel(facts(a_node(), client=client, complaints=complaints), (errors.RESOURCE,))


def of(kind: str, panel: Panel) -> Reading:
    return reading(panel, f"errors.{kind}", "client")


@pytest.mark.parametrize(
    ("code", "kind", "said"),
    [
        (188, "storage", "the engine aborted the transaction"),
        (1030, "storage", "the storage engine failed"),
        (1040, "connection", "too many connections"),
        (1205, "conflict", "waited too long for a lock"),
        (1213, "conflict", "deadlock"),
        (1290, "refused", "the server is read-only"),
        (2003, "connection", "no server at the address"),
        (2006, "connection", "the server has gone away"),
        (2013, "connection", "connection lost in a statement"),
    ],
)
def test_a_number_is_told_with_its_meaning_and_a_remedy(code: int, kind: str, said: str) -> None:
    found = of(kind, panel_of(ServerError(code, "text", 120, 30.0)))
    assert (found.level, found.value) == (UseLevel.ERROR, 120.0)
    assert f"120 × error {code}, first at 30 s: {said}" in found.words.replace("\u00a0", " ")
    assert found.words.endswith(f", remedy: {codes.describe(code).remedy}")


def test_numbers_are_read_from_what_a_tool_printed_and_counted_once_a_line() -> None:
    text = "FATAL: mysql_stmt_execute() returned error 1030 (Got error 188 'x' from storage engine), error 1030"
    found = of("storage", panel_of(ServerError(None, text, 3)))
    assert found.value == 6.0  # the server's number and the engine's
    assert "3 × error 1030" in found.words
    assert "3 × error 188" in found.words


def test_a_number_that_nobody_knows_is_told_all_the_same() -> None:
    found = of("other", panel_of(ServerError(4711, "text", 1)))
    assert (found.level, found.words.split(":")[0]) == (UseLevel.ERROR, "1 × error 4711")


def test_what_has_no_number_is_told_by_its_text() -> None:
    found = of(
        "other", panel_of(ServerError(None, "the connection timed out", 2, 12.0), ServerError(None, "x" * 200, 1))
    )
    assert found.value == 3.0
    assert found.words.replace("\u00a0", " ").startswith("2 × “the connection timed out”, first at 12 s; 1 × “xxx")


def test_what_a_tool_says_as_it_gives_up_is_no_error_of_its_own() -> None:
    found = panel_of(
        ServerError(1040, "error 1040: Too many connections", 7), ServerError(None, "unable to connect, aborting", 7)
    )
    assert lit(found) == {("errors.connection", "client")}


def test_a_deadlock_among_thousands_of_transactions_is_watched() -> None:
    assert of("conflict", panel_of(ServerError(1213, "text", 5))).level is UseLevel.WATCH
    assert of("conflict", panel_of(ServerError(1213, "text", 600))).level is UseLevel.ERROR
    assert of("conflict", panel_of(ServerError(1213, "text", 1), done=None)).level is UseLevel.ERROR


def test_the_tools_own_count_has_the_errors_that_it_passed_over() -> None:
    assert of("share", panel_of(failed=5.0)).level is UseLevel.ERROR
    assert of("share", panel_of(failed=0.5)).level is UseLevel.WATCH
    assert of("share", panel_of()).words == "errors were counted: none"
    assert of("share", panel_of(done=None)).words == "sysbench_oltp does not report how many of its operations failed"


def test_a_run_without_an_error_lights_nothing_and_a_run_that_broke_off_at_once_tells_why() -> None:
    assert lit(panel_of(), levels=("watch", "saturated", "error")) == set()
    broken: RunFacts = facts(a_node(), complaints=(ServerError(2003, "no server", 1),))
    assert lit(engine.panel(broken, (errors.RESOURCE,))) == {("errors.connection", "db1")}
