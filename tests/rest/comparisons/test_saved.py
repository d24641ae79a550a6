"""Saved comparisons and pinned baselines through the API."""

from datetime import timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.catalog.models import System, Workload
from apps.comparison.models import PinnedBaseline, SavedComparison, Snapshot
from tests.support.builders import START, a_load_level, a_measured_run, a_system, a_workload

pytestmark = pytest.mark.django_db

SAVED = "/api/v1/comparisons/saved/"


def measure(system: System, *values: float, at: int = 0) -> None:
    for number, value in enumerate(values):
        a_measured_run(
            {"client.throughput": value},
            system=system,
            load_level=a_load_level(4),
            started_at=START + timedelta(hours=at, minutes=number),
        )


@pytest.fixture
def workload() -> Workload:
    measure(a_system("a"), 1000.0, 1012.0, 991.0)
    measure(a_system("b"), 1302.0, 1318.0, 1287.0)
    return a_workload()


def stated(workload: Workload, /, **changed: Any) -> dict[str, Any]:
    return {"title": "B beats A", "note": "why", "side": ["a", "b"], "workload": workload.pk, **changed}


def test_a_snapshot_is_the_answer_that_the_comparison_gave(engineer: APIClient, workload: Workload) -> None:
    live = engineer.get(f"/api/v1/comparisons/?side=a&side=b&workload={workload.pk}").json()
    answer = engineer.post(SAVED, stated(workload), format="json")
    assert answer.status_code == 201, answer.content
    assert answer.headers["Location"] == f"{SAVED}b-beats-a/"
    body = answer.json()
    assert body["comparison"] | {"claim_limits": body["claim_limits"]} == live
    assert (body["out_of_date"], body["changes"], body["problem"]) == (False, [], "")
    assert body["address"] == "http://testserver/comparisons/b-beats-a/"
    assert body["query"]["side"] == ["a", "b"]


def test_it_says_what_changed_and_refreshes(engineer: APIClient, workload: Workload) -> None:
    first = engineer.post(SAVED, stated(workload), format="json").json()
    measure(System.objects.get(slug="a"), 500.0, at=2)
    stale = engineer.get(f"{SAVED}b-beats-a/").json()
    assert stale["comparison"] == first["comparison"]
    assert stale["out_of_date"]
    assert "counts now and did not then" in stale["changes"][0]
    fresh = engineer.post(f"{SAVED}b-beats-a/refresh").json()
    assert (fresh["snapshot"]["number"], fresh["out_of_date"]) == (2, False)
    old = engineer.get(f"{SAVED}b-beats-a/?snapshot=1").json()
    assert old["comparison"] == first["comparison"]
    assert old["address"].endswith("?snapshot=1")
    assert [each["number"] for each in old["snapshots"]] == [2, 1]


def test_every_number_of_a_snapshot_of_an_older_form_is_given_as_it_was_kept(
    engineer: APIClient, workload: Workload
) -> None:
    assert engineer.post(SAVED, stated(workload), format="json").json()["content"] is None
    Snapshot.objects.update(content_version=0)
    old = engineer.get(f"{SAVED}b-beats-a/").json()
    assert (old["comparison"], old["out_of_date"]) == (None, False)
    assert old["problem"]
    assert old["content"] == Snapshot.objects.get().content
    fresh = engineer.post(f"{SAVED}b-beats-a/refresh").json()
    assert (fresh["snapshot"]["number"], fresh["content"]) == (2, None)
    assert fresh["comparison"]["sides"][1]["slug"] == "b"


def test_the_list_is_paged_and_searched(engineer: APIClient, workload: Workload) -> None:
    for title in ("one", "two", "three"):
        engineer.post(SAVED, stated(workload, title=title), format="json")
    page = engineer.get(f"{SAVED}?limit=2").json()
    assert [row["title"] for row in page["results"]] == ["three", "two"]
    rest = engineer.get(page["next"]).json()
    assert ([row["title"] for row in rest["results"]], rest["next"]) == (["one"], None)
    found = engineer.get(f"{SAVED}?text=two").json()["results"]
    assert [(row["slug"], row["snapshots"], row["runs"]) for row in found] == [("two", 1, 6)]


