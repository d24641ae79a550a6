"""The release gate over HTTP: what it answers, as JSON and as Markdown."""

from datetime import date
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.catalog.models import HardwareClass
from apps.regressions import look
from apps.regressions.findings import review
from apps.regressions.models import Finding
from apps.runs.models import Run
from tests.regressions.releases.released import (
    NEW,
    OLD,
    SLOWER,
    STEADY,
    a_release,
    a_system_of,
    measure,
    the_hardware,
    two_releases,
)
from tests.support.builders import a_user, a_workload

pytestmark = pytest.mark.django_db

ADDRESS = "/api/v1/release-checks/"


def read(client: APIClient, **parameters: str) -> dict[str, Any]:
    answer = client.get(ADDRESS, {"platform": "mariadb", "release": NEW, **parameters})
    assert answer.status_code == 200, answer.content
    document: dict[str, Any] = answer.json()
    return document


def problem(client: APIClient, **parameters: str) -> dict[str, Any]:
    answer = client.get(ADDRESS, {"platform": "mariadb", "release": NEW, **parameters})
    assert answer.status_code == 400
    (error,) = answer.json()["errors"]
    return dict(error)


def test_a_slower_release_is_a_regression_until_people_accept_it(anyone: APIClient) -> None:
    two_releases()
    look.compare(a_release(NEW), the_hardware())
    before = read(anyone)
    assert (before["result"], before["baseline"], before["counts"]["worse"]) == ("regression", OLD, 1)
    (row,) = before["rows"]
    assert (row["verdict"], row["finding"], row["finding_state"]) == ("worse", Finding.objects.get().pk, "new")
    assert row["low"] < row["ratio"] < row["high"] < 1
    assert before["address"] == "http://testserver/releases/mariadb/10.11.20/?hardware=small"
    Finding.objects.update(state="accepted", reason="known", accepted_until="2099-01-01")
    after = read(anyone)
    assert (after["result"], after["summary"]) == ("fine", "1 worse (1 accepted)")
    assert after["rows"][0]["is_accepted"]


@pytest.mark.parametrize("was", [950.0, 1100.0])
def test_an_acceptance_covers_no_more_than_was_accepted_even_before_the_server_compares_again(
    anyone: APIClient, was: float
) -> None:
    _, new = two_releases(after=(was, was + 1, was - 1))
    look.compare(a_release(NEW), the_hardware())
    by, today = a_user(), date(2026, 1, 1)
    finding = Finding.objects.get()
    review.accept(finding_id=finding.pk, by=by, reason="the price of safety", until=date(2999, 1, 1), today=today)
    assert read(anyone)["result"] == "fine"
    Run.objects.filter(system=new).update(is_excluded=True)
    measure(new, (520.0, 521.0, 519.0), day=5)
    found = read(anyone)
    (row,) = found["rows"]
    assert (row["verdict"], row["finding"], row["is_accepted"]) == ("worse", finding.pk, False)
    assert (found["result"], found["counts"]["accepted"]) == ("regression", 0)


def test_the_address_leads_to_the_comparison_with_the_baseline_that_was_asked_for(anyone: APIClient) -> None:
    two_releases()
    measure(a_system_of("10.11.18"), SLOWER[::-1])
    asked = {"platform": "mariadb", "release": NEW, "baseline": "10.11.18"}
    found = read(anyone, **asked)
    page = "http://testserver/releases/mariadb/10.11.20/?hardware=small&baseline=10.11.18"
    assert (found["result"], found["address"]) == ("fine", page)
    assert page in anyone.get(ADDRESS, {**asked, "format": "md"}).content.decode()


def test_the_comparison_behind_a_row_can_be_asked_for(anyone: APIClient) -> None:
    two_releases()
    (row,) = read(anyone)["rows"]
    behind = anyone.get(f"/api/v1/comparisons/?{row['compare']}").json()
    (cell,) = [each for each in behind["cells"] if each["side"] == row["system"]]
    assert cell["ratio"]["value"] == row["ratio"]
    assert cell["words"] == "worse"


