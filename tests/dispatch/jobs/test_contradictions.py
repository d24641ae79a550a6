"""A server that is another release, or on other hardware, than its slug stands for gets no jobs, and pages say why."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.catalog.models import System
from apps.dispatch import api as dispatch
from apps.dispatch import queries
from apps.dispatch.models import Agent, Job
from apps.dispatch.schedules.scheduled_runs import lacks_of
from tests.support.builders import a_campaign, a_user, an_agent
from tests.support.pages import elements, text
from tests.web.campaigns.pages import a_form
from workers.protocol import wire

pytestmark = pytest.mark.django_db

HARDWARE = [wire.HardwareMessage(slug=slug, name=slug, vcpu=2, memory_bytes=2**30) for slug in ("box", "larger-box")]
OLD = "10.11.19-MariaDB-0+deb12u1"
AURORA = "8.0.39 Aurora 3.08.0"


def hello(agent: Agent, **change: Any) -> list[str]:
    """The warnings about systems without jobs."""
    usual = {"slug": "db", "name": "db", "platform": "mariadb", "version": OLD, "hardware_class": "box"}
    message = wire.HelloMessage(version="1", systems=[wire.SystemMessage(**usual | change)], hardware=HARDWARE)
    answer = dispatch.hello(agent=agent, message=message, now=timezone.now())
    agent.refresh_from_db()
    return [warning for warning in answer.warnings if "gets no jobs" in warning]


def known_as(version: str = OLD) -> Agent:
    agent = an_agent(last_seen_at=timezone.now())
    assert hello(agent, version=version) == []
    return agent


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": "10.11.20-MariaDB-0+deb12u1"}, "its release is '10.11.20-MariaDB-0+deb12u1'"),
        ({"version": "11.8.3-MariaDB"}, "its release is '11.8.3-MariaDB'"),
        ({"platform": "galera"}, "its platform is 'galera'"),
        ({"hardware_class": "larger-box"}, "its hardware class is 'larger-box'"),
    ],
)
def test_a_server_that_its_slug_does_not_stand_for_gets_no_jobs_until_it_does_again(
    change: dict[str, str], words: str
) -> None:
    agent = known_as()
    (warning,) = hello(agent, **change)
    assert words in warning
    assert agent.labels == []
    assert hello(agent) == []
    assert (agent.labels, agent.refused_systems) == (["system:db"], {})


@pytest.mark.parametrize(
    ("known", "found"),
    [
        (OLD, "10.11.19-MariaDB-0+deb12u2-log"),
        ("10.11", OLD),
        (OLD, "10.11"),
        ("nightly", "nightly-2"),
        (AURORA, "8.0.39 Aurora 3.08.0"),
    ],
)
def test_builds_of_one_release_number_are_measured_under_one_slug(known: str, found: str) -> None:
    agent = known_as(known)
    assert hello(agent, version=found) == []
    assert agent.labels == ["system:db"]


def test_auroras_own_number_counts_beside_that_of_mysql() -> None:
    assert hello(known_as(AURORA), version="8.0.39 Aurora 3.08.1")


def test_the_reason_stands_on_the_pages_of_agents_and_of_the_campaign_that_waits(client: Client) -> None:
    agent = known_as()
    campaign = a_campaign(System.objects.get(slug="db"))
    hello(agent, version="11.8.3-MariaDB")
    assert dispatch.match_jobs(now=timezone.now()) == 0
    for address, notice in (
        ("/agents/", "[data-no-jobs=db]"),
        (f"/campaigns/{campaign.pk}/", "[data-state=unreachable]"),
    ):
        page = client.get(address).content.decode()
        said = text(page, notice)
        assert f"gets no jobs of agent {agent.name}: its release is '11.8.3-MariaDB'" in said
        assert f"but runs under its slug count as '{OLD}'" in said
        assert elements(page, f"{notice} a[href='/help/howto/agent/']")
    client.force_login(a_user())
    plan = client.get("/campaigns/new/").content.decode()
    assert "its release is '11.8.3-MariaDB'" in text(plan, "[data-refused]")
    refused = text(client.post("/campaigns/new/", a_form(systems=["db"])).content.decode(), "#systems-error")
    assert f"gets no jobs of agent {agent.name}: its release is '11.8.3-MariaDB'" in refused
    assert "no agent is connected" not in refused
    (row,) = queries.list_agents(now=timezone.now())
    assert [system.slug for system in row.refused_systems] == ["db"]
    (lack,) = lacks_of(list(Job.objects.all()), [agent], now=timezone.now())
    assert "its release is '11.8.3-MariaDB'" in lack.why


def test_a_system_that_cannot_be_registered_is_named_on_the_page_of_agents_too(client: Client) -> None:
    hello(an_agent(last_seen_at=timezone.now()), slug="no slug!")
    assert "systems[0].slug must be letters" in text(client.get("/agents/").content.decode(), "[data-no-jobs]")
