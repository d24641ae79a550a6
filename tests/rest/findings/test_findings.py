"""Findings through the API: asked for, reviewed, measured again."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from apps.accounts.models import User
from apps.dispatch.models import Campaign
from apps.regressions.api import filters
from tests.regressions.a_finding import a_finding, a_pair
from tests.support.builders import a_user

URL = "/api/v1/findings/"


@pytest.fixture
def alice(db: None) -> APIClient:
    client = APIClient()
    client.force_authenticate(a_user(username="alice"))
    return client


def _do(client: APIClient, method: str, address: str, status: int = 200, **body: Any) -> Any:
    answer = getattr(client, method)(f"{URL}{address}", body, format="json")
    assert answer.status_code == status, answer.content
    return answer.json() if answer.content else None


def test_a_finding_is_reviewed_from_found_to_accepted(alice: APIClient) -> None:
    finding = a_finding("oltp_write_only", "oltp_insert")
    (row,) = _do(alice, "get", "")["results"]
    assert (row["id"], row["release"], row["verdict"], row["changes_holding"]) == (finding.pk, "10.11.20", "worse", 2)
    assert row["shown"]["words"].startswith("−12 % [−14 %, −9.0 %]: 100 transactions/s")
    one = f"{finding.pk}/"
    _do(alice, "put", f"{one}owner", owner="alice", seen=row["seen"])
    _do(alice, "put", f"{one}state", state="confirmed", reason="three machines agree")
    _do(alice, "put", f"{one}due", due_on=str(timezone.localdate() + timedelta(days=1)))
    _do(alice, "put", f"{one}labels", labels=["redo"])
    assert _do(alice, "post", f"{one}comments", 201, text="@alice @alcie look")["not_told"] == ["alcie"]
    linked = _do(alice, "post", f"{one}links", 201, url="https://jira.mariadb.org/browse/MDEV-1")
    _do(alice, "delete", f"{one}links/{linked['links'][0]['id']}", 204)
    accepted = _do(alice, "put", f"{one}acceptance", reason="known", until="2099-12-31")
    assert (accepted["state"], accepted["accepted_until"], accepted["owner"]) == ("accepted", "2099-12-31", "alice")
    assert (accepted["may_reopen"], accepted["comments"], accepted["links"]) == (True, 1, [])
    assert [note["what"] for note in accepted["notes"]] == [
        *("found", "owner", "state", "due", "labels", "comment", "link", "unlink", "state")
    ]
    assert accepted["notes"][5]["mentions"] == ["alice"]
    assert _do(alice, "post", f"{one}reopen", reason="worse")["state"] == "new"


def test_the_later_of_two_programs_is_refused(alice: APIClient) -> None:
    finding = a_finding()
    seen = _do(alice, "get", f"{finding.pk}/")["seen"]
    _do(alice, "put", f"{finding.pk}/state", state="fixed", seen=seen)
    refused = _do(alice, "put", f"{finding.pk}/owner", 409, owner=None, seen=seen)
    assert refused["errors"][0] == {"field": "seen", "message": "alice set it from new to fixed"}


def test_findings_are_merged_split_and_measured_again(alice: APIClient) -> None:
    first, second = a_finding("oltp_write_only", "oltp_insert"), a_finding(pair=a_pair(version="10.11.21"))
    merged = _do(alice, "post", f"{second.pk}/merge", into=first.pk)
    assert (merged["id"], len(merged["changes"]), merged["merged"][0]["id"]) == (first.pk, 3, second.pk)
    moved = next(change["id"] for change in merged["changes"] if change["workload"]["name"] == "oltp_insert")
    made = _do(alice, "post", f"{first.pk}/split", 201, changes=[moved])
    assert [change["id"] for change in made["changes"]] == [moved]
    plan = _do(alice, "get", f"{made['id']}/repetitions")
    assert (plan["repetitions"], plan["runs"], plan["under_way"]) == (3, 6, None)
    assert plan["entries"][0]["workload"] == "oltp_insert"
    asked = _do(alice, "post", f"{made['id']}/repetitions", 201, repetitions=4)
    campaign = Campaign.objects.get()
    assert (asked["repetitions"][0]["campaign"], campaign.repetitions) == (campaign.pk, 4)
    assert asked["repetitions"][0]["progress"]["runs"] == 8
    _do(alice, "post", f"{made['id']}/repetitions", 422)


@pytest.mark.parametrize(
    ("method", "action", "body", "status", "field"),
    [
        ("put", "state", {"state": "verify"}, 422, "state"),
        ("put", "state", {"state": "solved"}, 422, "state"),
        ("put", "state", {"state": "fixed", "why": "?"}, 422, "why"),
        ("put", "acceptance", {"until": "2020-01-01", "reason": "known"}, 422, "until"),
        ("put", "acceptance", {"until": "2099-01-01", "reason": ""}, 422, "reason"),
        ("put", "owner", {"owner": "nobody.at.all"}, 422, "owner"),
        ("put", "owner", {"owner": None, "seen": "yesterday"}, 422, "seen"),
        ("put", "due", {"due_on": "2020-01-01"}, 422, "due_on"),
        ("put", "due", {"due_on": "9999-01-01"}, 422, "due_on"),
        ("put", "labels", {"labels": ["a,b"]}, 422, "labels"),
        ("post", "comments", {"text": " "}, 422, "text"),
        ("post", "links", {"url": "javascript:alert(1)"}, 422, "url"),
        ("post", "merge", {"into": 999_999}, 422, "into"),
        ("post", "split", {"changes": [999_999]}, 422, "changes"),
        ("post", "repetitions", {"repetitions": 1000}, 422, "repetitions"),
        ("post", "reopen", {}, 422, "state"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(
    alice: APIClient, method: str, action: str, body: dict[str, Any], status: int, field: str
) -> None:
    finding = a_finding()
    refused = _do(alice, method, f"{finding.pk}/{action}", status, **body)
    assert field in [error["field"] for error in refused["errors"]]
    assert finding.notes.count() == 1


def test_what_is_not_there_is_said(alice: APIClient) -> None:
    _do(alice, "get", "99/", 404)
    _do(alice, "put", "99/owner", 404, owner=None)
    _do(alice, "get", "99/repetitions", 404)


def test_readers_read_and_do_nothing_else(reader: APIClient, anyone: APIClient) -> None:
    finding = a_finding()
    assert _do(anyone, "get", f"{finding.pk}/")["state"] == "new"
    _do(reader, "put", f"{finding.pk}/owner", 403, owner=None)
    _do(reader, "post", f"{finding.pk}/comments", 403, text="hm")


def test_a_list_is_narrowed_paged_and_costs_the_same_whatever_its_length(
    alice: APIClient, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    mine = a_finding(owner=User.objects.get(username="alice"))
    for number in (21, 22):
        a_finding(pair=a_pair(version=f"10.11.{number}"), ratio=0.5)
    assert [row["id"] for row in _do(alice, "get", "?owner=me&state=open&state=fixed&smallest=0.1")["results"]] == [
        mine.pk
    ]
    with django_assert_num_queries(3):
        page = _do(alice, "get", "?limit=2&sort=newest")
    assert [row["release"] for row in page["results"]] == ["10.11.22", "10.11.21"]
    rest = alice.get(page["next"]).json()
    assert [row["id"] for row in rest["results"]] == [mine.pk]
    assert rest["next"] is None
    refused = _do(alice, "get", "?stat=new&sort=date&cursor=0", 400)
    assert {error["field"] for error in refused["errors"]} >= {"stat"}
    assert _do(alice, "get", "?cursor=99999", 400)["errors"][0]["field"] == "cursor"
    for sort in filters.SORTS:
        page = _do(alice, "get", f"?limit=1&sort={sort}")
        rest = alice.get(page["next"]).json()
        assert len({row["id"] for row in page["results"] + rest["results"]}) == 2, sort