def test_title_and_note_are_mended(engineer: APIClient, workload: Workload) -> None:
    engineer.post(SAVED, stated(workload), format="json")
    body = engineer.put(f"{SAVED}b-beats-a/", {"title": "B won", "note": ""}, format="json").json()
    assert (body["title"], body["note"], body["slug"]) == ("B won", "", "b-beats-a")


@pytest.mark.parametrize(
    ("changed", "status", "field"),
    [
        ({"title": " "}, 422, "title"),
        ({"side": ["a"]}, 422, "side"),
        ({"side": ["a", "nobody"]}, 422, "side"),
        ({"workload": 999_999}, 422, "workload"),
        ({"colour": "red"}, 422, "colour"),
        ({"runs": [2**63]}, 422, "runs.0"),
    ],
)
def test_what_cannot_be_saved_is_refused_by_name(
    engineer: APIClient, workload: Workload, changed: dict[str, Any], status: int, field: str
) -> None:
    answer = engineer.post(SAVED, stated(workload, **changed), format="json")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (status, field)
    assert not SavedComparison.objects.exists()


def test_readers_read_and_do_not_write(reader: APIClient, engineer: APIClient, workload: Workload) -> None:
    engineer.post(SAVED, stated(workload), format="json")
    assert reader.get(f"{SAVED}b-beats-a/").status_code == 200
    assert reader.post(SAVED, stated(workload), format="json").status_code == 403
    assert reader.post(f"{SAVED}b-beats-a/refresh").status_code == 403
    assert reader.put(f"{SAVED}b-beats-a/", {"title": "x", "note": ""}, format="json").status_code == 403
    assert reader.put(f"/api/v1/workloads/{workload.pk}/baseline", {"system": "a"}).status_code == 403
    assert reader.delete(f"/api/v1/workloads/{workload.pk}/baseline").status_code == 403
    assert (Snapshot.objects.count(), PinnedBaseline.objects.count()) == (1, 0)


def test_what_is_not_there_is_not_found(engineer: APIClient, workload: Workload) -> None:
    engineer.post(SAVED, stated(workload), format="json")
    assert engineer.get(f"{SAVED}nothing/").status_code == 404
    assert engineer.post(f"{SAVED}nothing/refresh").status_code == 404
    assert engineer.put(f"{SAVED}nothing/", {"title": "x", "note": ""}, format="json").status_code == 404
    assert engineer.get(f"{SAVED}b-beats-a/?snapshot=2").status_code == 404
    assert engineer.get(f"{SAVED}b-beats-a/?snapshot=x").status_code == 400


def test_a_baseline_is_pinned_replaced_and_taken_away(engineer: APIClient, workload: Workload) -> None:
    address = f"/api/v1/workloads/{workload.pk}/baseline"
    assert engineer.get(address).status_code == 404
    assert engineer.put(address, {"system": "a", "note": "2025"}, format="json").json()["note"] == "2025"
    assert engineer.put(address, {"system": "b"}, format="json").json()["system"] == "b"
    assert engineer.get(address).json()["system_name"] == "b"
    listed = engineer.get("/api/v1/baselines/").json()["results"]
    assert [(pin["workload"], pin["system"]) for pin in listed] == [(workload.pk, "b")]
    unknown = engineer.put(address, {"system": "nobody"}, format="json")
    assert (unknown.status_code, unknown.json()["errors"][0]["field"]) == (422, "system")
    assert engineer.delete(address).status_code == 204
    assert engineer.get(address).status_code == 404
    assert engineer.put("/api/v1/workloads/99999/baseline", {"system": "a"}, format="json").status_code == 404


def test_it_is_deleted_by_its_author(engineer: APIClient, workload: Workload) -> None:
    engineer.post(SAVED, stated(workload), format="json")
    assert engineer.delete(f"{SAVED}b-beats-a/").status_code == 204
    assert engineer.get(f"{SAVED}b-beats-a/").status_code == 404
    assert engineer.delete(f"{SAVED}b-beats-a/").status_code == 404
