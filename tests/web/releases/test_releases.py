"""Releases on pages, as files, badges and over the API."""

import csv
import io
from datetime import date

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from apps.regressions.models import CheckedRelease, Finding, Pending
from apps.regressions.releases import stored_checks
from apps.web.releases import badges
from tests.regressions.releases.released import (
    NEW,
    OLD,
    SLOWER,
    STEADY,
    a_release,
    a_system_of,
    measure,
    two_releases,
)
from tests.support.builders import a_workload
from tests.support.pages import data, element, elements, states
from tests.web.compare.compared import page
from tests.web.releases.checked import ADDRESS, a_finding, checked

pytestmark = pytest.mark.django_db


def row_states(html: str) -> list[tuple[str | None, ...]]:
    """Workload and verdict of the rows that the page shows, without those that are missing."""
    return states(html, "section[aria-labelledby=rows] tbody tr", "workload", "verdict")


ACCEPTED = {"state": "accepted", "reason": "known", "accepted_until": date(2999, 1, 1)}


def test_without_releases_the_list_says_what_fills_it(client: Client) -> None:
    html = page(client, "/releases/")
    assert element(html, "[data-state=empty] a").attributes["href"] == "/campaigns/new/"
    assert elements(html, "[data-answer]") == []


def test_a_release_whose_runs_have_just_come_is_shown_as_being_compared(client: Client) -> None:
    _, new = two_releases()
    Pending.objects.create(release=new.release, hardware_class=new.hardware_class)
    waiting = element(page(client, "/releases/"), "[data-waiting]")
    assert waiting.attributes["data-waiting"] == "1"
    assert f"{new.release} on {new.hardware_class.name}" in waiting.text()
    checked()
    html = page(client, "/releases/")
    assert data(html, "waiting") == []
    assert len(elements(html, f"tr[data-release='{NEW}'][data-pending]")) == 1


def test_the_list_tells_first_which_release_regressed_with_its_counts(client: Client) -> None:
    two_releases()
    checked()
    checked(OLD)
    html = page(client, "/releases/")
    answer = element(html, "[data-answer]").text()
    assert (NEW in answer, OLD in answer) == (True, False)
    assert states(html, "tr[data-release]", "release", "baseline", "hardware", "result") == [
        (NEW, OLD, "small", "regression"),
        (OLD, "", "small", "cannot tell"),
    ]
    counts = states(html, f"tr[data-release='{NEW}'] [data-count]", "verdict", "count")
    assert counts[0] == ("worse", "1")
    assert [count for _, count in counts[1:]] == ["0"] * 6
    assert [cell.text(strip=True) for cell in elements(html, f"tr[data-release='{NEW}'] [data-count]")] == [*"1––––––"]
    assert data(html, "signed-by") == []


def test_a_release_without_an_earlier_one_is_listed_last_and_called_first(client: Client) -> None:
    """It was compared last: the newest is not at the top, and its result is no open question."""
    two_releases()
    checked()
    checked(OLD)
    *_, last = elements(page(client, "/releases/"), "tr[data-release]")
    assert last.attributes["data-release"] == OLD
    assert "first release" in last.css("[data-label=Result]")[0].text()


def test_the_primary_action_of_a_regressed_release_is_its_finding(engineer: Client) -> None:
    two_releases()
    finding = a_finding(checked())
    (primary,) = elements(page(engineer, ADDRESS), "main .button--primary")
    assert primary.attributes["href"] == f"/findings/{finding.pk}/"
    Finding.objects.filter(pk=finding.pk).update(**ACCEPTED)
    (primary,) = elements(page(engineer, ADDRESS), "main .button--primary")
    assert primary.tag == "button"


def test_the_number_of_worse_rows_stands_once(client: Client) -> None:
    two_releases()
    checked()
    html = page(client, ADDRESS)
    assert "1 worse" in element(html, "[data-result]").text()
    assert data(html, "why") == []


