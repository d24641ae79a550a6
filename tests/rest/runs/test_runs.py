"""The list of runs, one run, and its raw files."""

import hashlib
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from apps.catalog.models import Platform
from apps.runs.models import Artifact, Run
from apps.runs.storage import artifacts
from tests.rest.submissions import ADDRESS, fields_of
from tests.runs.uploads import OUTPUT, an_open_run, an_upload
from tests.support.builders import START, a_load_level, a_measured_run, a_run, a_system, a_workload


def ids_of(client: APIClient, query: str = "") -> list[int]:
    answer = client.get(f"{ADDRESS}{query}")
    assert answer.status_code == 200, answer.content
    return [entry["id"] for entry in answer.json()["results"]]


def test_a_run_is_listed_with_its_headline_numbers_and_their_units(anyone: APIClient) -> None:
    run = a_measured_run({"client.throughput": 812.5, "client.latency.p95": 9.73}, tags=["nightly"])
    (entry,) = anyone.get(ADDRESS).json()["results"]
    assert (entry["id"], entry["system"], entry["tags"]) == (run.pk, run.system.slug, ["nightly"])
    assert (entry["throughput"], entry["throughput_unit"], entry["p95"]) == (812.5, "transactions/s", 9.73)
    assert entry["load_level"] == {"text": "4 threads", "threads": 4, "rate": None}
    assert entry["address"] == f"http://testserver/runs/{run.pk}/"
    assert anyone.get(entry["api"]).json()["id"] == run.pk


def test_what_was_not_measured_is_null_not_zero(anyone: APIClient) -> None:
    an_open_run()
    (entry,) = anyone.get(ADDRESS).json()["results"]
    assert (entry["throughput"], entry["p95"], entry["state"], entry["outcome"]) == (None, None, "open", "")


def test_each_filter_keeps_its_runs_and_no_others(anyone: APIClient) -> None:
    pxc = Platform.objects.create(slug="pxc", name="PXC")
    wanted = a_run(
        system=a_system("pxc-small", platform=pxc),
        workload=a_workload("oltp_read_only"),
        load_level=a_load_level(16),
        tags=["a", "b"],
        provenance="submitted",
        outcome="failed",
        reason="the server went away",
        started_at=START.replace(year=2027),
        ended_at=START.replace(year=2028),
    )
    a_run(tags=["a"])
    an_open_run()
    queries = [
        "platform=pxc",
        f"release={wanted.system.release_id}",
        "system=pxc-small",
        f"workload={wanted.workload_id}",
        "threads=16&threads=32",
        "outcome=failed",
        "provenance=submitted",
        "tag=a&tag=b",
        "since=2026-12-31T00:00:00Z",
        "q=pxc-small",
        "platform=pxc&state=sealed&state=ended",
    ]
    assert {query: ids_of(anyone, f"?{query}") for query in queries} == {query: [wanted.pk] for query in queries}
    assert len(ids_of(anyone, "?hardware=small")) == 3
    assert len(ids_of(anyone, "?until=2026-12-31T00:00:00Z")) == 2
    assert ids_of(anyone, "?platform=pxc&state=open") == []


def test_pages_follow_each_other_and_keep_the_filter(anyone: APIClient) -> None:
    runs = [a_run(tags=["kept"]).pk for _ in range(5)]
    a_run()
    seen, address = [], f"{ADDRESS}?tag=kept&limit=2"
    while address:
        page = anyone.get(address).json()
        seen.append([entry["id"] for entry in page["results"]])
        address = page["next"]
    assert seen == [[runs[4], runs[3]], [runs[2], runs[1]], [runs[0]]]


def test_the_list_costs_the_same_whatever_its_length(anyone: APIClient) -> None:
    def ask() -> int:
        with CaptureQueriesContext(connection) as queries:
            ids_of(anyone)
        return len(queries)

    a_measured_run({"client.throughput": 1.0})
    few = ask()
    for threads in range(5, 10):
        a_measured_run({"client.throughput": 1.0}, load_level=a_load_level(threads), system=a_system())
    assert ask() == few


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("?platfrom=pxc", "platfrom"),
        ("?state=sleeping", "state"),
        ("?platform=maraidb", "platform"),
        ("?system=nothing", "system"),
        ("?hardware=m5.xlagre", "hardware"),
        ("?release=9999999", "release"),
        ("?workload=9999999", "workload"),
        ("?release=x", "release"),
        ("?workload=99999999999999999999", "workload"),
        ("?since=yesterday", "since"),
        ("?until=9999-99-99", "until"),
        ("?limit=501", "limit"),
        ("?cursor=-1", "cursor"),
        ("?cursor=9999999", "cursor"),
        ("?cursor=9223372036854775808", "cursor"),
        ("?tag=%00", "tag"),
        ("?q=%00", "q"),
        ("?system=a%00", "system"),
        ("?hardware=%ff%00", "hardware"),
    ],
)
def test_a_wrong_filter_is_named(anyone: APIClient, query: str, field: str) -> None:
    answer = anyone.get(f"{ADDRESS}{query}")
    assert (answer.status_code, set(fields_of(answer))) == (400, {field})


