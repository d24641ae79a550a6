"""Differences that withhold verdicts are accepted, listed and withdrawn through the API."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.catalog.models import HardwareClass, Workload
from apps.comparison.models import Acknowledgement
from tests.support.builders import a_measured_run, a_system, a_workload

URL = "/api/v1/acknowledgements/"
A, B = (100.0, 101.0, 99.0, 100.5), (130.0, 131.0, 129.0, 130.5)


@pytest.fixture
def workload(db: None) -> Workload:
    large = HardwareClass.objects.create(slug="large", name="Large", vcpu=16)
    workload = a_workload()
    for system, values in ((a_system("a"), A), (a_system("b", hardware_class=large), B)):
        for value in values:
            a_measured_run({"client.throughput": value}, system=system, workload=workload)
    return workload


def compared(client: APIClient, workload: Workload, *, sides: tuple[str, str] = ("a", "b")) -> Any:
    asked = f"side={sides[0]}&side={sides[1]}&workload={workload.pk}&include=memory"
    answer = client.get(f"/api/v1/comparisons/?{asked}")
    assert answer.status_code == 200, answer.content
    return answer.json()


def words(comparison: Any) -> str:
    return str(comparison["cells"][1]["words"])


def test_a_recorded_reason_shows_the_verdict_and_its_withdrawal_hides_it_again(
    engineer: APIClient, workload: Workload
) -> None:
    before = compared(engineer, workload)
    assert words(before) == "verdict withheld"
    (difference,) = before["obstacles"]
    assert (difference["side"], difference["group"], difference["accepted"]) == ("b", "hardware", None)
    assert ["vCPU", "16", "2"] in difference["differences"]
    body = {"side": ["a", "b"], "workload": workload.pk, "group": ["hardware"], "reason": "the next size on offer"}
    made = engineer.post(URL, body, format="json")
    assert made.status_code == 201, made.content
    assert engineer.post(URL, body, format="json").status_code == 200  # said again it is no second record
    after = compared(engineer, workload)
    assert (words(after), after["withheld"]) == ("better", [])
    assert after["obstacles"][0]["accepted"]["reason"] == "the next size on offer"
    assert words(compared(engineer, workload, sides=("b", "a"))) == "worse"  # whichever is the baseline
    (record,) = made.json()
    assert engineer.delete(f"{URL}{record['id']}/").status_code == 204
    assert words(compared(engineer, workload)) == "verdict withheld"
    (listed,) = engineer.get(URL).json()["results"]
    assert listed["reason"] == "the next size on offer"
    assert listed["withdrawn_by"] == listed["by"]
    assert listed["withdrawn_at"]


def test_another_value_takes_another_word(engineer: APIClient, workload: Workload) -> None:
    body = {"side": ["a", "b"], "workload": workload.pk, "group": ["hardware"], "reason": "on purpose"}
    engineer.post(URL, body, format="json")
    HardwareClass.objects.filter(slug="large").update(vcpu=32)
    assert words(compared(engineer, workload)) == "verdict withheld"


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"reason": ""}, "reason"),
        ({"reason": "   "}, "reason"),
        ({"group": ["dataset"]}, "group"),
        ({"group": ["topology"]}, "group.0"),
        ({"group": []}, "group"),
        ({"side": ["a", "zz"]}, "side"),
        ({"sides": ["a"]}, "sides"),
    ],
)
def test_what_cannot_be_accepted_is_refused_by_name(
    engineer: APIClient, workload: Workload, changed: dict[str, object], field: str
) -> None:
    body = {"side": ["a", "b"], "workload": workload.pk, "group": ["hardware"], "reason": "on purpose"} | changed
    answer = engineer.post(URL, body, format="json")
    assert answer.status_code in (400, 404, 422), answer.content
    assert field in [error["field"] for error in answer.json()["errors"]]
    assert not Acknowledgement.objects.exists()


def test_readers_may_not_accept_and_everybody_may_look(
    reader: APIClient, anyone: APIClient, workload: Workload
) -> None:
    body = {"side": ["a", "b"], "workload": workload.pk, "group": ["hardware"], "reason": "on purpose"}
    assert reader.post(URL, body, format="json").status_code == 403
    assert anyone.post(URL, body, format="json").status_code in (401, 403)
    assert anyone.get(URL).json() == {"next": None, "results": []}
    assert reader.delete(f"{URL}1/").status_code == 403


def test_withdrawing_what_is_not_there_is_said(engineer: APIClient) -> None:
    assert engineer.delete(f"{URL}99/").status_code == 404


def test_memory_that_nobody_reported_is_null(engineer: APIClient, workload: Workload) -> None:
    a, b = compared(engineer, workload)["memory"]
    assert (a["side"], a["memory"], a["data"], a["memory_ratio"], a["pool"]) == ("a", 8 * 2**30, None, None, None)
    assert b["memory"] is None
