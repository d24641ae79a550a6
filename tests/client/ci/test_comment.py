"""A comment that updates itself, on stand-ins for GitHub and GitLab: its own, once, and never at the gate's cost."""

import enum
import json
from pathlib import Path
from typing import Any

import pytest

from splashboard.ci import comment
from splashboard.ci.build import this_build
from splashboard.failures import Exit
from tests.client.answers import a_check, a_row
from tests.client.ci.stand_in import StandInForge
from tests.client.conftest import Command, FakeServer, Said

COMMENT = ("comment", "--platform", "mariadb", "--release", "2", "--url")
MARKER = "<!-- splashboard: gate mariadb -->"
BOT = "github-actions[bot]"


def run(command: Command, fake: FakeServer, *options: object, text: str = "**✗ worse**", **check: Any) -> Said:
    """A gate that the server answers as JSON, then as Markdown."""
    found = json.dumps(a_check(a_row("worse"), **{"result": "regression", **check})).encode()
    fake.answers = [(200, {}, found), (200, {}, text.encode())]
    return command(*COMMENT, fake.url, *options)


def bodies(forge: StandInForge) -> list[str]:
    return [each["body"] for each in forge.comments]


@pytest.mark.parametrize("kind", ["github", "gitlab"])
def test_the_first_run_writes_a_comment_and_the_next_edits_it(
    kind: str, request: pytest.FixtureRequest, command: Command, fake: FakeServer
) -> None:
    forge: StandInForge = request.getfixturevalue(kind)
    forge.wrote("looks good", by="ann")
    first = run(command, fake)
    assert (first.code, first.err) == (1, "")
    assert bodies(forge) == ["looks good", f"{MARKER}\n**✗ worse**\n"]
    assert run(command, fake, text="**✓ fine**", result="fine").code == 0
    assert bodies(forge) == ["looks good", f"{MARKER}\n**✓ fine**\n"]
    run(command, fake, "--hardware", "large")
    assert bodies(forge)[2].startswith("<!-- splashboard: gate mariadb large -->\n"), "one of each hardware class"


@pytest.mark.parametrize("kind", ["github", "gitlab"])
def test_comments_of_others_are_left_alone_whatever_they_contain(
    kind: str, request: pytest.FixtureRequest, command: Command, fake: FakeServer
) -> None:
    forge: StandInForge = request.getfixturevalue(kind)
    own = forge.login or BOT
    forge.wrote(f"{MARKER}\nnot yours", by="mallory")
    forge.wrote(f"> {MARKER}\nquoted", by=own)
    forge.wrote(f"{MARKER}\nof a system", by=own, system=True)
    before = bodies(forge)
    run(command, fake)
    assert bodies(forge)[:2] == before[:2]


@pytest.mark.parametrize("kind", ["github", "gitlab"])
def test_its_comment_is_found_on_a_later_page(
    kind: str, request: pytest.FixtureRequest, command: Command, fake: FakeServer
) -> None:
    forge: StandInForge = request.getfixturevalue(kind)
    for number in range(230):
        forge.wrote(f"comment {number}", by="ann")
    forge.wrote(f"{MARKER}\nold", by=forge.login or BOT)
    run(command, fake)
    assert len(forge.comments) == 231
    assert bodies(forge)[-1] == f"{MARKER}\n**✗ worse**\n"
    assert sum("page=3" in each for each in forge.asked) == 1


def test_a_build_of_a_fork_ends_with_the_gates_code_and_says_why_there_is_no_comment(
    github: StandInForge, command: Command, fake: FakeServer, tmp_path: Path
) -> None:
    github.may_write = False
    said = run(command, fake)
    assert said.code == 1
    assert said.err.startswith("::warning title=Splashboard::no comment: GitHub refused: 403, Resource not accessible")
    assert "for pull requests from forks GitHub lets a build only read" in said.err
    assert len(said.err.splitlines()) == 1
    assert (tmp_path / "summary.md").read_text() == "**✗ worse**\n\n"
    assert "comment=\n" in (tmp_path / "output").read_text()


def test_what_was_lost_on_the_way_is_looked_for_before_it_is_written_again(
    github: StandInForge, command: Command, fake: FakeServer
) -> None:
    github.failures = ["lost"]
    run(command, fake)
    assert len(github.comments) == 1
    github.comments.clear()
    github.failures = [502, 502]
    run(command, fake)
    assert len(github.comments) == 1
    github.comments.clear()
    github.failures = [502, 502, 502]
    said = run(command, fake)
    assert said.code == 1
    assert "no comment: " in said.err
    assert "502, out of order" in said.err


