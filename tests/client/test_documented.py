"""docs/client.md tells what the client has."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from splashboard import cli, gate
from splashboard.failures import Exit

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "client.md").read_text()


def test_every_option_and_exit_code_that_it_names_is_there(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    for name in ("submit", "campaign", "wait", "compare", "gate"):
        assert f"| `{name}" in DOCUMENT
        with pytest.raises(SystemExit):
            cli.main([name, "--help"])
    told = capsys.readouterr().out
    assert set(re.findall(r"--[a-z][a-z-]+", DOCUMENT)) <= set(re.findall(r"--[a-z-]+", told))
    assert all(f"| `{name}` |" in DOCUMENT for name in gate.FORMATS)
    for code in (Exit.USE, Exit.REFUSED, Exit.UNREACHABLE, Exit.DEFECT, Exit.INTERRUPTED):
        assert re.search(rf"\b{code.value} (wrong use|the server|no usable|an error|interrupted)", DOCUMENT)


def test_the_commands_of_its_pipelines_are_read_as_they_stand() -> None:
    pipelines = [
        yaml.safe_load(text) for text in re.findall(r"^```yaml\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)
    ]
    github, gitlab = pipelines
    steps = [step["run"] for step in github["jobs"]["benchmark"]["steps"] if "run" in step]
    commands = [line for line in (*steps, *gitlab["benchmark"]["script"]) if line.startswith("splashboard ")]
    assert len(commands) == 4
    for line in commands:
        cli.parser().parse_args(shlex.split(line)[1:])
