"""A campaign file sent to the API is planned, or refused with every problem by its path in the file."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.test import APIClient

from apps.dispatch.campaigns import file as campaigns_file
from apps.dispatch.models import Campaign
from tests.dispatch.campaigns.test_file import WHOLE
from tests.rest.framework.test_fuzz import FEW, JSON, check
from tests.support.builders import a_system, a_user
from workers import tasks

ADDRESS = "/api/v1/campaigns/files/"
PATHS = st.sampled_from(
    [
        *(
            (name,)
            for name in ("name", "systems", "repetitions", "warmup", "duration", "load_levels", "workloads", "x")
        ),
        *(
            ("workloads", 0, name)
            for name in ("tool", "name", "parameters", "systems", "load_levels", "climb", "storm")
        ),
        *(("workloads", 0, name) for name in ("warmup", "duration", "y")),
        *(("workloads", 0, "climb", name) for name in ("from", "to", "factor", "stop", "least_gain")),
        *(("workloads", 0, "storm", name) for name in ("base", "factors")),
        ("workloads", 0, "parameters", "tables"),
        ("workloads", 0, "load_levels", 0),
    ]
)


@pytest.fixture(autouse=True)
def enqueued(db: None, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    names: list[str] = []

    def enqueue(task: Any, **_: Any) -> bool:
        names.append(task.name)
        return True

    monkeypatch.setattr(tasks, "enqueue", enqueue)
    a_system("a"), a_system("b")
    return names


def send(client: APIClient, body: str | bytes, content_type: str = "application/yaml") -> Any:
    return client.post(ADDRESS, body, content_type=content_type)


@pytest.mark.parametrize("content_type", ["application/yaml", "text/plain", "application/x-www-form-urlencoded"])
def test_a_file_is_planned_whatever_its_type_is_called(
    engineer: APIClient, enqueued: list[str], content_type: str
) -> None:
    answer = send(engineer, WHOLE, content_type)
    assert answer.status_code == 201, answer.content
    entries = answer.json()["entries"]
    assert [entry["load_levels"][0] for entry in entries] == ["1 thread", "1 thread", "8 threads", "2 threads"]
    assert entries[1]["climbs"] == "until more threads gain less than 5 % of throughput, or connections are refused"
    assert entries[2]["climbs"] == "until connections are refused"
    assert (entries[1]["duration"], answer.json()["duration"]) == (3, None)
    assert enqueued == [tasks.match_jobs.name]
    assert engineer.get(answer["Location"]).json()["id"] == answer.json()["id"]


def test_every_problem_is_named_by_its_path(engineer: APIClient) -> None:
    answer = send(engineer, WHOLE.replace("repetitions: 2", "repetitions: 0").replace("[a, b]", "[a, x]"))
    assert answer.status_code == 422
    assert [error["field"] for error in answer.json()["errors"]] == [
        "repetitions",
        "systems.1",
        "workloads.2.systems.0",
    ]
    assert all(error["remedy"] for error in answer.json()["errors"])
    assert not Campaign.objects.exists()


def test_starting_needs_an_engineer(anyone: APIClient, reader: APIClient) -> None:
    assert [send(client, WHOLE).status_code for client in (anyone, reader)] == [401, 403]


def test_a_file_that_is_too_large_is_not_read(engineer: APIClient) -> None:
    assert send(engineer, b"x" * (campaigns_file.LARGEST + 1)).status_code == 413


def test_anyone_may_read_the_schema(anyone: APIClient) -> None:
    assert anyone.get("/api/v1/campaigns/file-schema/").json() == campaigns_file.SCHEMA


@FEW
@given(path=PATHS, value=JSON)
def test_any_value_anywhere_in_a_file(path: tuple[str | int, ...], value: Any) -> None:
    client = APIClient(raise_request_exception=False)
    client.force_authenticate(a_user())
    parameters = {"test": "oltp_insert", "tables": 1, "table_size": 100}
    file: Any = {
        "name": "x",
        "systems": ["a"],
        "duration": 1,
        "workloads": [{"tool": "sysbench", "parameters": parameters, "load_levels": [1]}],
    }
    entry = file["workloads"][0]
    if "climb" in path:
        entry["climb"] = {"to": 4}
    if "storm" in path:
        entry["storm"] = {"base": 1, "factors": [1]}
    if "climb" in path or "storm" in path:
        del entry["load_levels"]
    inside = file
    for part in path[:-1]:
        inside = inside[part]
    inside[path[-1]] = value
    check(send(client, json.dumps(file), "application/json"), whole=True)
