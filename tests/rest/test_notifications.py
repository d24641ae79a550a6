"""Teams, subscriptions and deliveries through the REST API."""

from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from apps.notifications import collect
from apps.notifications.models import Delivery
from tests.notifications.made import a_finding, a_note
from tests.support.builders import a_token, a_user

pytestmark = pytest.mark.django_db
API = "/api/v1/"
HOOK = {"kind": "webhook", "address": "https://example.com/hook", "events": ["found"]}


def a_team(engineer: APIClient, name: str = "storage") -> int:
    a_user(username=f"of-{name}", email=f"{name}@example.com")
    answer = engineer.post(f"{API}teams/", {"name": name, "members": [f"of-{name}"]}, format="json")
    assert answer.status_code == 201
    return int(answer.json()["id"])


def test_a_team_is_made_changed_and_deleted(engineer: APIClient) -> None:
    team = a_team(engineer)
    assert engineer.get(f"{API}teams/{team}/").json() == {
        "id": team,
        "name": "storage",
        "size": 1,
        "members": ["of-storage"],
        "mute": [],
    }
    again = engineer.post(f"{API}teams/", {"name": "storage"}, format="json")
    assert (again.status_code, again.json()["errors"][0]["field"]) == (422, "name")
    unknown = engineer.put(f"{API}teams/{team}/", {"name": "disks", "members": ["nobody?"]}, format="json")
    assert unknown.json()["errors"][0]["message"] == "unknown users: nobody?"
    assert engineer.put(f"{API}teams/{team}/", {"name": "disks", "members": []}, format="json").json()["members"] == []
    assert [each["name"] for each in engineer.get(f"{API}teams/").json()["results"]] == ["disks"]
    assert engineer.delete(f"{API}teams/{team}/").status_code == 204
    assert engineer.get(f"{API}teams/{team}/").status_code == 404


def test_a_subscription_is_made_changed_tested_and_deleted(
    engineer: APIClient, enqueued: list[tuple[str, dict[str, Any]]]
) -> None:
    team = a_team(engineer)
    made = engineer.post(f"{API}subscriptions/", {"team": team, **HOOK, "asks": {"smallest": 0.05}}, format="json")
    assert made.status_code == 201
    body = made.json()
    assert (body["digest"], body["zone"], body["asks"], len(body["secret"])) == (
        "at once",
        "UTC",
        {"smallest": 0.05},
        43,
    )
    address = f"{API}subscriptions/{body['id']}/"
    changed = engineer.put(
        address, {"team": team, **HOOK, "digest": "weekly", "zone": "Asia/Tokyo"}, format="json"
    ).json()
    assert (changed["digest"], changed["zone"], changed["secret"]) == ("weekly", "Asia/Tokyo", body["secret"])
    tested = engineer.post(f"{address}test")
    assert tested.status_code == 202
    (delivery,) = tested.json()
    assert (delivery["is_test"], delivery["state"]) == (True, "waiting")
    assert enqueued == [("send_delivery", {"delivery_id": delivery["id"]})]
    assert engineer.delete(address).status_code == 204
    assert engineer.get(f"{API}subscriptions/").json()["results"] == []


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"kind": "pigeon"}, "kind"),
        ({"address": "http://127.0.0.1/"}, "address"),
        ({"events": []}, "events"),
        ({"events": ["assigned"]}, "events.0"),
        ({"asks": {"owner": "me"}}, "asks.owner"),
        ({"asks": {"state": "lost"}}, "asks.state"),
        ({"asks": {"colour": "red"}}, "asks.colour"),
        ({"asks": {"platform": "misspelt"}}, "asks.platform"),
        ({"asks": {"hardware": "misspelt"}}, "asks.hardware"),
        ({"zone": "Mars"}, "zone"),
        ({"hour": 24}, "hour"),
        ({"secret": "short"}, "secret"),
        ({"team": 999999}, "team"),
        ({"addres": "x"}, "addres"),
    ],
)
def test_what_is_wrong_is_named(engineer: APIClient, wrong: dict[str, Any], field: str) -> None:
    answer = engineer.post(f"{API}subscriptions/", {"team": a_team(engineer), **HOOK, **wrong}, format="json")
    assert answer.status_code == 422
    assert [error["field"] for error in answer.json()["errors"]] == [field]


def test_deliveries_are_listed_read_and_tried_again(
    engineer: APIClient, enqueued: list[tuple[str, dict[str, Any]]]
) -> None:
    team = a_team(engineer)
    for _ in range(3):
        engineer.post(f"{API}subscriptions/", {"team": team, **HOOK}, format="json")
    finding = a_finding()
    a_note(finding)
    collect.collect()
    collect.bundle(now=timezone.now())
    page = engineer.get(f"{API}deliveries/?limit=2").json()
    rest = engineer.get(page["next"]).json()
    assert (len(page["results"]), len(rest["results"]), rest["next"]) == (2, 1, None)
    first = rest["results"][0]
    assert first["findings"] == [{"id": finding.pk, "title": finding.title}]
    Delivery.objects.filter(pk=first["id"]).update(given_up_at=timezone.now(), attempts=8, answer="500 broken")
    (given_up,) = engineer.get(f"{API}deliveries/?state=given up").json()["results"]
    assert (given_up["id"], given_up["answer"]) == (first["id"], "500 broken")
    again = engineer.post(f"{API}deliveries/{first['id']}/retry")
    assert (again.status_code, again.json()["state"], again.json()["given_up_at"]) == (202, "waiting", None)
    assert '"findings"' in again.json()["said"]
    assert engineer.get(f"{API}deliveries/?state=lost").status_code == 400


