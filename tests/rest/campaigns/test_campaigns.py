"""Planning, following and cancelling campaigns over HTTP; the agents' list."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from apps.catalog.services import workload_for
from apps.dispatch import api as dispatch
from apps.dispatch import queries
from apps.dispatch.campaigns import plan as campaigns_plan
from apps.dispatch.models import Agent, Campaign, Job
from tests.support.builders import a_campaign as planned
from tests.support.builders import a_system, a_workload
from workers import tasks

ADDRESS = "/api/v1/campaigns/"


@pytest.fixture(autouse=True)
def enqueued(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the tasks that were given to the broker, which is not asked here."""
    names: list[str] = []

    def enqueue(task: Any, **_: Any) -> bool:
        names.append(task.name)
        return True

    monkeypatch.setattr(tasks, "enqueue", enqueue)
    return names


def a_plan(**changes: Any) -> dict[str, Any]:
    plan: dict[str, Any] = {
        "name": "flush at commit",
        "systems": [a_system().slug, a_system().slug],
        "workloads": [a_workload().pk],
        "load_levels": [{"threads": 1}, {"threads": 8, "rate": 200}],
        "repetitions": 2,
        "warmup": 1,
        "duration": 3,
    }
    return plan | changes


def a_campaign() -> Campaign:
    return planned(a_system(), a_system())


def test_a_plan_becomes_interleaved_jobs_and_is_matched_at_once(engineer: APIClient, enqueued: list[str]) -> None:
    plan = a_plan()
    answer = engineer.post(ADDRESS, plan, format="json")
    assert answer.status_code == 201, answer.content
    first, second = plan["systems"]
    assert [job["system"]["slug"] for job in answer.json()["jobs"]] == [first, second, second, first]
    assert answer.json()["progress"]["runs"] == 8
    assert enqueued == [tasks.match_jobs.name]
    assert engineer.get(answer["Location"]).json()["id"] == answer.json()["id"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"systems": ["nowhere"]}, "systems.0"),
        ({"systems": []}, "systems"),
        ({"systems": "abc"}, "systems"),
        ({"workloads": [10**9]}, "workloads.0"),
        ({"workloads": [10**30]}, "workloads.0"),
        ({"load_levels": [{"threads": 0}]}, "load_levels.0.threads"),
        ({"load_levels": [{"threads": 1, "rate": -1}]}, "load_levels.0.rate"),
        ({"load_levels": [1]}, "load_levels.0"),
        ({"repetitions": 0}, "repetitions"),
        ({"repetitions": campaigns_plan.MAX_REPETITIONS + 1}, "repetitions"),
        ({"warmup": campaigns_plan.MAX_WARMUP + 1}, "warmup"),
        ({"duration": campaigns_plan.MAX_DURATION + 1}, "duration"),
        ({"duration": 0}, "duration"),
        ({"duration": "infinity"}, "duration"),
        ({"warmup": True}, "warmup"),
        ({"name": ""}, "name"),
        ({"durations": 3}, "durations"),
        ({"until": "0.0", "repetitions": 5}, "until"),
    ],
)
def test_a_plan_that_cannot_be_run_is_refused_by_field(engineer: APIClient, change: dict[str, Any], field: str) -> None:
    answer = engineer.post(ADDRESS, a_plan(**change), format="json")
    assert answer.status_code == 422, answer.content
    assert [error["field"] for error in answer.json()["errors"]] == [field]
    assert not Campaign.objects.exists()


