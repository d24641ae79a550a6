"""A new agent fetches its secret over HTTP with a one-time code, and writes it where nobody else reads it."""

from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer

from apps.dispatch import api as dispatch
from tests.support.builders import a_user, an_agent
from workers.agent import cli
from workers.agent.runtime.enrol import NotEnrolled, enrol

pytestmark = pytest.mark.django_db(transaction=True)

ADDRESS = "/api/v1/agent/enrolments/box"


def a_code(*systems: str) -> str:
    return dispatch.make_enrolment(systems=systems, by=a_user(role="administrator"), now=timezone.now())


def test_the_agents_command_writes_a_secret_that_works(live_server: LiveServer, tmp_path: Path) -> None:
    file = tmp_path / "agent.token"
    options = ["--server", live_server.url, "--name", "box", "--token-file", str(file)]
    assert cli.main(["enrol", "--code", a_code("mine"), *options]) == 0
    assert file.stat().st_mode & 0o777 == 0o600
    agent = dispatch.agent_of_secret(secret=file.read_text().strip(), now=timezone.now())
    assert agent is not None
    assert (agent.name, [each.slug for each in agent.asked.all()]) == ("box", ["mine"])


def test_a_wrong_code_leaves_no_file_and_says_who_makes_one(
    live_server: LiveServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "agent.token"
    options = ["--server", live_server.url, "--name", "box", "--token-file", str(file)]
    assert cli.main(["enrol", "--code", "guessed", *options]) == 1
    assert "An administrator makes one on the page Agents" in capsys.readouterr().err
    assert not file.exists()


def test_a_file_that_is_there_keeps_the_code_unused(live_server: LiveServer, tmp_path: Path) -> None:
    file = tmp_path / "agent.token"
    file.write_text("other")
    code = a_code()
    with pytest.raises(NotEnrolled, match="exists"):
        enrol(url=live_server.url, code=code, name="box", token_file=file)
    assert file.read_text() == "other"
    assert dispatch.enrol(code=code, name="box", now=timezone.now()) is not None


@pytest.mark.parametrize("header", ["", "Code ", "Code a b", "Agent secret"])
def test_without_a_code_there_is_no_agent(client: Client, header: str) -> None:
    answer = client.post(ADDRESS, headers={"Authorization": header} if header else {})
    assert answer.status_code in (401, 403)
    assert dispatch.queries.list_agents(now=timezone.now()) == []


def test_a_taken_name_is_refused_with_the_field(client: Client) -> None:
    an_agent(name="box")
    answer = client.post(ADDRESS, headers={"Authorization": f"Code {a_code()}"})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "name")
