"""The action of GitHub and the component of GitLab: valid, and run as a runner runs them, against a real server."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml
from jsonschema import Draft7Validator
from pytest_django.live_server_helper import LiveServer

from apps.regressions import look
from apps.regressions.models import Finding
from tests.client.ci.conftest import github_environment, gitlab_environment
from tests.client.ci.stand_in import StandInForge
from tests.paths import ROOT
from tests.regressions.releases.released import NEW, a_release, the_hardware, two_releases

LIVE = pytest.mark.django_db(transaction=True)
CLIENT = ROOT / "client"
ACTION = CLIENT / "ci" / "github" / "action.yml"
COMPONENT = CLIENT / "ci" / "gitlab" / "templates" / "gate.yml"
# Published at json.schemastore.org and gitlab.com; as check-jsonschema brings them.
SCHEMAS = files("check_jsonschema") / "builtin_schemas" / "vendor"


def validate(document: Any, schema: str) -> None:
    Draft7Validator(json.loads((SCHEMAS / f"{schema}.json").read_text())).validate(document)


def the_action() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(ACTION.read_text())
    return found


def the_component(**inputs: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What it takes, and the jobs that GitLab makes of it: inputs are put in as text."""
    head, jobs = COMPONENT.read_text().split("\n---\n")
    spec: dict[str, Any] = yaml.safe_load(head)
    values = {name: inputs.get(name, each.get("default")) for name, each in spec["spec"]["inputs"].items()}
    made = re.sub(r"\$\[\[ inputs\.([a-z-]+) \]\]", lambda found: str(values[found[1]]), jobs)
    return spec, yaml.safe_load(made)


def run_action(folder: Path, environment: Mapping[str, str], **inputs: str) -> subprocess.CompletedProcess[str]:
    """Its one step, as the runner of GitHub does for `shell: bash`."""
    action = the_action()
    given = {
        name: inputs.get(name.replace("-", "_"), each.get("default", "")) for name, each in action["inputs"].items()
    }

    def value(text: str) -> str:
        named = re.fullmatch(r"\$\{\{ inputs\.([a-z-]+) \}\}", text)
        return str(given[named[1]]) if named else text

    (step,) = action["runs"]["steps"]
    assert step["shell"] == "bash"
    (folder / "step.sh").write_text(step["run"])
    own = {name: value(text) for name, text in step["env"].items()}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "step.sh"],
        cwd=folder,
        env={"PATH": path, **environment, **own, "GITHUB_ACTION_PATH": str(ACTION.parent)},
        capture_output=True,
        text=True,
        check=False,
    )


def run_component(
    folder: Path, environment: Mapping[str, str], *, release: str, pip: str = "exit 0"
) -> subprocess.CompletedProcess[str]:
    """Its one job, as the runner of GitLab does. `pip`: what stands for it: nothing is downloaded by a test."""
    _, jobs = the_component(client="not installed here", platform="mariadb", release=release)
    job = jobs["splashboard-gate"]
    client = f'PYTHONPATH={CLIENT} exec {sys.executable} -m splashboard "$@"'
    for name, script in (("pip", pip), ("splashboard", client)):
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    path = os.pathsep.join([str(folder), os.environ["PATH"]])
    return subprocess.run(
        ["/bin/sh", "-ec", "\n".join(job["script"])],
        cwd=folder,
        env={**environment, **job["variables"], "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_action_is_valid_and_needs_nothing_that_is_not_of_its_own_commit() -> None:
    action = the_action()
    validate(action, "github-actions")
    (step,) = action["runs"]["steps"]
    assert "uses" not in step
    assert "${{" not in step["run"], "inputs reach the shell as variables only"
    assert {f"${{{{ inputs.{name} }}}}" for name in action["inputs"]} == set(step["env"].values())


def test_the_component_is_valid_and_its_client_is_named_by_whom_includes_it() -> None:
    spec, jobs = the_component(client="git+https://git.example/s.git@0123#subdirectory=client", platform="mariadb")
    validate({**spec, **jobs}, "gitlab-ci")
    assert "default" not in spec["spec"]["inputs"]["client"]
    assert list(jobs) == ["splashboard-gate"]
    assert not [line for line in jobs["splashboard-gate"]["script"] if "[[" in line]


@LIVE
def test_the_action_comments_on_a_regression_and_edits_it_when_it_is_accepted(
    live_server: LiveServer, forge: StandInForge, tmp_path: Path
) -> None:
    two_releases()
    look.compare(a_release(NEW), the_hardware())
    environment = github_environment(forge, tmp_path)
    inputs = {"url": live_server.url, "platform": "mariadb", "release": NEW, "github_token": forge.token}
    # A package of the working folder, as a pull request may bring one, is not run.
    (tmp_path / "splashboard").mkdir()
    (tmp_path / "splashboard" / "__init__.py").write_text("raise SystemExit('not this one')")
    first = run_action(tmp_path, environment, **inputs)
    assert (first.returncode, first.stderr) == (1, "")
    (comment,) = forge.comments
    assert comment["body"].startswith("<!-- splashboard: gate mariadb -->\n**✗ MariaDB")
    outputs = dict(line.split("=", 1) for line in (tmp_path / "output").read_text().splitlines())
    assert (outputs["result"], outputs["exit-code"], outputs["worse"]) == ("regression", "1", "1")
    assert outputs["address"].startswith(f"{live_server.url}/releases/mariadb/{NEW}/")
    assert outputs["comment"] == comment["html_url"]
    assert set(outputs) == set(the_action()["outputs"])
    assert "**✗ MariaDB" in (tmp_path / "summary.md").read_text()
    (suite,) = ET.parse(tmp_path / "splashboard-gate.xml").getroot()
    assert suite.get("failures") == "1"

    Finding.objects.update(state="accepted", reason="known", accepted_until="2099-01-01")
    assert run_action(tmp_path, environment, **inputs).returncode == 0
    (comment,) = forge.comments
    assert "**✓ MariaDB" in comment["body"]

    forge.may_write = False
    Finding.objects.update(state="new")
    fork = run_action(tmp_path, environment, **inputs, tolerance="0.2", fail_on="regression")
    assert fork.returncode == 1
    assert fork.stderr.startswith("::warning title=Splashboard::no comment: GitHub refused: 403")


@LIVE
def test_the_component_comments_on_a_merge_request(
    live_server: LiveServer, forge: StandInForge, tmp_path: Path
) -> None:
    two_releases()
    look.compare(a_release(NEW), the_hardware())
    forge.login = "project_bot"
    environment = {**gitlab_environment(forge), "SPLASHBOARD_URL": live_server.url}
    for _ in range(2):
        said = run_component(tmp_path, environment, release=NEW)
        assert (said.returncode, said.stderr) == (1, "")
        (comment,) = forge.comments
        assert comment["body"].startswith("<!-- splashboard: gate mariadb -->\n**✗ MariaDB")
    assert (tmp_path / "splashboard-gate.env").read_text().startswith("SPLASHBOARD_RESULT=regression\n")
    assert ET.parse(tmp_path / "splashboard-gate.xml").getroot() is not None


def test_a_client_that_cannot_be_installed_fails_the_job_which_allows_a_result_that_cannot_tell(
    tmp_path: Path,
) -> None:
    _, jobs = the_component(client="not installed here", platform="mariadb")
    said = run_component(tmp_path, {}, release=NEW, pip="exit 2")
    assert said.returncode not in (0, *jobs["splashboard-gate"]["allow_failure"]["exit_codes"])