def test_the_page_of_a_release_answers_first_and_then_shows_the_row_with_unit_direction_and_interval(
    client: Client,
) -> None:
    two_releases()
    check = checked()
    finding = a_finding(check)
    html = page(client, ADDRESS)
    assert states(html, "[data-result]", "result", "baseline", "hardware") == [("regression", OLD, "small")]
    assert f"{check.title}: {check.summary}" in element(html, "[data-result]").text()
    (row,) = check.rows
    assert states(html, "[data-workload]", "workload", "threads", "metric", "verdict") == [
        (str(row.workload_id), "4", "client.throughput", "worse")
    ]
    assert element(html, "[data-ratio] > a").text() == "−12\xa0%"
    assert element(html, "[data-ratio] > a").attributes["href"] == f"/compare/?{row.compare}"
    assert element(html, "[data-interval]").text() == "[−12\xa0%, −12\xa0%]"
    assert float(element(html, "[data-strip]").attributes["data-strip"] or "nan") < 50  # worse is on the left
    assert [element(html, f"[data-side={side}]").text() for side in ("before", "after")] == ["1,000", "880"]
    assert states(html, "[data-unit]", "unit", "direction") == [("transactions/s", "higher")]
    link = element(html, "td[data-state=new] a")
    assert link.attributes["href"] == f"/findings/{finding.pk}/"


def test_unchanged_rows_are_left_out_until_they_are_asked_for(client: Client) -> None:
    old, new = two_releases()
    other = a_workload("oltp_read_only")
    measure(old, workload=other)
    measure(new, STEADY[::-1], workload=other)
    checked()
    html = page(client, ADDRESS)
    worse = (str(a_workload().pk), "worse")
    assert row_states(html) == [worse]
    toggle = element(html, "[data-count]").attributes
    assert toggle["data-count"] == "1"
    assert row_states(page(client, f"{toggle['href']}")) == [worse, (str(other.pk), "unchanged")]


def test_what_the_release_did_not_run_is_listed_as_missing(client: Client) -> None:
    old, _ = two_releases(after=STEADY[::-1])
    measure(old, threads=16)
    checked()
    html = page(client, ADDRESS)
    assert data(html, "result") == ["cannot tell"]
    rows = states(html, "section[aria-labelledby=missing] tbody tr", "workload", "threads", "metric", "verdict")
    assert rows == [(str(a_workload().pk), "16", "client.throughput", "missing")]
    assert len(elements(html, "section[aria-labelledby=rows] [data-state=empty]")) == 1


def test_what_people_accept_counts_at_once_without_a_new_comparison(client: Client) -> None:
    two_releases()
    finding = a_finding(checked())
    Finding.objects.filter(pk=finding.pk).update(**ACCEPTED)
    html = page(client, ADDRESS)
    assert states(html, "[data-result]", "result", "baseline") == [("fine", OLD)]
    assert states(html, "[data-workload][data-accepted]", "verdict") == [("worse",)]
    (row,) = client.get("/api/v1/checked-releases/").json()["results"]
    assert (row["result"], row["counts"]["accepted"]) == ("fine", 1)


def test_an_acceptance_that_has_ended_does_not_count(client: Client) -> None:
    two_releases()
    finding = a_finding(checked())
    Finding.objects.filter(pk=finding.pk).update(**{**ACCEPTED, "accepted_until": date(2020, 1, 1)})
    assert client.get("/api/v1/checked-releases/").json()["results"][0]["result"] == "regression"


def test_a_release_is_held_against_another_one_on_demand_but_not_signed_off(engineer: Client) -> None:
    two_releases()
    measure(a_system_of("10.11.18"), SLOWER[::-1])
    checked()
    html = page(engineer, f"{ADDRESS}?baseline=10.11.18&rows=all")
    assert states(html, "[data-result]", "result", "baseline", "hardware") == [("fine", "10.11.18", "small")]
    assert [verdict for _, verdict in row_states(html)] == ["unchanged"]
    assert data(html, "compared") == ["page-only"]
    own = f"http://testserver{ADDRESS}?hardware=small&baseline=10.11.18"
    assert own in element(html, "#markdown").text()
    assert own in engineer.get(f"{ADDRESS}release.md?hardware=small&baseline=10.11.18").content.decode()
    sign_off = f"form[action='{ADDRESS}sign-off/']"
    assert elements(html, sign_off) == []
    html = page(engineer, ADDRESS)
    assert (data(html, "compared"), len(elements(html, sign_off))) == (["stored"], 1)


