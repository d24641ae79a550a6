"""Exit codes: 1 and 2 are answers, so nothing else may end with them."""

import json
from pathlib import Path

import pytest

from splashboard import gate
from tests.client.conftest import Command, FakeServer


def test_wrong_use_is_told_from_an_answer(command: Command, tmp_path: Path) -> None:
    for arguments in (
        [],
        ["gate"],
        ["gat", "--platform", "mariadb"],
        ["wait", "first", "--url", "http://a.example"],
        ["wait", "1", "--url", "http://a.example", "--timeout", "-3"],
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


def test_its_own_errors_are_no_regression(command: Command, fake: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.answers = [(200, {}, json.dumps({"an answer": "of another kind"}).encode())]
    said = command("gate", "--platform", "mariadb", "--release", "2", "--url", fake.url)
    assert said.code == 6
    assert "defect of the client" in said.err

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(gate, "ask", interrupted)
    assert command("gate", "--platform", "mariadb", "--release", "2", "--url", fake.url).code == 130
