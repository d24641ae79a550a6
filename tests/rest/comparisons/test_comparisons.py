"""Comparisons, the matrix and claims through the API: what is asked wrongly is said, and answers are as described."""

import re
from datetime import timedelta
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from rest_framework.test import APIClient

from apps.catalog.models import System, Workload
from apps.rest.comparisons.comparisons import INCLUDES
from apps.runs.models import Run
from tests.paths import DOCS
from tests.support.builders import START, a_load_level, a_measured_run, a_system, a_workload
from tests.web.runs.test_latency import a_histogram

pytestmark = pytest.mark.django_db

COMPARISONS, MATRIX, CLAIMS = "/api/v1/comparisons/", "/api/v1/matrix/", "/api/v1/claims/"
RUNS = 3


@pytest.fixture
def workload() -> Workload:
    for slug, factor in (("a", 1.0), ("b", 1.3)):
        system = a_system(slug)
        for threads in (1, 4):
            for number in range(RUNS):
                a_measured_run(
                    {
                        "client.throughput": 1000 * threads * factor + number,
                        "client.latency.p95": 4.0 / factor + number,
                    },
                    system=system,
                    load_level=a_load_level(threads),
                    started_at=START + timedelta(minutes=number),
                )
    return a_workload()


def errors_of(client: APIClient, address: str) -> list[dict[str, str]]:
    response = client.get(address)
    assert response.status_code == 400, response.content
    assert response["Content-Type"] == "application/problem+json"
    errors: list[dict[str, str]] = response.json()["errors"]
    return errors


@pytest.mark.parametrize(
    ("query", "field", "said"),
    [
        ("side=a&side=gone", "side", "choose one of the catalog's systems"),
        ("side=a&side=b:x", "side", "use the slug of a system, or slug:id of a workload"),
        ("side=a&side=b&campaign=99", "campaign", "in campaign 99"),
        ("side=a&side=b&include=ladder&percentile=p200", "percentile", "choose from: 50, 95, 99"),
        ("side=a&side=b&include=ladder&include=cost", "include", "more than once"),
        ("side=a&side=b&include=nonsense", "include", "choose from: memory"),
        ("side=a&side=b&format=xml", "format", "use json"),
    ],
)
def test_a_comparison_that_is_asked_wrongly_names_the_field_and_the_remedy(
    anyone: APIClient, workload: Workload, query: str, field: str, said: str
) -> None:
    (error,) = errors_of(anyone, f"{COMPARISONS}?{query}&workload={workload.pk}")
    assert error["field"] == field
    assert said in f"{error['message']}; {error.get('remedy')}"


def test_the_objective_of_the_page_is_taken_as_it_stands_there(anyone: APIClient, workload: Workload) -> None:
    query = f"side=a&side=b&workload={workload.pk}&include=ladder"
    as_people = anyone.get(f"{COMPARISONS}?{query}&objective=4,5&percentile=p95").json()
    assert as_people == anyone.get(f"{COMPARISONS}?{query}&objective=4.5&percentile=95").json()
    assert as_people["ladder"][0]["reach"]["limit"] == 4.5


def test_runs_that_are_of_no_side_are_named_and_not_passed_over(anyone: APIClient, workload: Workload) -> None:
    notes = anyone.get(f"{COMPARISONS}?side=a&side=b&workload={workload.pk}&runs=998,999").json()["notes"]
    assert "Requested, but not a run of these sides: 998, 999." in notes


@pytest.mark.parametrize(
    ("address", "field", "said"),
    [
        (f"{MATRIX}?side=a&side=b:1", "side", "use 'b'"),
        (f"{MATRIX}?side=a&side=b&metric=gone", "metric", "choose one of /api/v1/metrics/"),
        (f"{CLAIMS}?side=a&side=a", "side", "choose two or more"),
        (f"{CLAIMS}?side=a&side=gone", "side", "choose one of the catalog's systems"),
        ("/api/v1/runs/?quality=good", "quality", "choose from: failed-check, excluded"),
    ],
)
def test_a_list_that_is_asked_wrongly_names_the_field_and_the_remedy(
    anyone: APIClient, workload: Workload, address: str, field: str, said: str
) -> None:
    (error,) = errors_of(anyone, address)
    assert error["field"] == field
    assert said in f"{error['message']}; {error.get('remedy')}"


def test_an_empty_matrix_says_which_filter_left_nothing(anyone: APIClient, workload: Workload) -> None:
    answer = anyone.get(f"{MATRIX}?side=a&side=b&tool=tpcc&campaign=7").json()
    assert answer["rows"] == []
    assert answer["notes"] == ["No other side shares a workload with the baseline with tool tpcc and campaign 7."]


def test_latencies_of_a_side_are_those_of_all_its_transactions_together(anyone: APIClient, workload: Workload) -> None:
    quick, slow, _ = Run.objects.filter(system__slug="b", load_level__threads=4).order_by("pk")
    a_histogram(quick, {1.0: 990})
    a_histogram(slow, {100.0: 10})
    low, high = anyone.get(f"{COMPARISONS}?side=a&side=b&workload={workload.pk}&include=latency").json()["latency"]
    assert [side["count"] for side in low["sides"]] == [None, None]
    side = high["sides"][1]
    assert (side["side"], side["runs"], side["with_histogram"], side["count"]) == ("b", 3, 2, 1000)
    found = {each["percentile"]: each["value"] for each in side["quantiles"]}
    assert found[95.0] < 1.1
    assert found[99.9] > 99
    assert found[100.0] > 99


