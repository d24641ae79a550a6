"""Releases on pages, as files, badges and over the API; who signs them off."""

import csv
import io
import re
from datetime import date, timedelta
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from apps.catalog.models import HardwareClass
from apps.regressions.models import Change, CheckedRelease, Finding, Pending, SignOff
from apps.regressions.releases import check as releases_check
from apps.regressions.releases import stored_checks
from apps.regressions.releases.values import ReleaseCheck
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
from tests.support.builders import START, a_user, a_workload
from tests.web.compare.compared import page, text_of

pytestmark = pytest.mark.django_db

ADDRESS = f"/releases/mariadb/{NEW}/"


def checked(version: str = NEW, hardware: HardwareClass | None = None) -> ReleaseCheck:
    check = releases_check.check(a_release(version), hardware or the_hardware())
    stored_checks.keep(check)
    return check


def a_finding(check: ReleaseCheck, **fields: Any) -> Finding:
    """Of the first row that is worse."""
    row = check.rows[0]
    assert row.system_id is not None
    finding = Finding.objects.create(
        **{
            "kind": "change",
            "platform_id": check.platform_id,
            "hardware_class_id": check.hardware_id,
            "release_id": check.release_id,
            "family": row.tool,
            "title": "slower",
            "verdict": "worse",
            "largest": 0.12,
            "changed_at": START,
            **fields,
        }
    )
    Change.objects.create(
        finding=finding,
        kind="release",
        verdict="worse",
        workload_id=row.workload_id,
        load_level_id=row.level_id,
        metric_id=row.metric_id,
        system_id=row.system_id,
        baseline_system_id=row.baseline_system_id,
        ratio=row.ratio,
        judged_at=START,
    )
    return finding


ACCEPTED = {"state": "accepted", "reason": "known", "accepted_until": date(2999, 1, 1)}


def test_without_releases_the_list_says_what_fills_it(client: Client) -> None:
    assert "No compared releases yet" in page(client, "/releases/")


def test_a_release_whose_runs_have_just_come_is_told_to_be_compared(client: Client) -> None:
    _, new = two_releases()
    Pending.objects.create(release=new.release, hardware_class=new.hardware_class)
    assert "Queued for re-check: MariaDB 10.11.20 on small." in page(client, "/releases/")
    checked()
    text = text_of(page(client, "/releases/"))
    assert "To be compared" not in text
    assert "queued for re-check" in text


def test_the_list_tells_first_which_release_regressed_with_its_counts(client: Client) -> None:
    two_releases()
    checked()
    checked(OLD)
    text = text_of(page(client, "/releases/"))
    assert "1 release regressed beyond what was accepted: MariaDB 10.11.20 on small" in text
    assert "; 1 release is the first on its hardware." in text
    assert "MariaDB 10.11.20 ✗ regression 10.11.19 small 1 0 0 0 0 0 not signed off" in text
    assert "MariaDB 10.11.19 ? cannot tell no earlier release small" in text


def test_the_page_of_a_release_answers_first_and_then_shows_the_row_with_unit_direction_and_interval(
    client: Client,
) -> None:
    two_releases()
    a_finding(checked())
    html = page(client, ADDRESS)
    text = text_of(html)
    assert "regression MariaDB 10.11.20 against 10.11.19 on small: 1 worse. 1 row is worse." in text
    assert "sysbench oltp_write_only 4 threads worse −12 % [−12 %, −12 %]" in text
    assert "1,000 880 client.throughput, transactions/s higher is better" in text
    assert re.search(r"Finding \d+, new", text)
    assert 'href="/compare/?workload=' in html


def test_unchanged_rows_are_left_out_until_they_are_asked_for(client: Client) -> None:
    old, new = two_releases()
    other = a_workload("oltp_read_only")
    measure(old, workload=other)
    measure(new, STEADY[::-1], workload=other)
    checked()
    text = page(client, ADDRESS)
    assert "oltp_read_only" not in text.split('id="rows"')[1].split("</table>")[0]
    assert "Show 1 more" in text_of(text)
    assert "oltp_read_only" in page(client, f"{ADDRESS}?rows=all").split('id="rows"')[1].split("</table>")[0]


def test_what_the_release_did_not_run_is_listed_as_missing(client: Client) -> None:
    old, _ = two_releases(after=STEADY[::-1])
    measure(old, threads=16)
    checked()
    text = text_of(page(client, ADDRESS))
    assert "cannot tell" in text
    assert "Missing 10.11.19 has runs of these, 10.11.20 has none that count" in text
    assert "sysbench oltp_write_only 16 threads" in text
    assert "No changes" in text


def test_what_people_accept_counts_at_once_without_a_new_comparison(client: Client) -> None:
    two_releases()
    finding = a_finding(checked())
    Finding.objects.filter(pk=finding.pk).update(**ACCEPTED)
    text = text_of(page(client, ADDRESS))
    assert "no regression MariaDB 10.11.20 against 10.11.19 on small: 1 worse (1 accepted)." in text
    assert "worse accepted" in text
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
    text = text_of(page(engineer, f"{ADDRESS}?baseline=10.11.18"))
    assert "MariaDB 10.11.20 against 10.11.18 on small: 1 unchanged" in text
    assert "Compared for this page only" in text
    assert "Your name is kept" not in text


