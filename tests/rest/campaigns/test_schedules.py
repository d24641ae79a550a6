"""Schedules through the API: made, changed, paused, begun by hand, archived; what became of each time."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from apps.dispatch.models import Campaign, Schedule, ScheduledRun
from apps.dispatch.schedules import services
from apps.regressions.findings import missing_results
from tests.dispatch.schedules.scheduled import PLAN, a_schedule, end_jobs
from tests.rest.framework.test_fuzz import check
from tests.support.builders import a_system

ADDRESS = "/api/v1/schedules/"
NOW = timezone.now()
pytestmark = pytest.mark.usefixtures("enqueued")


def body(**fields: Any) -> dict[str, Any]:
    return {"name": "nightly", "plan": PLAN, "cron": "30 2 * * *", "zone": "Europe/Berlin", **fields}


def test_a_schedule_is_made_read_and_listed(engineer: APIClient) -> None:
    a_system("a"), a_system("b")
    made = engineer.post(ADDRESS, body(), format="json")
    assert made.status_code == 201, made.content
    read = engineer.get(made.headers["Location"]).json()
    assert read == made.json()
    assert (read["state"], read["words"], read["patience"]) == ("on", "At 02:30 every day", 12.0)
    assert (read["plan"], len(read["coming"]), read["slots"]) == (PLAN, 5, [])
    assert read["next_at"] == read["coming"][0]
    (listed,) = engineer.get(ADDRESS).json()["results"]
    assert listed == {name: read[name] for name in listed}


def test_everything_that_is_wrong_is_named_and_nothing_is_kept(engineer: APIClient) -> None:
    a_system("a")
    answer = engineer.post(ADDRESS, body(cron="1 2 3", zone="Mars", patience=0), format="json")
    assert answer.status_code == 422
    fields = [problem["field"] for problem in answer.json()["errors"]]
    assert fields == ["cron", "zone", "patience", "plan.systems.1"]
    assert engineer.post(ADDRESS, body(when="now"), format="json").status_code == 422
    assert not Schedule.objects.exists()


def test_readers_may_only_read(reader: APIClient) -> None:
    address = f"{ADDRESS}{a_schedule().pk}/"
    assert reader.get(address).status_code == 200
    answers = [reader.post(ADDRESS, body(), format="json"), reader.delete(address), reader.post(f"{address}pause")]
    assert {answer.status_code for answer in answers} == {403}


def test_it_is_edited_paused_resumed_and_archived(engineer: APIClient) -> None:
    address = f"{ADDRESS}{a_schedule().pk}/"
    assert engineer.put(address, body(cron="0 5 * * *"), format="json").json()["words"] == "At 05:00 every day"
    assert engineer.post(f"{address}pause").json()["state"] == "paused"
    assert engineer.post(f"{address}resume").json()["state"] == "on"
    assert engineer.delete(address).json()["state"] == "archived"
    assert engineer.post(f"{address}resume").status_code == 422
    assert engineer.get(ADDRESS).json()["results"] == []
    assert len(engineer.get(f"{ADDRESS}?archived=true").json()["results"]) == 1


def test_the_later_of_two_edits_is_refused_with_the_first(engineer: APIClient) -> None:
    address = f"{ADDRESS}{a_schedule().pk}/"
    seen = engineer.get(address).json()["seen"]
    first = engineer.put(address, body(cron="0 5 * * *", seen=seen), format="json")
    assert first.status_code == 200, first.content
    second = engineer.put(address, body(cron="0 6 * * *", seen=seen), format="json")
    assert (second.status_code, second.json()["errors"][0]["field"]) == (409, "seen")
    assert Schedule.objects.get().cron == "0 5 * * *"
    assert engineer.put(address, body(seen=first.json()["seen"]), format="json").status_code == 200


def test_run_begins_its_campaign_once(engineer: APIClient, enqueued: list[tuple[str, Any]]) -> None:
    address = f"{ADDRESS}{a_schedule().pk}/run"
    answer = engineer.post(address)
    assert answer.status_code == 201
    assert answer.json()["slots"][0]["campaign"] == Campaign.objects.get().pk
    assert enqueued == [("match_jobs", {})]
    assert engineer.post(address).status_code == 422


def test_scheduled_runs_are_listed_page_by_page_with_their_reasons(engineer: APIClient) -> None:
    schedule = a_schedule(next_at=NOW)
    services.start_due(now=NOW)
    end_jobs("failed", reason="disk full")
    missing_results.look(now=NOW + timedelta(hours=1))
    ScheduledRun.objects.create(schedule=schedule, due_at=NOW + timedelta(days=1), state="not started", reason="away")
    address = f"{ADDRESS}{schedule.pk}/slots/?limit=1"
    page = engineer.get(address).json()
    assert [(slot["state"], slot["reasons"]) for slot in page["results"]] == [("not started", ["away"])]
    (slot,) = engineer.get(page["next"]).json()["results"]
    assert (slot["state"], slot["jobs"], slot["jobs_ended"], slot["jobs_succeeded"]) == ("missing", 2, 2, 0)
    assert "disk full" in slot["reasons"][0]


@pytest.mark.parametrize("path", ["77/", "77/slots/"])
def test_what_there_is_not_is_not_found(engineer: APIClient, path: str) -> None:
    assert engineer.get(f"{ADDRESS}{path}").status_code == 404


@pytest.mark.parametrize("action", ["pause", "resume", "run"])
def test_nothing_is_done_to_what_there_is_not(engineer: APIClient, action: str) -> None:
    assert engineer.post(f"{ADDRESS}77/{action}").status_code == 404


ODD: tuple[Any, ...] = ("\0", "\ud800", "x" * 300_000, 1e308, [], None, "* * * * * *", "0 0 L/0 * 1#9", "a\x85b")


@pytest.mark.parametrize("field", ["name", "plan", "cron", "zone", "patience"])
def test_odd_values_are_refused_by_a_problem(engineer: APIClient, field: str) -> None:
    a_system("a"), a_system("b")
    for value in ODD:
        answer = engineer.post(ADDRESS, json.dumps(body(**{field: value})), content_type="application/json")
        check(answer)
        assert answer.status_code in (201, 400, 422), value