def test_an_edit_is_repeated_until_it_arrives(github: StandInForge, command: Command, fake: FakeServer) -> None:
    github.wrote(f"{MARKER}\nold", by=BOT)
    github.failures = [503, "lost"]
    assert run(command, fake).code == 1
    assert bodies(github) == [f"{MARKER}\n**✗ worse**\n"]


def test_a_gate_without_an_answer_replaces_the_old_one(
    github: StandInForge, command: Command, fake: FakeServer
) -> None:
    github.wrote(f"{MARKER}\n**✓ fine**", by=BOT)
    fake.answers = [(422, {"Content-Type": "application/json"}, b'{"detail": "no release @here ``` 2"}')]
    said = command(*COMMENT, fake.url)
    assert said.code == 4
    (body,) = bodies(github)
    assert "**? mariadb 2: no answer of the gate, exit code 4**" in body
    assert "✓" not in body
    assert body.count("```") == 2


@pytest.mark.parametrize(
    ("token", "number", "why"),
    [("", "7", "set GITHUB_TOKEN"), ("wrong", "7", "401, Bad credentials"), ("t0p", "", "of no pull or merge request")],
)
def test_without_a_place_for_a_comment_the_gate_still_answers(
    github: StandInForge,
    command: Command,
    fake: FakeServer,
    monkeypatch: pytest.MonkeyPatch,
    token: str,
    number: str,
    why: str,
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", token)
    if not number:
        monkeypatch.delenv("GITHUB_EVENT_PATH")
    said = run(command, fake)
    assert (said.code, why in said.err) == (1, True)
    assert github.comments == []


def test_outside_a_build_it_is_the_gate(forge: StandInForge, command: Command, fake: FakeServer) -> None:
    said = run(command, fake)
    assert said.code == 1
    assert "neither a build of GitHub Actions nor of GitLab CI" in said.err


@pytest.mark.parametrize(
    ("result", "fail_on", "code"),
    [
        ("regression", "cannot-tell", 1), ("regression", "regression", 1), ("regression", "nothing", 0),
        ("cannot tell", "cannot-tell", 2), ("cannot tell", "regression", 0), ("cannot tell", "nothing", 0),
    ],
)  # fmt: skip
def test_what_fails_a_build_can_be_chosen(
    github: StandInForge, command: Command, fake: FakeServer, tmp_path: Path, result: str, fail_on: str, code: int
) -> None:
    dotenv = tmp_path / "gate.env"
    assert run(command, fake, "--fail-on", fail_on, "--dotenv", dotenv, result=result).code == code
    assert (tmp_path / "output").read_text().splitlines()[:2] == [f"result={result}", f"exit-code={code}"]
    assert dotenv.read_text().splitlines()[:2] == [f"SPLASHBOARD_RESULT={result}", f"SPLASHBOARD_EXIT_CODE={code}"]


def test_the_exit_code_is_a_number_also_where_python_prints_the_names_of_enumerations(
    github: StandInForge, command: Command, fake: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Exit, "__str__", enum.Enum.__str__)  # as before Python 3.11
    run(command, fake)
    assert "exit-code=1\n" in (tmp_path / "output").read_text()


def test_names_neither_call_people_nor_give_commands_and_a_long_answer_is_cut_between_lines() -> None:
    text = "**✗ @acme/all** mail a@b\n/close\n  /label ~x\n| a |\n"
    assert comment.quiet(text) == "**✗ @\u200bacme/all** mail a@\u200bb\n\\/close\n  \\/label ~x\n| a |\n"
    rows = "\n".join(f"| row {number} |" for number in range(10_000))
    shown = comment.cut(f"**✗ worse**\n{rows}\nChanges; p. https://splashboard.example/r/\n", 65_000)
    assert len(shown) <= 65_000
    assert shown.endswith("longer than a comment may be. Changes; p. https://splashboard.example/r/\n")
    assert all(line.endswith("|") for line in shown.splitlines() if line.startswith("|"))


@pytest.mark.parametrize(
    ("event", "ref", "number"),
    [
        ({"pull_request": {"number": 3}}, "", 3),
        ({"issue": {"number": 4, "pull_request": {}}}, "", None),
        ({"issue": {"number": 4, "pull_request": {"url": "x"}}}, "", 4),
        ({"workflow_run": {"pull_requests": [{"number": 5}]}}, "", 5),
        ({"workflow_run": {"pull_requests": []}}, "refs/heads/main", None),
        ({"pull_request": "odd"}, "refs/pull/6/merge", 6),
    ],
)
def test_the_pull_request_is_that_of_the_event(tmp_path: Path, event: Any, ref: str, number: int | None) -> None:
    file = tmp_path / "event.json"
    file.write_text(json.dumps(event))
    environment = {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_PATH": str(file), "GITHUB_REF": ref}
    assert this_build(environment, number=None).number == number
    assert this_build(environment, number=9).number == 9
