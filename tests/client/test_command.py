"""Exit codes: 1 and 2 are answers, so nothing else may end with them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from splashboard import gate
from tests.client.answers import a_check, a_row
from tests.client.conftest import Command, FakeServer
from tests.paths import ROOT

CLIENT = ROOT / "client"
GATE = ("--platform", "mariadb", "--release", "2")


def test_wrong_use_is_distinguished_from_an_answer(command: Command, tmp_path: Path) -> None:
    for arguments in (
        [],
        ["gate"],
        ["gat", "--platform", "mariadb"],
        ["wait", "first", "--url", "http://a.example"],
        ["wait", "1", "--url", "http://a.example", "--timeout", "-3"],
        ["gate", "--platform", "mariadb", "--rel", "2", "--url", "http://a.example"],
        ["gate", "--platform", "mariadb", "--release", "2", "--al", "--url", "http://a.example"],
    ):
        said = command(*arguments)
        assert said.code == 3
        assert "usage: splashboard" in said.err
    assert "Give its address as --url or in SPLASHBOARD_URL" in command("wait", 1).err
    missing = command("submit", tmp_path / "no.txt", "--url", "http://a.example")
    assert missing.code == 3
    assert missing.err == f"{tmp_path}/no.txt cannot be read: No such file or directory\n"


def test_a_description_that_is_no_json_is_named_with_its_line(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_text('{"system":\n')
    said = command("submit", file, "--description", file, "--url", "http://a.example")
    assert (said.code, said.err) == (3, f"{file} is not JSON: line 2: Expecting value\n")


def test_a_token_comes_from_its_file_or_the_environment(
    command: Command, fake: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.answers = [(404, {}, b"")]
    file = tmp_path / "token"
    file.write_text("of-the-file\n")

    def sent(*options: object) -> str | None:
        command("wait", 1, "--url", fake.url, *options)
        return fake.received[-1][2].get("Authorization")

    assert sent() is None
    monkeypatch.setenv("SPLASHBOARD_TOKEN_FILE", str(file))
    assert sent() == "Token of-the-file"
    monkeypatch.setenv("SPLASHBOARD_TOKEN", "of-the-environment")
    assert sent() == "Token of-the-environment"
    assert sent("--token-file", file) == "Token of-the-file"
    file.write_text("two words")
    said = command("wait", 1, "--url", fake.url, "--token-file", file)
    assert said.code == 3
    assert "two words" not in said.err


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"result": "fine"}', "the answer lacks 'title'"),
        (b'["fine"]', "the answer is not a JSON object"),
        (b"[" * 200 + b"]" * 200, "nested too deeply"),
        (b"[" * 100_000 + b"]" * 100_000, "the answer is not JSON"),
        (json.dumps(a_check({**a_row(), "ratio": "x"})).encode(), "'ratio' has the wrong type"),
        (json.dumps(a_check({**a_row(), "before": 10**400})).encode(), "'before' has the wrong type"),
        (json.dumps(a_check(rows="none")).encode(), "'rows' is not a list"),
    ],
)
@pytest.mark.parametrize("form", ["terminal", "json"])
def test_an_answer_of_another_kind_is_no_answer(
    command: Command, fake: FakeServer, body: bytes, words: str, form: str
) -> None:
    fake.answers = [(200, {}, body)]
    said = command("gate", *GATE, "--format", form, "--url", fake.url)
    assert (said.code, said.out) == (5, "")
    assert words in said.err
    assert "is it a Splashboard" in said.err
    assert len(said.err.splitlines()) == 1


def test_a_refusal_in_odd_words_is_still_a_refusal(command: Command, fake: FakeServer) -> None:
    for body in (b'{"errors": 5}', b'{"errors": ["x", {"message": 3}, {"field": "a"}]}', b"[" * 100_000):
        fake.answers = [(422, {"Content-Type": "application/json"}, body)]
        assert command("wait", 1, "--url", fake.url).code == 4


def test_campaigns_and_runs_of_another_kind_are_no_answers(command: Command, fake: FakeServer, tmp_path: Path) -> None:
    fake.answers = [(200, {}, b'{"id": 1}')]
    (tmp_path / "any").write_text("any")
    for arguments in (("wait", 1), ("campaign", tmp_path / "any"), ("submit", tmp_path / "any")):
        said = command(*arguments, "--url", fake.url)
        assert said.code == 5
        assert "the answer lacks '" in said.err


def test_output_that_has_no_room_is_reported_and_is_no_answer(fake: FakeServer, tmp_path: Path) -> None:
    fake.answers = [(200, {}, json.dumps(a_check(result="fine")).encode())]
    for stream, other in (("1", "2"), ("2", "1")):
        # Files may not grow, as on a full disk. The second time it has something to complain of, and nowhere to.
        url = fake.url if stream == "1" else "nowhere"
        script = f'ulimit -f 0; exec "$0" -m splashboard gate --platform a --release b --url {url} {stream}>full'
        said = subprocess.run(
            ["/bin/sh", "-c", script, sys.executable],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(CLIENT), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert said.returncode == 3
        printed = said.stderr if other == "2" else said.stdout
        assert printed == ("the output cannot be written: File too large\n" if other == "2" else "")


def test_its_own_errors_are_no_regression(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    raised: list[BaseException] = [RuntimeError("a slip"), KeyboardInterrupt()]

    def slip(*_: object) -> None:
        raise raised.pop(0)

    monkeypatch.setattr(gate, "ask", slip)
    said = command("gate", *GATE, "--url", "http://a.example")
    assert said.code == 6
    assert "defect of the client" in said.err
    assert command("gate", *GATE, "--url", "http://a.example").code == 130
