"""A file of several runs becomes one submission a run, or is not sent at all: never its first or last alone."""

import json
from pathlib import Path

import pytest

from apps.runs.models import Run
from apps.runs.tool_output import plain_text as server_side
from apps.runs.tool_output.formats import SUBMITTED
from splashboard import division, plain_text
from splashboard.failures import Misuse
from tests.client.conftest import Command
from tests.rest.submissions import NO_TABLE, POINT_SELECT, a_description
from tests.runs.tool_output.deformed import DEFORMED, PREFIXED
from tests.runs.tool_output.parsers.outputs import content
from tests.runs.uploads import OUTPUT

ONE = POINT_SELECT.read_bytes()
LINES = ONE.count(b"\n")
PREPARE = b"sysbench 1.0.20 (using bundled LuaJIT)\n\nCreating table 'sbtest1'...\n"
OTHER_LOAD = ONE.replace(b"Number of threads: 16", b"Number of threads: 8")


def test_each_run_has_its_repetition_of_its_load_and_begins_where_the_one_before_it_ended() -> None:
    text = b"+ ./bench.sh\n" + PREPARE + ONE + OTHER_LOAD + ONE.replace(b"\n", b"\r\n")
    found = division.parts(text, named=None)
    begins = 2 + PREPARE.count(b"\n")
    assert [each.line for each in found] == [begins, begins + LINES, begins + 2 * LINES]
    assert b"".join(each.content for each in found) == text[text.index(ONE) :]
    seconds = found[0].seconds
    described = list(division.described(found, {"started_at": "2026-11-20T10:00:00Z", "repetition": 3}))
    assert [each["repetition"] for each in described] == [3, 3, 4]
    assert described[0]["started_at"] == "2026-11-20T10:00:00+00:00"
    assert described[2]["started_at"].startswith(f"2026-11-20T10:00:{2 * seconds:05.2f}"[:-1])


def test_a_start_of_several_runs_must_be_a_time_or_all_would_begin_at_once() -> None:
    found = division.parts(ONE + OTHER_LOAD, named=None)
    first, second = division.described(found, {"started_at": "2026-01-31T12:00:00+0200"})
    assert first["started_at"] == "2026-01-31T12:00:00+02:00"
    assert second["started_at"] > first["started_at"]
    with pytest.raises(Misuse, match="started_at: '2026-1-31T12:00:00Z' is no time such as 2026-01-31T12:00:00Z"):
        list(division.described(found, {"started_at": "2026-1-31T12:00:00Z"}))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (PREPARE + ONE + PREPARE, None),
        (content("mysqlslap/two_results.csv"), None),
        (ONE + ONE, "cpu"),
        (b"\xff\xfe" + (ONE + OTHER_LOAD).decode().encode("utf-16-le")[:-1], None),
        (PREFIXED["docker compose logs"](ONE) + b"db-1     | ready\n" + PREFIXED["docker compose logs"](ONE), None),
        (b"hello\n", None),
    ],
)
def test_a_file_of_one_run_or_of_what_is_not_divided_is_sent_as_it_is(text: bytes, named: "str | None") -> None:
    assert division.parts(text, named=named) == []


@pytest.mark.parametrize("name", DEFORMED)
def test_plain_lines_are_those_that_the_server_reads(name: str) -> None:
    raw = DEFORMED[name](ONE)
    found = plain_text.lines_of(raw)
    assert b"".join(found.plain) == server_side.of(raw).content
    assert found.part(0, len(found.came)) == raw
    assert [each.pattern for each in plain_text.PREFIXES] == [each.pattern for _, each in server_side.PREFIXES]


@pytest.mark.parametrize("name", DEFORMED)
def test_a_file_is_divided_whatever_stands_around_its_lines_which_stays_in_the_parts(name: str) -> None:
    raw = DEFORMED[name](ONE + OTHER_LOAD)
    found = division.parts(raw, named=None)
    assert [each.line for each in found] == [1, 1 + LINES]
    assert [each.load for each in found] == [(16, None), (8, None)]
    read = [SUBMITTED["sysbench"].read(each.came) for each in found]
    assert [(each.threads, each.output.complete) for each in read] == [(16, True), (8, True)]
    whole = SUBMITTED["sysbench"].read(ONE).output
    assert {tuple((line.metric, line.value) for line in each.output.headlines) for each in read} == {
        tuple((line.metric, line.value) for line in whole.headlines)
    }
    mark = raw[:2] if "UTF-16" in name else b""
    assert found[0].came + found[1].came.removeprefix(mark) == raw


def test_lines_of_the_journal_itself_do_not_keep_a_file_from_being_divided() -> None:
    head = b"-- Journal begins at Fri 2026-11-20 10:00:00 UTC, ends at Fri 2026-11-27 15:09:32 UTC. --\n"
    found = division.parts(head + PREFIXED["journalctl"](ONE + OTHER_LOAD), named=None)
    assert [each.line for each in found] == [2, 2 + LINES]


def test_runs_of_different_tests_are_not_sent_as_one_workload() -> None:
    for other in (OUTPUT, content("sysbench/cpu.txt"), content("tpcc_mysql/two_intervals.txt")):
        with pytest.raises(Misuse, match=f"line 1 .* and line {LINES + 1} "):
            division.parts(ONE + other, named=None)


def test_the_same_output_twice_is_no_second_run() -> None:
    with pytest.raises(Misuse, match=f"line {LINES + 2} is that of line 1 once more"):
        division.parts(ONE + b"\n" + ONE, named=None)


@pytest.mark.django_db(transaction=True)
def test_a_file_of_several_runs_is_submitted_run_by_run_and_what_is_refused_is_named(
    engineer: Command, tmp_path: Path
) -> None:
    (tmp_path / "run.json").write_text(json.dumps(a_description()))
    printed = PREPARE + ONE + NO_TABLE.read_bytes() + OTHER_LOAD
    (tmp_path / "all.txt").write_bytes(PREFIXED["docker compose logs -t"](printed))
    done = engineer("submit", tmp_path / "all.txt", "--description", tmp_path / "run.json")
    assert done.code == 4
    assert f"the run that begins in line {4 + LINES}: " in done.err
    runs = list(Run.objects.order_by("started_at"))
    assert [(each.load_level.threads, each.repetition) for each in runs] == [(16, 1), (8, 1)]
    assert runs[0].started_at < runs[1].started_at
    assert "read as sysbench\n" in done.out
    assert done.out.count("Run ") == 2
    again = engineer("submit", tmp_path / "all.txt", "--description", tmp_path / "run.json", "--json")
    assert [each["created"] for each in json.loads(again.out)] == [False, False]
