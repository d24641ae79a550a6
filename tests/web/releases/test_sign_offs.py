"""Who signs a release off, on pages and over the API."""

import pytest
from django.test import Client

from apps.catalog.models import Release
from apps.regressions.models import SignOff
from apps.regressions.releases import stored_checks
from tests.regressions.releases.released import NEW, OLD, SLOWER, measure, two_releases
from tests.support.builders import a_user, a_workload
from tests.support.pages import data, element, elements, states
from tests.web.compare.compared import page
from tests.web.releases.checked import ADDRESS, checked

pytestmark = pytest.mark.django_db


def signed(client: Client, seen: str, note: str = "") -> str:
    response = client.post(f"{ADDRESS}sign-off/", {"hardware": "small", "seen": seen, "note": note}, follow=True)
    assert response.status_code == 200
    return response.content.decode()


def test_a_release_is_signed_off_by_name_with_what_was_seen_and_withdrawn(engineer: Client) -> None:
    two_releases()
    check = checked()
    html = signed(engineer, stored_checks.fingerprint(check), "we need it")
    assert data(html, "message") == ["success"]
    assert states(html, "[data-signed-by]", "signed-by", "state") == [("ann", "current")]
    assert element(html, "[data-note]").text() == "we need it"
    assert element(html, "[data-answer]").text() == f"{check.title}: {check.summary}"
    assert states(page(engineer, "/releases/"), "[data-signed-by]", "signed-by", "state") == [("ann", "current")]
    assert data(signed(engineer, stored_checks.fingerprint(check)), "message") == ["error"]
    row = SignOff.objects.get()
    html = engineer.post(f"/sign-offs/{row.pk}/withdraw/", follow=True).content.decode()
    assert states(html, "[data-signed-by]", "signed-by", "state") == [("ann", "withdrawn")]
    assert data(page(engineer, "/releases/"), "signed-by") == []


def test_what_changed_while_somebody_read_is_not_signed_off(engineer: Client) -> None:
    old, new = two_releases()
    before = stored_checks.fingerprint(checked())
    other = a_workload("oltp_read_only")
    measure(old, workload=other)
    measure(new, SLOWER, workload=other)
    checked()
    assert data(signed(engineer, before), "message") == ["error"]
    assert not SignOff.objects.exists()


def test_more_runs_with_the_same_verdicts_leave_a_sign_off_as_it_is_and_other_verdicts_do_not(engineer: Client) -> None:
    _, new = two_releases()
    signed(engineer, stored_checks.fingerprint(checked()))
    measure(new, SLOWER)
    checked()
    assert states(page(engineer, ADDRESS), "[data-signed-by]", "signed-by", "state") == [("ann", "current")]
    measure(new, [value + 120 for value in SLOWER] * 40)
    checked()
    for address in (ADDRESS, "/releases/"):
        assert states(page(engineer, address), "[data-signed-by]", "signed-by", "state") == [("ann", "outdated")]


def test_readers_read_and_strangers_are_asked_to_sign_in(client: Client) -> None:
    two_releases()
    checked()
    assert client.post(f"{ADDRESS}sign-off/", {"hardware": "small"}).status_code == 302
    client.force_login(a_user(role="reader"))
    assert client.post(f"{ADDRESS}sign-off/", {"hardware": "small"}).status_code == 403
    assert elements(page(client, ADDRESS), "#sign-off form") == []


def test_the_api_signs_off_lists_and_withdraws(engineer: Client) -> None:
    two_releases()
    checked()
    (row,) = engineer.get(f"/api/v1/checked-releases/?platform=mariadb&release={NEW}").json()["results"]
    assert (row["result"], row["baseline"], row["counts"]["worse"]) == ("regression", OLD, 1)
    body = {"platform": "mariadb", "release": NEW, "hardware": "small", "fingerprint": row["fingerprint"]}
    made = engineer.post("/api/v1/sign-offs/", body, content_type="application/json")
    assert made.status_code == 201
    assert (made.json()["by"], made.json()["seen"]["counts"]["worse"]) == ("ann", 1)
    other = engineer.post("/api/v1/sign-offs/", {**body, "fingerprint": "old"}, content_type="application/json")
    assert (other.status_code, other.json()["errors"][0]["field"]) == (409, "fingerprint")
    assert engineer.delete(f"/api/v1/sign-offs/{made.json()['id']}/").status_code == 204
    (listed,) = engineer.get("/api/v1/sign-offs/?hardware=small").json()["results"]
    assert listed["withdrawn_by"] == "ann"
    unknown = engineer.post("/api/v1/sign-offs/", {**body, "hardware": "x"}, content_type="application/json")
    assert [each["field"] for each in unknown.json()["errors"]] == ["hardware"]
    begun = engineer.post("/api/v1/sign-offs/", {**body, "release": f"{NEW}-x"}, content_type="application/json")
    assert begun.json()["errors"][0]["remedy"] == f"there are: {NEW}, {OLD}"


@pytest.mark.parametrize("address", ["/api/v1/checked-releases/", "/api/v1/sign-offs/"])
def test_lists_of_releases_take_the_beginning_of_a_version_and_refuse_what_is_not_there(
    engineer: Client, address: str
) -> None:
    two_releases()
    checked()
    body = {"platform": "mariadb", "release": NEW, "hardware": "small"}
    engineer.post("/api/v1/sign-offs/", body, content_type="application/json")
    Release.objects.filter(version=NEW).update(version=f"{NEW}-MariaDB-log")
    for query in (f"release={NEW}", f"platform=mariadb&release={NEW}&hardware=small"):
        assert len(engineer.get(f"{address}?{query}").json()["results"]) == 1
    for query, field in (
        ("platform=maraidb", "platform"),
        ("hardware=smal", "hardware"),
        ("release=9.9", "release"),
    ):
        answer = engineer.get(f"{address}?{query}")
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, field)