def test_readers_read_without_secrets_and_change_only_their_own_address(engineer: APIClient, reader: APIClient) -> None:
    team = a_team(engineer)
    engineer.post(f"{API}subscriptions/", {"team": team, **HOOK}, format="json")
    (row,) = reader.get(f"{API}subscriptions/").json()["results"]
    assert (row["secret"], row["address"]) == ("", "https://example.com/…")
    assert reader.post(f"{API}teams/", {"name": "x"}, format="json").status_code == 403
    assert reader.put(f"{API}own-address", {"address": "r@example.com"}, format="json").json() == {
        "address": "r@example.com"
    }
    assert reader.get(f"{API}own-address").json() == {"address": "r@example.com"}
    assert reader.put(f"{API}own-address", {"address": "r"}, format="json").json()["errors"][0]["field"] == "address"


@pytest.mark.parametrize("role", ["engineer", "administrator"])
@pytest.mark.parametrize(("scope", "may_see"), [("read", False), ("submit", False), ("review", True)])
def test_secrets_are_read_by_tokens_that_may_change_them(
    engineer: APIClient, role: str, scope: str, may_see: bool, enqueued: list[Any]
) -> None:
    made = engineer.post(f"{API}subscriptions/", {"team": a_team(engineer), **HOOK}, format="json").json()
    engineer.post(f"{API}subscriptions/{made['id']}/test")
    client = APIClient(HTTP_AUTHORIZATION=f"Token {a_token(a_user(role=role), 'ci', scope=scope)[1]}")
    (listed,) = client.get(f"{API}subscriptions/").json()["results"]
    read = client.get(f"{API}subscriptions/{made['id']}/").json()
    (delivery,) = client.get(f"{API}deliveries/").json()["results"]
    one = client.get(f"{API}deliveries/{delivery['id']}/").json()
    address = HOOK["address"] if may_see else "https://example.com/…"
    assert {each["secret"] for each in (listed, read)} == {made["secret"] if may_see else ""}
    assert {each["address"] for each in (listed, read, delivery, one)} == {address}


def test_strangers_read_no_names_of_members(engineer: APIClient, anyone: APIClient) -> None:
    a_team(engineer)
    (team,) = anyone.get(f"{API}teams/").json()["results"]
    assert (team["size"], team["members"], team["mute"]) == (1, [], [])


def test_a_delivery_to_a_person_is_read_by_that_person_and_administrators(
    engineer: APIClient, reader: APIClient, anyone: APIClient
) -> None:
    bob = a_user(username="bob", email="bob@example.com")
    a_note(a_finding(), "comment", by=a_user(), text="for @bob").mentions.set([bob])
    collect.collect()
    collect.bundle(now=timezone.now())
    address = f"{API}deliveries/{Delivery.objects.get().pk}/"
    for client in (engineer, reader, anyone):
        assert client.get(address).status_code == 404
        assert client.get(f"{API}deliveries/").json()["results"] == []
    assert engineer.post(f"{address}retry").status_code == 404
    for viewer in (bob, a_user(role="administrator")):
        client = APIClient()
        client.force_authenticate(viewer)
        assert "for @bob" in client.get(address).json()["said"]
        assert len(client.get(f"{API}deliveries/").json()["results"]) == 1


def test_a_subscription_that_reaches_nobody_says_so(engineer: APIClient) -> None:
    team = engineer.post(f"{API}teams/", {"name": "empty"}, format="json").json()["id"]
    body = {"team": team, "kind": "e-mail", "events": ["found"]}
    made = engineer.post(f"{API}subscriptions/", body, format="json").json()
    assert made["lacks"] == "no member of empty has an e-mail address yet"
    (listed,) = engineer.get(f"{API}subscriptions/").json()["results"]
    assert listed["lacks"] == made["lacks"]


def test_strangers_have_no_address_of_their_own(anyone: APIClient) -> None:
    assert anyone.get(f"{API}own-address").status_code == 401


def test_a_team_is_not_renamed_without_its_members(engineer: APIClient) -> None:
    made = engineer.post(f"{API}teams/", {"name": "storage", "members": []}, format="json").json()
    answer = engineer.put(f"{API}teams/{made['id']}/", {"name": "stores"}, format="json")
    assert answer.status_code == 422
    assert [each["field"] for each in answer.json()["errors"]] == ["members"]