def test_percentiles_of_all_transactions_are_compared_with_their_interval(
    anyone: APIClient, workload: Workload
) -> None:
    for slug, latency in (("a", 5.0), ("b", 10.0)):
        for place, run in enumerate(Run.objects.filter(system__slug=slug, load_level__threads=4).order_by("pk")):
            a_histogram(run, {latency * (1 + 0.05 * place): 900, latency * 4: 100})
    low, high = anyone.get(f"{COMPARISONS}?side=a&side=b&workload={workload.pk}&include=latency").json()["latency"]
    assert low["compared"]["metrics"] == []
    compared = high["compared"]
    assert [each["name"] for each in compared["metrics"]] == ["p50", "p90", "p95", "p99"]
    median = next(each for each in compared["cells"] if (each["side"], each["metric"]) == ("b", "latency.all.p50"))
    quantiles = [{each["percentile"]: each["value"] for each in side["quantiles"]} for side in high["sides"]]
    assert median["words"] == "worse"
    assert median["ratio"]["value"] == pytest.approx(quantiles[1][50.0] / quantiles[0][50.0], rel=1e-6)
    assert median["ratio"]["low"] > 1.5


def test_a_side_with_a_run_on_two_grids_is_not_compared(anyone: APIClient, workload: Workload) -> None:
    for slug in ("a", "b"):
        for run in Run.objects.filter(system__slug=slug, load_level__threads=4):
            a_histogram(run, {5.0: 900, 20.0: 100})
    mixed = Run.objects.filter(system__slug="b", load_level__threads=4).first()
    assert mixed is not None
    mixed.distributions.update(starts_at=30)
    a_histogram(mixed, {5.0: 900}, grid="sysbench:2048:0.001:100000")
    _, high = anyone.get(f"{COMPARISONS}?side=a&side=b&workload={workload.pk}&include=latency").json()["latency"]
    assert "cannot be added" in high["sides"][1]["problem"]
    assert high["compared"]["metrics"] == []


def test_answers_are_as_the_schema_describes_them(engineer: APIClient, workload: Workload) -> None:
    schema = engineer.get("/api/v1/schema/?format=json").json()
    query = f"side=a&side=b&workload={workload.pk}"
    run = a_measured_run({"client.throughput": 5.0}, system=System.objects.get(slug="a")).pk
    saved = {"title": "a and b", "side": ["a", "b"], "workload": workload.pk}
    answers = [
        ("get", "comparisons/", engineer.get(f"{COMPARISONS}?{query}&include={','.join(INCLUDES)}")),
        ("get", "matrix/", engineer.get(f"{MATRIX}?side=a&side=b")),
        ("get", "claims/", engineer.get(f"{CLAIMS}?side=a&side=b")),
        ("post", "comparisons/saved/", engineer.post("/api/v1/comparisons/saved/", saved, format="json")),
        (
            "post",
            "runs/{run_id}/exclusion/",
            engineer.post(f"/api/v1/runs/{run}/exclusion/", {"reason": "why"}, format="json"),
        ),
        ("delete", "runs/{run_id}/exclusion/", engineer.delete(f"/api/v1/runs/{run}/exclusion/")),
    ]
    for method, address, response in answers:
        described: dict[str, Any] = schema["paths"][f"/api/v1/{address}"][method]["responses"]
        content = described[str(response.status_code)]["content"]["application/json"]["schema"]
        assert not [
            f"{method} {address} {'/'.join(map(str, error.absolute_path))}: {error.message}"
            for error in Draft202012Validator({"components": schema["components"], **content}).iter_errors(
                response.json()
            )
        ]
    assert set(INCLUDES) <= set(schema["components"]["schemas"]["Compared"]["properties"])


# What readers set is theirs alone.
OF_EVERYBODY = ("/api/v1/own-address",)


def test_readers_may_call_nothing_that_writes(anyone: APIClient, reader: APIClient) -> None:
    schema = anyone.get("/api/v1/schema/?format=json").json()
    writing = [
        (method, re.sub(r"{\w+}", "1", address))
        for address, operations in schema["paths"].items()
        if "/agent/" not in address
        for method in operations
        if method in ("post", "put", "patch", "delete")
    ]
    assert len(writing) > 10
    for method, address in writing:
        # No more is answered: not even whether the thing is there.
        assert getattr(anyone, method)(address).status_code == 401, (method, address)
        if address not in OF_EVERYBODY:
            assert getattr(reader, method)(address).status_code == 403, (method, address)


def test_every_part_that_can_be_included_is_documented() -> None:
    documented = (DOCS / "reference" / "api.md").read_text()
    assert [name for name in INCLUDES if f"`{name}`" not in documented] == []


def test_verdicts_come_with_what_failed_checks_make_of_them(workload: Workload, anyone: APIClient) -> None:
    address = f"{COMPARISONS}?workload={workload.pk}&side=a&side=b"
    assert anyone.get(address).json()["claim_limits"] == []
    Run.objects.filter(system__slug="b", load_level=a_load_level(4)).update(failed_checks=["generator"])
    found = anyone.get(address).json()["claim_limits"]
    assert {(each["level"], each["metric"]) for each in found} == {
        (a_load_level(4).pk, "client.throughput"),
        (a_load_level(4).pk, "client.latency.p95"),
    }
    (limit,) = next(each["limits"] for each in found if each["metric"] == "client.throughput")
    assert (limit["meaning"], limit["checks"], limit["sides"]) == ("lower bound", ["generator"], ["b"])
    assert (limit["failed"], limit["runs"]) == (RUNS, 2 * RUNS)
    assert limit["words"].startswith("Lower bound: ")
