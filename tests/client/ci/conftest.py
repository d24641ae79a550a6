from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.client.ci.stand_in import StandInForge, a_forge
from tests.client.conftest import command, engineer, fake  # noqa: F401  fixtures of this folder too

BUILDS = ("GITHUB_ACTIONS", "GITLAB_CI", "GITHUB_TOKEN", "GITLAB_TOKEN", "GITHUB_EVENT_PATH", "GITHUB_REF")


@pytest.fixture
def forge(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandInForge]:
    """And no build around this one."""
    for name in (*BUILDS, "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("splashboard.ci.forge.PAUSE", 0.01)
    with a_forge() as found:
        yield found


@pytest.fixture
def github(forge: StandInForge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> StandInForge:
    """A build of pull request 7 of acme/db."""
    for name, value in github_environment(forge, tmp_path).items():
        monkeypatch.setenv(name, value)
    return forge


@pytest.fixture
def gitlab(forge: StandInForge, monkeypatch: pytest.MonkeyPatch) -> StandInForge:
    """A build of merge request 7 of acme/db, from a fork of it."""
    for name, value in gitlab_environment(forge).items():
        monkeypatch.setenv(name, value)
    forge.login = "project_bot"
    return forge


def github_environment(forge: StandInForge, folder: Path) -> dict[str, str]:
    event = folder / "event.json"
    event.write_text('{"pull_request": {"number": 7}}')
    return {
        "GITHUB_ACTIONS": "true",
        "GITHUB_API_URL": forge.url,
        "GITHUB_REPOSITORY": "acme/db",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_TOKEN": forge.token,
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "GITHUB_OUTPUT": str(folder / "output"),
    }


def gitlab_environment(forge: StandInForge) -> dict[str, str]:
    return {
        "GITLAB_CI": "true",
        "CI_API_V4_URL": forge.url,
        "CI_PROJECT_ID": "someone/db",
        "CI_MERGE_REQUEST_PROJECT_ID": "acme/db",
        "CI_MERGE_REQUEST_IID": "7",
        "GITLAB_TOKEN": forge.token,
    }