def test_missing_rows_may_be_allowed_but_not_all_of_them(anyone: APIClient) -> None:
    old, _ = two_releases(after=STEADY[::-1])
    measure(old, workload=a_workload("oltp_read_only"))
    assert read(anyone)["result"] == "cannot tell"
    assert read(anyone, allow_missing="true")["result"] == "fine"
    measure(a_system_of("10.11.21"), workload=a_workload("oltp_insert"))
    nothing = read(anyone, release="10.11.21", allow_missing="true")
    assert (nothing["result"], nothing["counts"]["missing"]) == ("cannot tell", 1)


def test_how_much_worse_may_pass_is_asked_for(anyone: APIClient) -> None:
    two_releases(before=(1000.0, 1030.0, 960.0), after=(990.0, 1040.0, 975.0))
    for tolerance, result in (("0.2", "fine"), ("0.01", "cannot tell")):
        found = read(anyone, tolerance=tolerance)
        assert (found["result"], found["rows"][0]["verdict"]) == (result, "inconclusive")
        assert found["rows"][0]["is_coarse"] == (result == "cannot tell")


def test_it_is_a_summary_for_a_pull_request_as_markdown(anyone: APIClient) -> None:
    old, _ = two_releases()
    measure(old, workload=a_workload("oltp_read_only"))
    answer = anyone.get(ADDRESS, {"platform": "mariadb", "release": NEW, "format": "md"})
    assert answer.headers["Content-Type"] == "text/markdown; charset=utf-8"
    text = answer.content.decode()
    title, _, why = text.splitlines()[:3]
    assert title == "**✗ MariaDB 10.11.20 against 10.11.19 on small: 1 worse, 1 missing**"
    assert why == "- 1 row is worse."
    assert "| worse | sysbench oltp\\_write\\_only | 4 threads | client.throughput (higher is better) |" in text
    assert "| −12 % [−12 %, −12 %] |" in text
    assert "| missing | sysbench oltp\\_read\\_only | 4 threads |" in text
    assert "http://testserver/releases/mariadb/10.11.20/?hardware=small" in text
    accepted = anyone.get(ADDRESS, {"platform": "mariadb", "release": NEW}, headers={"Accept": "text/markdown"})
    assert accepted.content.decode().startswith("**✗")


def test_what_there_is_not_is_named_with_what_there_is(anyone: APIClient) -> None:
    two_releases()
    assert problem(anyone, platform="oracle") == {
        "field": "platform",
        "message": "there is no platform 'oracle'",
        "remedy": "there are: mariadb",
    }
    assert problem(anyone, release="9.9")["remedy"] == f"there are: {NEW}, {OLD}"
    assert problem(anyone, hardware="big")["field"] == "hardware"
    assert problem(anyone, baseline=NEW)["field"] == "baseline"


def test_a_release_on_several_machines_is_asked_which(anyone: APIClient) -> None:
    two_releases()
    large = HardwareClass.objects.create(slug="large", name="large")
    measure(a_system_of(NEW, "on-large", hardware_class=large))
    error = problem(anyone)
    assert (error["field"], error["remedy"]) == ("hardware", "there are: large, small")
    assert read(anyone, hardware="small")["hardware"] == "small"


def test_a_release_is_found_by_the_beginning_of_its_version(anyone: APIClient) -> None:
    two_releases()
    a_release(f"{NEW}-MariaDB-debug")
    a_release("10.12.1-MariaDB-log")
    a_release("10.12.1-MariaDB-debug")
    assert read(anyone, release=NEW)["release"] == NEW
    assert read(anyone, baseline=OLD)["baseline"] == OLD
    error = problem(anyone, release="10.12.1")
    assert error["field"] == "release"
    assert "2 releases begin with" in error["message"]
    assert "has no release" in problem(anyone, release=NEW[:-1])["message"]
