"""Who sends too many requests a minute is answered 429, with the time to wait; all others are not hindered."""

import logging
from typing import Any

import pytest
import redis
from django.test import Client
from rest_framework.test import APIClient

from apps.core import limits
from apps.rest.framework import request_counts
from apps.rest.framework.request_counts import RequestCounter
from tests.support.builders import a_token, a_user, an_agent

TEAMS, CLAIM = "/api/v1/teams/", "/api/v1/agent/claim"
NOWHERE = "redis://127.0.0.1:1/0"


class Clock:
    now = 1_800_000_015.0  # a quarter of a minute has passed

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(request_counter: RequestCounter, monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Of the counts; the limits are as small as a test needs them."""
    found = Clock()
    monkeypatch.setattr(request_counter, "_clock", found)
    monkeypatch.setattr(limits, "REQUESTS", 3)
    monkeypatch.setattr(limits, "AGENT_REQUESTS", 3)
    monkeypatch.setattr(limits, "UNKNOWN_REQUESTS", 2)
    return found


def with_token(name: str = "nightly", **fields: Any) -> APIClient:
    return APIClient(HTTP_AUTHORIZATION=f"Token {a_token(a_user(), name)[1]}", **fields)


def statuses(client: Client, count: int, path: str = TEAMS, **fields: Any) -> list[int]:
    return [client.get(path, **fields).status_code for _ in range(count)]


def test_token_beyond_its_limit_waits_for_the_next_minute(db: None, clock: Clock) -> None:
    client = with_token()
    assert statuses(client, 3) == [200] * 3
    refused = client.get(TEAMS)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "45")
    assert refused.headers["Content-Type"] == "application/problem+json"
    problem = refused.json()
    assert problem["type"] == "urn:splashboard:problem:too-many-requests"
    assert problem["detail"].startswith("More than 3 requests a minute of the token 'nightly'.")
    assert "again in 45 s" in problem["detail"]
    clock.now += 45
    assert client.get(TEAMS).status_code == 200


def test_refused_write_has_changed_nothing(db: None, clock: Clock) -> None:
    client = with_token()
    statuses(client, 3)
    assert client.post(TEAMS, {"name": "late"}, format="json").status_code == 429
    clock.now += 60
    assert client.get(TEAMS).json()["results"] == []


def test_each_token_and_each_person_has_a_limit_of_its_own(db: None, clock: Clock) -> None:
    statuses(with_token(), 4)
    assert statuses(with_token(), 3) == [200] * 3
    person = Client()
    person.force_login(a_user())
    assert statuses(person, 4) == [200] * 3 + [429]


def test_agents_have_a_limit_of_their_own(db: None, clock: Clock) -> None:
    an_agent(secret="one"), an_agent(secret="two")
    one, two = (APIClient(HTTP_AUTHORIZATION=f"Agent {secret}") for secret in ("one", "two"))
    assert [one.post(CLAIM).status_code for _ in range(4)] == [204] * 3 + [429]
    assert two.post(CLAIM).status_code == 204


def test_unknown_are_counted_by_address(db: None, clock: Clock) -> None:
    assert statuses(APIClient(), 3, REMOTE_ADDR="192.0.2.1") == [200, 200, 429]
    assert statuses(APIClient(), 1, REMOTE_ADDR="192.0.2.2") == [200]
    assert statuses(with_token(), 1, REMOTE_ADDR="192.0.2.1") == [200]


def test_one_machine_has_one_count_for_all_its_ipv6_addresses(db: None, clock: Clock) -> None:
    seen = [statuses(APIClient(), 1, REMOTE_ADDR=f"2001:db8::{number:x}") for number in range(3)]
    assert seen == [[200], [200], [429]]
    assert statuses(APIClient(), 1, REMOTE_ADDR="2001:db8:0:1::1") == [200]


@pytest.mark.parametrize("header", ["Token wrong", "Agent wrong", "Token", ""])
def test_refused_credentials_are_counted_by_address(db: None, clock: Clock, settings: Any, header: str) -> None:
    settings.SPLASHBOARD_PUBLIC_READ = False
    path = CLAIM if header.startswith("Agent") else TEAMS
    client = APIClient(HTTP_AUTHORIZATION=header) if header else APIClient()
    assert [client.post(path).status_code for _ in range(4)] == [401, 401, 429, 429]
    assert statuses(with_token(), 1) == [200]


def test_health_is_answered_always(db: None, clock: Clock) -> None:
    assert statuses(APIClient(), 5, "/api/v1/health/") == [200] * 5


def test_all_processes_count_together(clock: Clock, request_counter: RequestCounter) -> None:
    other = RequestCounter(prefix=request_counter._prefix, clock=clock)
    assert [each.wait("x", limit=1) for each in (request_counter, other)] == [0, 45]


def test_counts_leave_valkey_by_themselves(clock: Clock, request_counter: RequestCounter, settings: Any) -> None:
    request_counter.wait("x", limit=1)
    client = request_counts._client(settings.REDIS_URL)
    (key,) = client.keys(f"{request_counter._prefix}:*")
    assert 0 < client.ttl(key) <= 120


def test_nothing_is_refused_without_valkey_and_the_log_says_so_once_a_minute(
    db: None, clock: Clock, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.REDIS_URL = NOWHERE
    client = with_token()
    with caplog.at_level(logging.WARNING, logger=request_counts.__name__):
        for _ in range(11):
            assert client.get(TEAMS).status_code == 200
            clock.now += 5.9
        assert len(caplog.records) == 1
        clock.now += 1
        assert client.get(TEAMS).status_code == 200
    assert [record.message.partition(":")[0] for record in caplog.records] == ["requests are not limited"] * 2


def test_valkey_that_does_not_answer_is_left_alone_for_a_while(
    clock: Clock, request_counter: RequestCounter, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def client_of(url: str) -> Any:
        asked.append(url)
        raise redis.TimeoutError

    monkeypatch.setattr(request_counts, "_client", client_of)
    for _ in range(5):
        assert request_counter.wait("x", limit=0) == 0
    clock.now += request_counts.LEFT_ALONE
    request_counter.wait("x", limit=0)
    assert len(asked) == 2


def test_a_clock_that_was_set_back_does_not_leave_requests_uncounted(db: None, clock: Clock, settings: Any) -> None:
    client, usual = with_token(), settings.REDIS_URL
    settings.REDIS_URL = NOWHERE
    assert client.get(TEAMS).status_code == 200
    settings.REDIS_URL = usual
    clock.now -= 7200
    assert statuses(client, 4) == [200] * 3 + [429]