@pytest.mark.parametrize(
    ("address", "status", "field", "value"),
    [
        (f"{ADDRESS}?baseline={NEW}", 400, "baseline", NEW),
        (f"{ADDRESS}?baseline=9", 404, "baseline", "'9'"),
        (f"{ADDRESS}?hardware=none", 404, "hardware", "'none'"),
    ],
)
def test_a_wrong_address_says_what_is_wrong(client: Client, address: str, status: int, field: str, value: str) -> None:
    two_releases()
    checked()
    html = page(client, address, status)
    assert data(html, "field") == [field]
    assert value in element(html, "[data-field]").text()
    assert data(html, "result") == []


def test_an_unknown_release_is_not_found_and_a_file_names_the_wrong_field(client: Client) -> None:
    two_releases()
    checked()
    page(client, "/releases/mariadb/9/", 404)
    assert page(client, f"{ADDRESS}release.md?baseline={NEW}", 400).startswith("baseline: ")


def test_files_hold_what_the_page_shows(client: Client) -> None:
    two_releases()
    a_finding(checked())
    text = client.get(f"{ADDRESS}release.md").content.decode()
    assert text.startswith("**✗ ")
    assert "| worse |" in text
    assert f"http://testserver{ADDRESS}?hardware=small" in text
    (line,) = csv.DictReader(io.StringIO(client.get(f"{ADDRESS}release.csv").content.decode()))
    assert (line["verdict"], line["unit"], line["direction"]) == ("worse", "transactions/s", "higher")
    assert float(line["ratio"]) == pytest.approx(0.88)
    assert len(line["runs_after"].split()) == 3


def test_an_inconclusive_row_says_which_fall_would_have_been_seen(engineer: Client) -> None:
    two_releases(before=(1000.0, 1300.0, 700.0), after=(900.0, 1500.0, 650.0))
    check = checked()
    (row,) = check.rows
    assert row.visible is not None
    assert row.visible > 1
    html = page(engineer, ADDRESS)
    fall = 1 - 1 / (1 + row.visible)
    ((visible, worst),) = states(html, "[data-visible]", "visible", "worst")
    assert (float(visible or 0), float(worst or 0)) == pytest.approx((fall, row.worst))
    assert f"{100 * fall:.0f}\xa0%" in element(html, "[data-visible]").text()
    (line,) = csv.DictReader(io.StringIO(engineer.get(f"{ADDRESS}release.csv").content.decode()))
    assert float(line["visible"]) == pytest.approx(fall)


def test_who_may_write_is_offered_the_campaign_that_would_tell(client: Client, engineer: Client) -> None:
    two_releases(before=(1000.0, 1090.0, 910.0), after=(900.0, 1010.0, 800.0))
    (row,) = checked().rows
    assert row.verdict == "inconclusive"
    html = page(engineer, f"{ADDRESS}?rows=all")
    assert data(html, "needed") == [str(row.needed)]
    said = " ".join(element(html, "[data-needed]").text().split())
    assert f"{row.needed} sessions per side needed: plan the next" in said
    plan = "[data-needed] a[href^='/campaigns/new/']"
    form = page(engineer, element(html, plan).attributes["href"] or "")
    for name, values in (("systems", {row.baseline_system, row.system}), ("workloads", {str(row.workload_id)})):
        assert {each.attributes["value"] for each in elements(form, f"[name={name}][checked]")} == values
    for name, value in (("repetitions", 3), ("threads", 4), ("duration", 60)):
        assert element(form, f"input[name={name}]").attributes["value"] == str(value)
    client.logout()
    html = page(client, f"{ADDRESS}?rows=all")
    assert (data(html, "needed"), elements(html, plan)) == ([str(row.needed)], [])


