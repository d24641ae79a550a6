"""Sessions on the page that plans a campaign, on the campaign's page, and in the API."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.dispatch.models import Campaign, Job
from tests.support.builders import a_campaign, a_system, a_workload, an_agent
from tests.support.pages import data, element, elements, states, text
from tests.web.campaigns.pages import HTMX, a_form

pytestmark = pytest.mark.usefixtures("enqueued")
ADDRESS = "/api/v1/campaigns/sessions/"


@pytest.fixture
def able(db: None) -> None:
    """An agent that reaches the systems a and b and can start them anew."""
    systems = a_system("a"), a_system("b")
    an_agent(*systems, last_seen_at=timezone.now(), health={"restarts": ["a", "b"]})


def summary(engineer: Client, **fields: Any) -> str:
    return engineer.get("/campaigns/new/size/", a_form(**fields), headers=HTMX).content.decode()


def test_a_plan_has_as_many_sessions_as_were_typed(engineer: Client, able: None) -> None:
    engineer.post("/campaigns/new/", a_form(sessions="3", difference="2.5", sure="0.8"))
    campaign = Campaign.objects.get()
    assert (campaign.sessions, campaign.repetitions, campaign.jobs.count()) == (3, 3, 18)
    page = engineer.get(f"/campaigns/{campaign.pk}/").content.decode()
    assert text(page, "[data-sessions]") == "3"
    assert data(page, "session") == ["2", "3"]


def test_sessions_that_no_agent_can_begin_are_refused_beside_their_field(engineer: Client) -> None:
    an_agent(a_system("a"), a_system("b"), last_seen_at=timezone.now())
    html = engineer.post("/campaigns/new/", a_form(sessions="2")).content.decode()
    assert not Campaign.objects.exists()
    assert {field for (field,) in states(html, "[data-problems] li", "field")} == {"sessions"}
    assert "[systems.controls]" in text(html, "#sessions-error")
    assert states(summary(engineer), "[data-cannot-restart]", "cannot-restart") == [("a b",)]


@pytest.mark.parametrize(
    ("field", "typed"),
    [("sessions", "0"), ("sessions", "many"), ("difference", "0"), ("difference", "nan"), ("sure", "1")],
)
def test_what_is_wrong_stands_beside_its_field(engineer: Client, able: None, field: str, typed: str) -> None:
    page = engineer.post("/campaigns/new/", a_form(**{field: typed}))
    html = page.content.decode()
    assert page.status_code == 422
    assert text(html, f"#{field}-error")
    if field != "sure":
        assert element(html, f"[name={field}]").attributes["value"] == typed
    assert "data-session-plan" not in summary(engineer, **{field: typed})


def test_the_summary_names_the_cheapest_split_first_and_offers_the_others(engineer: Client, able: None) -> None:
    html = summary(engineer, difference="10", sure="0.9")
    (chosen,) = data(html, "session-plan")
    assert chosen
    sessions, _, repetitions = chosen.partition("x")
    assert states(html, "[data-split][aria-current]", "split") == [(chosen,)]
    assert f"sessions={sessions}&repetitions={repetitions}" in data(html, "fills")
    assert not elements(html, "[data-as-typed]")
    assert text(summary(engineer, difference="10", sessions=sessions, repetitions=repetitions), "[data-as-typed]")
    assert not elements(summary(engineer, systems=["a"]), "[data-session-plan]")
    assert not elements(summary(engineer, climb="on"), "[data-session-plan]")


def test_the_page_of_a_campaign_says_how_long_a_restart_took(engineer: Client, able: None) -> None:
    campaign = a_campaign(a_system("c"), sessions=2)
    Job.objects.filter(campaign=campaign, session=2).update(restart_seconds=4.25)
    page = engineer.get(f"/campaigns/{campaign.pk}/").content.decode()
    assert data(page, "restart") == ["4.25"]


def test_the_api_says_the_same(engineer: Client, able: None) -> None:
    asked: dict[str, Any] = {
        "system": ["a", "b"],
        "workload": [a_workload().pk],
        "threads": [1, 4, 8],
        "warmup": 1,
        "duration": 5,
    }
    answer = engineer.get(ADDRESS, asked | {"difference": "0.1", "power": "0.9"})
    assert answer.status_code == 200, answer.content
    found = answer.json()
    (chosen,) = [split for split in found["splits"] if split["is_chosen"]]
    shown = summary(engineer, workloads=asked["workload"], difference="10", sure="0.9")
    assert data(shown, "session-plan") == [f"{chosen['sessions']}x{chosen['repetitions']}"]
    assert found["sessions_seen"] == 0
    assert found["cannot_restart"] == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"system": ["a"]}, "system"),
        ({"system": ["a", "a"]}, "system"),
        ({"system": ["a", "gone"]}, "system.1"),
        ({"workload": [10**9]}, "workload.0"),
        ({"threads": [0]}, "threads"),
        ({"difference": "2"}, "difference"),
        ({"difference": "nan"}, "difference"),
        ({"power": "0.95"}, "power"),
        ({"repetitions": "3"}, "repetitions"),
    ],
)
def test_the_api_refuses_by_field(engineer: Client, able: None, change: dict[str, Any], field: str) -> None:
    asked: dict[str, Any] = {"system": ["a", "b"], "workload": [a_workload().pk], "threads": [1], "duration": 5}
    answer = engineer.get(ADDRESS, asked | change)
    assert answer.status_code in (400, 422), answer.content
    assert [error["field"] for error in answer.json()["errors"]] == [field]