@pytest.mark.parametrize(
    ("address", "status", "words"),
    [
        (f"{ADDRESS}?baseline={NEW}", 400, "is the release itself"),
        (f"{ADDRESS}?baseline=9", 404, "has no release"),
        (f"{ADDRESS}?hardware=none", 404, "no hardware class"),
        ("/releases/mariadb/9/", 404, "nothing at this address"),
        (f"{ADDRESS}release.md?baseline={NEW}", 400, "is the release itself"),
    ],
)
def test_a_wrong_address_says_what_is_wrong(client: Client, address: str, status: int, words: str) -> None:
    two_releases()
    checked()
    assert words in page(client, address, status)


def test_files_hold_what_the_page_shows(client: Client) -> None:
    two_releases()
    a_finding(checked())
    text = client.get(f"{ADDRESS}release.md").content.decode()
    assert "**✗ MariaDB 10.11.20 against 10.11.19 on small: 1 worse**" in text
    assert "| worse | sysbench oltp\\_write\\_only | 4 threads |" in text
    assert f"http://testserver{ADDRESS}?hardware=small" in text
    (line,) = csv.DictReader(io.StringIO(client.get(f"{ADDRESS}release.csv").content.decode()))
    assert (line["verdict"], line["unit"], line["direction"]) == ("worse", "transactions/s", "higher")
    assert float(line["ratio"]) == pytest.approx(0.88)
    assert len(line["runs_after"].split()) == 3


def test_a_row_that_is_not_told_apart_says_which_fall_would_have_been_seen(engineer: Client) -> None:
    two_releases(before=(1000.0, 1300.0, 700.0), after=(900.0, 1500.0, 650.0))
    check = checked()
    (row,) = check.rows
    assert row.visible is not None
    assert row.visible > 1
    html = page(engineer, ADDRESS)
    fall = 100 * (1 - 1 / (1 + row.visible))
    assert f"a fall of {fall:.0f} % would have been detected; may be worse by up to" in text_of(html)
    (line,) = csv.DictReader(io.StringIO(engineer.get(f"{ADDRESS}release.csv").content.decode()))
    assert float(line["visible"]) == pytest.approx(fall / 100)


def test_who_may_write_is_offered_the_campaign_that_would_tell(client: Client, engineer: Client) -> None:
    two_releases(before=(1000.0, 1090.0, 910.0), after=(900.0, 1010.0, 800.0))
    (row,) = checked().rows
    assert row.verdict == "inconclusive"
    html = page(engineer, f"{ADDRESS}?rows=all")
    assert f"{row.needed} repetitions per side needed: plan them" in text_of(html)
    found = re.search(r'href="(/campaigns/new/[^"]+)"[^>]*>plan them', html)
    assert found is not None
    form = page(engineer, found[1].replace("&amp;", "&"))
    for slug in (row.baseline_system, row.system):
        assert re.search(rf'name="systems" value="{slug}" checked', form)
    assert f'name="workloads" value="{row.workload_id}" checked' in form
    assert re.search(rf'name="repetitions"[^>]*value="{row.needed}"', form)
    assert re.search(r'name="threads" value="4"', form)
    assert re.search(r'name="duration"[^>]*value="60"', form)
    client.logout()
    assert "plan them" not in page(client, f"{ADDRESS}?rows=all")


def test_a_finding_leads_back_to_its_release(client: Client) -> None:
    two_releases()
    finding = a_finding(checked())
    assert f'href="{ADDRESS}?hardware=small"' in page(client, f"/findings/{finding.pk}/")


def test_rows_with_too_few_repetitions_and_first_releases_are_told_in_plain_words(client: Client) -> None:
    two_releases(after=(880.0, 881.0))
    checked()
    assert "1 row has too few repetitions." in text_of(page(client, ADDRESS))
    checked(OLD)
    text = text_of(page(client, "/releases/"))
    assert "1 release inconclusive; 1 release is the first on its hardware." in text


def test_markdown_links_findings_and_says_until_when_and_why_they_are_accepted(client: Client) -> None:
    two_releases()
    finding = a_finding(checked())
    address = f"http://testserver/findings/{finding.pk}/"
    assert f"| [{finding.pk}]({address}), new |" in client.get(f"{ADDRESS}release.md").content.decode()
    Finding.objects.filter(pk=finding.pk).update(**ACCEPTED)
    text = client.get(f"{ADDRESS}release.md").content.decode()
    assert f"| [{finding.pk}]({address}), accepted until 2999-01-01: known |" in text
    assert "| Change | p |" in text


def test_a_badge_says_in_words_and_colour_how_a_release_stands(client: Client) -> None:
    two_releases()
    address = f"/badge/mariadb/{NEW}.svg"
    assert "not compared yet" in page(client, address)
    finding = a_finding(checked())
    response = client.get(f"{address}?hardware=small")
    assert response["Content-Type"] == "image/svg+xml"
    assert "MariaDB 10.11.20: 1 worse" in response.content.decode()
    Finding.objects.filter(pk=finding.pk).update(**ACCEPTED)
    assert "MariaDB 10.11.20: no regression" in page(client, address)
    assert "no such release" in page(client, "/badge/mariadb/9.svg", 404)