def test_a_run_tells_what_was_run_on_what(anyone: APIClient) -> None:
    run = an_upload().send()
    detail = anyone.get(f"{ADDRESS}{run.pk}/").json()
    assert detail["uid"] == str(run.uid)
    assert detail["parameters"]["test"] == run.workload.parameters["test"]
    assert detail["system"]["hardware"]["vcpu"] == 2
    assert [node["variables"] for node in detail["nodes"]] == [{"port": "3306"}]
    assert (detail["state"], detail["provenance"]) == ("ended", "agent")


@pytest.mark.parametrize(
    "path", ["999/", "999/series/?metric=a", "999/series-index/", "999/artifacts/a", "9999999999999999999999/"]
)
def test_a_run_that_is_not_there_is_404(anyone: APIClient, path: str) -> None:
    answer = anyone.get(f"{ADDRESS}{path}")
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")


def artifact_of(run: Run) -> str:
    return f"{ADDRESS}{run.pk}/artifacts/sysbench.txt"


def test_a_raw_file_comes_back_byte_for_byte_under_its_hash(anyone: APIClient) -> None:
    answer = anyone.get(artifact_of(an_upload().send()))
    assert b"".join(answer) == OUTPUT
    assert answer["ETag"] == f'"{hashlib.sha256(OUTPUT).hexdigest()}"'
    assert answer["Content-Type"].startswith("text/plain")
    assert answer["Content-Disposition"].startswith("inline")
    assert answer["X-Content-Type-Options"] == "nosniff"
    answer.close()


def test_who_holds_the_file_gets_not_modified_without_its_bytes(anyone: APIClient) -> None:
    address = artifact_of(an_upload().send())
    etag = f'"{hashlib.sha256(OUTPUT).hexdigest()}"'
    answer = anyone.get(address, headers={"If-None-Match": etag})
    assert (answer.status_code, answer.content) == (304, b"")
    other = anyone.get(address, headers={"If-None-Match": '"another"'})
    assert other.status_code == 200
    other.close()


def test_what_a_browser_might_run_is_only_ever_downloaded(anyone: APIClient) -> None:
    run = a_run()
    content = b"<script>alert(1)</script>"
    sha256 = artifacts.keep(content)
    Artifact.objects.create(run=run, name="page.html", sha256=sha256, size=len(content), media_type="text/html")
    answer = anyone.get(f"{ADDRESS}{run.pk}/artifacts/page.html")
    assert answer["Content-Disposition"].startswith("attachment")
    assert "sandbox" in answer["Content-Security-Policy"]
    answer.close()


def test_a_file_that_storage_has_lost_is_said_to_be_lost(anyone: APIClient) -> None:
    output = OUTPUT + b"\n"
    run = an_upload(output=output).send()
    default_storage.delete(artifacts.path_of(hashlib.sha256(output).hexdigest()))
    answer = anyone.get(artifact_of(run))
    assert (answer.status_code, answer["Content-Type"]) == (503, "application/problem+json")
    assert "restore" in answer.json()["detail"]


@pytest.mark.parametrize("name", ["other.txt", "%00", "..%2f..%2fsettings.py", "%ff"])
def test_a_file_that_a_run_does_not_have_is_404(anyone: APIClient, name: str) -> None:
    run = an_upload().send()
    assert anyone.get(f"{ADDRESS}{run.pk}/artifacts/{name}").status_code == 404


def test_methods_that_are_not_offered_are_problems(engineer: APIClient) -> None:
    answers: list[Any] = [engineer.put(ADDRESS, {}), engineer.delete(f"{ADDRESS}{a_run().pk}/")]
    assert [(answer.status_code, answer["Content-Type"]) for answer in answers] == [
        (405, "application/problem+json")
    ] * 2


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("release=abc", "release: 'abc': is not a number"),
        ("release=1&release=x&release=y", "release: 'x': is not a number; release: 'y': is not a number"),
        ("platform=a/b", "platform: 'a/b': must begin with"),
    ],
)
def test_wrong_value_of_many_is_named_by_its_parameter(reader: APIClient, query: str, said: str) -> None:
    answer = reader.get(f"/api/v1/runs/?{query}")
    assert answer.status_code == 400
    assert answer.json()["detail"].startswith(said)