def test_a_plan_whose_answer_cannot_be_made_leaves_no_campaign(
    engineer: APIClient, enqueued: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caller sends it again: that must not make two."""

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("cannot be read")

    plan = a_plan()
    with monkeypatch.context() as reading:
        reading.setattr(queries, "load_campaign", broken)
        failed = engineer.post(ADDRESS, plan, format="json")
    assert (failed.status_code, failed["Content-Type"]) == (500, "application/problem+json")
    assert not Campaign.objects.exists()
    assert enqueued == []
    assert engineer.post(ADDRESS, plan, format="json").status_code == 201


def test_a_failover_is_planned_once_whatever_load_levels_the_plan_has(engineer: APIClient) -> None:
    failover = workload_for(tool="failover", parameters={})
    answer = engineer.post(ADDRESS, a_plan(workloads=[failover.pk]), format="json").json()
    assert (answer["load_levels"], answer["progress"]["runs"]) == (["1 thread"], 4)


def test_planning_and_cancelling_need_an_engineer(anyone: APIClient, reader: APIClient) -> None:
    campaign = a_campaign()
    job = campaign.jobs.first()
    assert job is not None
    for address in (ADDRESS, f"{ADDRESS}{campaign.pk}/cancel", f"/api/v1/jobs/{job.pk}/cancel"):
        assert [client.post(address, {}, format="json").status_code for client in (anyone, reader)] == [401, 403]
    assert set(Job.objects.values_list("state", flat=True)) == {"queued"}


def test_campaigns_come_newest_first_in_pages(anyone: APIClient) -> None:
    made = [a_campaign().pk for _ in range(3)]
    first = anyone.get(f"{ADDRESS}?limit=2").json()
    second = anyone.get(first["next"]).json()
    pages = [[entry["id"] for entry in page["results"]] for page in (first, second)]
    assert pages == [made[:0:-1], made[:1]]
    assert second["next"] is None


@pytest.mark.parametrize("address", [ADDRESS, "/api/v1/agents/"])
def test_a_list_costs_the_same_whatever_its_length(anyone: APIClient, address: str) -> None:
    def ask() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert anyone.get(address).status_code == 200
        return len(queries)

    def grow() -> None:
        campaign = a_campaign()
        agent, _ = dispatch.register_agent(name=f"agent-{campaign.pk}")
        labels = [f"system:{system.slug}" for system in campaign.systems.all()]
        Agent.objects.filter(pk=agent.pk).update(last_seen_at=timezone.now(), labels=labels)
        dispatch.match_jobs(now=timezone.now())
        assert dispatch.claim(agent=agent, now=timezone.now()) is not None

    grow()
    few = ask()
    for _ in range(3):
        grow()
    assert ask() == few


def test_cancelling_says_what_it_did(engineer: APIClient) -> None:
    campaign = a_campaign()
    job = campaign.jobs.first()
    assert job is not None
    one = engineer.post(f"/api/v1/jobs/{job.pk}/cancel")
    assert (one.status_code, one.json()["state"]) == (200, "cancelled")
    rest = engineer.post(f"{ADDRESS}{campaign.pk}/cancel").json()
    again = engineer.post(f"{ADDRESS}{campaign.pk}/cancel").json()
    assert (rest["changed"], again["changed"]) == (True, False)
    assert anyone_reads(engineer, campaign.pk)["progress"]["jobs_cancelled"] == 2


def anyone_reads(client: APIClient, campaign_id: int) -> dict[str, Any]:
    document: dict[str, Any] = client.get(f"{ADDRESS}{campaign_id}/").json()
    return document


@pytest.mark.parametrize(
    ("method", "address"),
    [
        ("get", "campaigns/999/"),
        ("get", "campaigns/99999999999999999999999999/"),
        ("post", "campaigns/999/cancel"),
        ("post", "jobs/999/cancel"),
        ("post", "jobs/99999999999999999999999999/cancel"),
    ],
)
def test_what_is_not_there_is_404(engineer: APIClient, method: str, address: str) -> None:
    answer = getattr(engineer, method)(f"/api/v1/{address}")
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")


def test_an_agent_is_shown_with_what_it_reaches_and_does(anyone: APIClient) -> None:
    campaign = a_campaign()
    agent, _ = dispatch.register_agent(name="beside-the-database")
    slugs = sorted(system.slug for system in campaign.systems.all())
    Agent.objects.filter(pk=agent.pk).update(
        last_seen_at=timezone.now(), labels=[f"system:{slug}" for slug in slugs], health={"spool_bytes": 12}
    )
    gone, _ = dispatch.register_agent(name="a-silent-one")
    Agent.objects.filter(pk=gone.pk).update(last_seen_at=timezone.now() - timedelta(hours=1))
    dispatch.match_jobs(now=timezone.now())
    dispatch.claim(agent=agent, now=timezone.now())
    alive, silent = anyone.get("/api/v1/agents/").json()["results"]
    assert (alive["name"], alive["systems"], alive["spool_bytes"]) == (agent.name, slugs, 12)
    assert alive["job"]["state"] == "running"
    assert (silent["name"], silent["is_alive"], silent["job"]) == ("a-silent-one", False, None)