# ---------------------------------------------------------------- sign-offs


def signed(client: Client, seen: str, note: str = "") -> str:
    response = client.post(f"{ADDRESS}sign-off/", {"hardware": "small", "seen": seen, "note": note}, follow=True)
    assert response.status_code == 200
    return text_of(response.content.decode())


def test_a_release_is_signed_off_by_name_with_what_was_seen_and_withdrawn(engineer: Client) -> None:
    two_releases()
    check = checked()
    text = signed(engineer, stored_checks.fingerprint(check), "we need it")
    assert "You signed off MariaDB 10.11.20 on small." in text
    assert "signed off ann" in text
    assert "we need it" in text
    assert "saw “MariaDB 10.11.20 against 10.11.19 on small: 1 worse”" in text
    assert "✓ ann" in text_of(page(engineer, "/releases/"))
    assert "you have signed this off already" in signed(engineer, stored_checks.fingerprint(check))
    row = SignOff.objects.get()
    text = text_of(engineer.post(f"/sign-offs/{row.pk}/withdraw/", follow=True).content.decode())
    assert "withdrawn ann" in text
    assert "not signed off" in text_of(page(engineer, "/releases/"))


def test_what_changed_while_somebody_read_is_not_signed_off(engineer: Client) -> None:
    old, new = two_releases()
    before = stored_checks.fingerprint(checked())
    other = a_workload("oltp_read_only")
    measure(old, workload=other)
    measure(new, SLOWER, workload=other)
    checked()
    assert "the comparison has changed since you opened it" in signed(engineer, before)
    assert not SignOff.objects.exists()


def test_more_runs_with_the_same_verdicts_leave_a_sign_off_as_it_is_and_other_verdicts_do_not(engineer: Client) -> None:
    _, new = two_releases()
    signed(engineer, stored_checks.fingerprint(checked()))
    measure(new, SLOWER)
    checked()
    assert "verdicts have changed since" not in page(engineer, ADDRESS)
    measure(new, [value + 120 for value in SLOWER] * 40)
    checked()
    assert "verdicts have changed since" in page(engineer, ADDRESS)
    assert "ann before verdicts changed" in text_of(page(engineer, "/releases/"))


def test_readers_read_and_strangers_are_asked_to_sign_in(client: Client) -> None:
    two_releases()
    checked()
    assert client.post(f"{ADDRESS}sign-off/", {"hardware": "small"}).status_code == 302
    client.force_login(a_user(role="reader"))
    assert client.post(f"{ADDRESS}sign-off/", {"hardware": "small"}).status_code == 403
    assert "Engineers and administrators sign off" in page(client, ADDRESS)


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
    assert "has changed" in other.json()["errors"][0]["message"]
    assert engineer.delete(f"/api/v1/sign-offs/{made.json()['id']}/").status_code == 204
    (listed,) = engineer.get("/api/v1/sign-offs/?hardware=small").json()["results"]
    assert listed["withdrawn_by"] == "ann"
    unknown = engineer.post("/api/v1/sign-offs/", {**body, "hardware": "x"}, content_type="application/json")
    assert [each["field"] for each in unknown.json()["errors"]] == ["hardware"]


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


# ---------------------------------------------------------------- the feed


def test_findings_are_a_feed_the_last_changed_first_with_filters(client: Client) -> None:
    two_releases()
    check = checked()
    a_finding(check, title="first", changed_at=START)
    Finding.objects.create(
        kind="change", title="second <b>", verdict="worse", state="confirmed", changed_at=START + timedelta(hours=1)
    )
    response = client.get("/findings/feed.atom")
    text = response.content.decode()
    assert response["Content-Type"].startswith("application/atom+xml")
    assert text.index("<title>second &lt;b&gt;</title>") < text.index("<title>first</title>")
    assert "worse; confirmed, nobody" in text
    assert "second" not in client.get("/findings/feed.atom?state=new").content.decode()
    assert client.get("/findings/feed.atom", headers={"If-None-Match": response["ETag"]}).status_code == 304
    assert "state: " in page(client, "/findings/feed.atom?state=odd", 400)


def test_more_findings_take_no_more_queries_of_the_feed(
    client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(5):
        finding = Finding.objects.create(
            kind="change", title=f"{number}", part=number, verdict="worse", changed_at=START
        )
        for _ in range(7):
            finding.notes.create(what="comment", text="words", by=None)
    with django_assert_max_num_queries(5):
        text = client.get("/findings/feed.atom").content.decode()
    assert text.count("<entry>") == 5
    assert text.count("words") == 25


def test_what_was_kept_in_another_form_is_left_out_and_compared_when_asked_for(client: Client) -> None:
    two_releases()
    checked()
    CheckedRelease.objects.update(told={"platform": "mariadb"})
    assert "No compared releases yet" in page(client, "/releases/")
    assert "1 worse" in page(client, f"{ADDRESS}?hardware=small")
    assert len(stored_checks.outdated()) == 1
