"""docs/howto/client.md tells what the client has."""

import itertools
import re
import shlex
from typing import Any

import pytest
import yaml

from splashboard import cli, gate
from splashboard.failures import Exit
from tests.paths import DOCS, ROOT

DOCUMENT = (DOCS / "howto" / "client.md").read_text()


def test_every_option_and_exit_code_that_it_names_is_there(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    for name in ("run", "submit", "campaign", "wait", "compare", "gate", "comment"):
        assert f"| `{name}" in DOCUMENT
        with pytest.raises(SystemExit):
            cli.main([name, "--help"])
    printed = capsys.readouterr().out
    assert set(re.findall(r"--[a-z][a-z-]+", DOCUMENT)) <= set(re.findall(r"--[a-z-]+", printed))
    assert all(f"| `{name}` |" in DOCUMENT for name in gate.FORMATS)
    for code in (Exit.USE, Exit.REFUSED, Exit.UNREACHABLE, Exit.DEFECT, Exit.INTERRUPTED):
        assert re.search(rf"\b{code.value} (wrong use|the server|no usable|an error|interrupted)", DOCUMENT)


def test_the_commands_of_its_pipelines_are_read_as_they_stand() -> None:
    github, gitlab = _pipelines()
    steps = [step["run"] for step in github["jobs"]["benchmark"]["steps"] if "run" in step]
    commands = [[line for line in script if line.startswith("splashboard ")] for script in (steps, _measure(gitlab))]
    assert [len(each) for each in commands] == [1, 1]
    for line in itertools.chain(*commands):
        cli.parser().parse_args(shlex.split(line)[1:])


def test_its_pipelines_state_inputs_that_action_and_component_have_and_the_page_names_all_of_them() -> None:
    github, gitlab = _pipelines()
    action = yaml.safe_load((ROOT / "client" / "ci" / "github" / "action.yml").read_text())
    (step,) = [each for each in github["jobs"]["benchmark"]["steps"] if "client/ci/github@" in each.get("uses", "")]
    (included,) = gitlab["include"]
    component = yaml.safe_load((ROOT / included["file"].lstrip("/")).read_text().split("\n---\n")[0])
    for stated, known in ((step["with"], action["inputs"]), (included["inputs"], component["spec"]["inputs"])):
        needed = {name for name, each in known.items() if each.get("required") or "default" not in each}
        assert needed <= set(stated) <= set(known)
        assert [name for name in {*known} - {*stated} if f"`{name}`" not in DOCUMENT] == []
    assert [name for name in action["outputs"] if f"`{name}`" not in DOCUMENT] == []


def test_no_pipeline_passes_on_a_campaign_that_was_too_slow() -> None:
    _, gitlab = _pipelines()
    assert "allow_failure" not in gitlab["measure"]


def _measure(gitlab: Any) -> list[str]:
    script: list[str] = gitlab["measure"]["script"]
    return script


def _pipelines() -> list[Any]:
    return [yaml.safe_load(text) for text in re.findall(r"^```yaml\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)]


def test_the_page_about_ones_own_command_names_what_is_there(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    page = (DOCS / "howto" / "wrap-a-command.md").read_text()
    with pytest.raises(SystemExit):
        cli.main(["run", "--help"])
    printed = set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    others = {"--pending", "--csv", "--concurrency", "--report-checkpoints", "--time"}
    others |= {
        "--client",
        "--jobs",
        "--log",
        "--name",
        "--numjobs",
        "--output-format",
        "--sampling-rate",
    }  # of pgbench and fio
    assert set(re.findall(r"--[a-z][a-z-]+", page)) - others <= printed
    assert {name for name in printed if f"`{name}" not in page and f" {name} " not in page} <= {
        *("--url", "--token-file", "--timeout", "--help"),
    }
    for code in (*Exit,):
        assert code in (Exit.DEFECT,) or f"\n| {code.value} | " in page