def test_a_finding_leads_back_to_its_release(client: Client) -> None:
    two_releases()
    finding = a_finding(checked())
    assert f'href="{ADDRESS}?hardware=small"' in page(client, f"/findings/{finding.pk}/")


def test_a_release_with_too_few_repetitions_is_inconclusive(client: Client) -> None:
    two_releases(after=(880.0, 881.0))
    check = checked()
    html = page(client, ADDRESS)
    assert data(html, "result") == ["cannot tell"]
    assert [each.text() for each in elements(html, "[data-why]")] == [*check.why]
    assert [verdict for _, verdict in row_states(html)] == ["too few repetitions"]


def test_markdown_links_findings_with_the_state_of_now(client: Client) -> None:
    two_releases()
    finding = a_finding(checked())
    link = f"[{finding.pk}](http://testserver/findings/{finding.pk}/)"
    assert f"| {link}, new |" in client.get(f"{ADDRESS}release.md").content.decode()
    Finding.objects.filter(pk=finding.pk).update(**ACCEPTED)
    assert f"| {link}, accepted until 2999-01-01: known |" in client.get(f"{ADDRESS}release.md").content.decode()


def badge(client: Client, query: str = "", *, version: str = NEW, status: int = 200) -> tuple[str, str]:
    """Its title and its kind, by the colour of the result."""
    response = client.get(f"/badge/mariadb/{version}.svg{query}")
    assert (response.status_code, response["Content-Type"]) == (status, "image/svg+xml")
    svg = response.content.decode()
    (kind,) = (kind for kind, colour in badges.COLOURS.items() if f'fill="{colour}"' in svg)
    return element(svg, "title").text(), kind


def test_a_badge_says_in_words_and_colour_how_a_release_stands(client: Client) -> None:
    two_releases()
    label = f"MariaDB {NEW}"
    assert badge(client)[1] == "none"
    finding = a_finding(checked())
    assert badge(client, "?hardware=small") == (f"{label}: 1 worse", "worse")
    Finding.objects.filter(pk=finding.pk).update(**ACCEPTED)
    title, kind = badge(client)
    assert (title.startswith(f"{label}: "), "worse" in title, kind) == (True, False, "better")
    assert badge(client, version="9", status=404)[1] == "none"


def test_the_beginning_of_a_version_finds_page_files_and_badge_of_its_only_release(client: Client) -> None:
    full = f"{NEW}-MariaDB-log"
    measure(a_system_of(OLD))
    measure(a_system_of(full), SLOWER)
    checked(full)
    page = client.get(f"/releases/mariadb/{NEW}/?hardware=small")
    assert (page.status_code, page["Location"]) == (302, f"/releases/mariadb/{full}/?hardware=small")
    assert full in client.get(f"/releases/mariadb/{NEW}/release.md?hardware=small").content.decode()
    assert badge(client) == (f"MariaDB {NEW}: 1 worse", "worse")
    a_release(f"{NEW}-MariaDB-debug")
    assert client.get(f"/releases/mariadb/{NEW}/").status_code == 404, "there are two"
    assert badge(client, status=404) == (f"mariadb {NEW}: 2 releases", "none")


def test_more_releases_take_no_more_queries(client: Client, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    two_releases()
    a_finding(checked())
    client.get("/releases/")
    with django_assert_num_queries(8):
        client.get("/releases/")
    checked(OLD)
    measure(a_system_of("10.11.18"), SLOWER[::-1])
    checked("10.11.18")
    with django_assert_num_queries(8):
        client.get("/releases/")


def test_what_was_kept_in_another_form_is_left_out_and_compared_when_asked_for(client: Client) -> None:
    two_releases()
    checked()
    CheckedRelease.objects.update(told={"platform": "mariadb"})
    assert data(page(client, "/releases/"), "state") == ["empty"]
    assert [verdict for _, verdict in row_states(page(client, f"{ADDRESS}?hardware=small"))] == ["worse"]
    assert len(stored_checks.outdated()) == 1
