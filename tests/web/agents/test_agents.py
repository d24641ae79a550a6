"""The page of the agents: how to add one, and how each fares."""

import tomllib
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from apps.dispatch import api as dispatch
from apps.dispatch.models import AgentSystem
from tests.support.builders import a_job, a_system, a_user, an_agent
from tests.support.pages import element, elements, states, text
from workers.agent.runtime import config

pytestmark = pytest.mark.usefixtures("enqueued")


def test_no_agents_says_how_to_add_one(db: None, client: Client) -> None:
    page = client.get("/agents/").content.decode()
    assert elements(page, "[data-state=empty]")
    assert text(page, "[aria-label='Commands that register an agent']").startswith(
        'make manage ARGS="register_agent NAME'
    )


def test_documented_configuration_is_one_that_the_agent_reads(db: None, client: Client, tmp_path: Path) -> None:
    blocks = [code.text() for code in elements(client.get("/agents/").content.decode(), "pre code")]
    example = next(block for block in blocks if "[server]" in block)
    (tmp_path / "agent.toml").write_text(example)
    for name in ("agent.token", "db.password"):
        (tmp_path / name).write_text("secret")
        (tmp_path / name).chmod(0o600)
    loaded = config.load(tmp_path / "agent.toml")
    assert list(loaded.systems) == [tomllib.loads(example)["systems"][0]["slug"]]
    assert loaded.url == "http://testserver"


def test_agents_say_how_they_fare(db: None, client: Client) -> None:
    now = timezone.now()
    job = a_job(state="running", progress="prepare")
    assert job.agent is not None
    job.agent.last_seen_at = now
    job.agent.health = {"spool_messages": 3, "spool_bytes": 2048, "refused_messages": 1, "free_disk_bytes": 2**30}
    job.agent.save()
    an_agent(name="gone", last_seen_at=now - timedelta(minutes=5))
    an_agent(name="new", last_seen_at=None, health={"spool_messages": "many"})
    an_agent(name="bad", last_seen_at=now, revoked_at=now)
    page = client.get("/agents/").content.decode()

    def state(name: str) -> str | None:
        return element(page, f"[data-agent='{name}'] [data-state]").attributes["data-state"]

    assert [state(name) for name in (job.agent.name, "gone", "new", "bad")] == [
        "alive",
        "silent",
        "never-seen",
        "revoked",
    ]
    busy, new = f"[data-agent='{job.agent.name}']", "[data-agent=new]"
    assert states(page, f"{busy} [data-doing]", "doing") == [("prepare",)]
    assert elements(page, f"{busy} a[href='/campaigns/{job.campaign_id}/']")
    for quantity, value, shown in (
        ("unsent", "3", "3 messages, 2.00 KiB"),
        ("refused", "1", "1"),
        ("free", str(2**30), "1.00 GiB"),
    ):
        assert states(page, f"{busy} [data-{quantity}]", quantity) == [(value,)]
        assert text(page, f"{busy} [data-{quantity}]").replace("\xa0", " ") == shown
        assert states(page, f"{new} [data-{quantity}]", quantity) == [("",)]


def test_systems_that_their_agent_can_start_anew_are_marked_in_page_and_api(db: None, client: Client) -> None:
    an_agent(a_system("able"), a_system("unable"), name="box", health={"restarts": ["able", "elsewhere"]})
    page = client.get("/agents/").content.decode()
    assert states(page, "[data-agent=box] [data-restart]", "restart") == [("able",)]
    assert text(page, "[data-restart=able]") == "restart"
    assert element(page, "[data-restart=able]").attributes["title"]
    client.force_login(a_user())
    (row,) = client.get("/api/v1/agents/").json()["results"]
    assert (sorted(row["systems"]), row["restarts"]) == (["able", "unable"], ["able"])


def test_an_administrator_decides_what_an_agent_may_measure(db: None, client: Client) -> None:
    agent = an_agent(name="box", is_trusted=False)
    AgentSystem.objects.create(agent=agent, slug="theirs")
    decision = {"agent": "box", "system": "theirs", "decision": "allow"}
    client.force_login(a_user(username="eve", role="engineer"))
    assert not elements(client.get("/agents/").content.decode(), "[data-asked] button")
    assert client.post("/agents/systems/", decision).status_code == 403
    client.force_login(a_user(username="ada", role="administrator"))
    page = client.get("/agents/").content.decode()
    assert states(page, "[data-asked] [data-state]", "state") == [("asked",)]
    page = client.post("/agents/systems/", decision, follow=True).content.decode()
    assert "box may measure theirs, at its next report" in page
    assert states(page, "[data-asked] [data-state]", "state") == [("allowed",)]
    client.post("/agents/systems/", {**decision, "decision": "refuse"})
    assert AgentSystem.objects.get().is_allowed is False


def test_an_administrator_makes_a_one_time_code(db: None, client: Client) -> None:
    client.force_login(a_user(username="eve", role="engineer"))
    assert client.post("/agents/enrolments/", {"systems": "a"}).status_code == 403
    client.force_login(a_user(username="ada", role="administrator"))
    page = client.post("/agents/enrolments/", {"systems": "mine-1 mine-2"}).content.decode()
    example = text(page, "[aria-label='An example of agent.toml']")
    assert 'slug = "mine-1"' in example
    assert 'slug = "mine-2"' in example
    assert "mysql-small" not in page
    command = text(page, "[data-code]")
    words = command.replace("\\", "").split()
    expected = "splashboard-agent enrol --server http://testserver --name NAME --code"
    assert words[:-1] == expected.split()
    assert dispatch.enrol(code=command.split()[-1], name="box", now=timezone.now()) is not None
    refused = client.post("/agents/enrolments/", {"systems": "../x"})
    assert (refused.status_code, "is no slug" in refused.content.decode()) == (422, True)
