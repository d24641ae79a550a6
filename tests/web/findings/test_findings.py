"""Findings on pages: the answer first, what it rests on, and everything that a person does with one."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.dispatch.models import Campaign, Schedule
from apps.dispatch.schedules import services
from apps.regressions.findings import missing_results, reconcile
from apps.regressions.findings.reconcile import DetectedChange, FindingKey
from apps.regressions.models import Finding, Trend
from apps.runs.models import Run
from apps.web.components.axes import value_axis
from tests.dispatch.schedules.scheduled import a_schedule
from tests.support.builders import a_metric, a_user
from tests.support.pages import page_data
from tests.web.findings.found import AFTER, BEFORE, a_finding, a_release, measured

pytestmark = pytest.mark.django_db


def text_of(html: str) -> str:
    text = re.sub(r"<(style|script).*?</\1>", " ", html, flags=re.S)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text)).replace("\u00a0", " ").replace("&nbsp;", " ").strip()


def page(client: Client, url: str, status: int = 200) -> str:
    response = client.get(url)
    assert response.status_code == status, response.content[:500]
    return response.content.decode()


@pytest.fixture
def finding(db: None) -> Finding:
    return a_finding()


def act(client: Client, finding: Finding, action: str, answers: int = 302, /, **form: str) -> str:
    """The page that answers; `seen` is what the finding's page would send."""
    seen = Finding.objects.get(pk=finding.pk).changed_at.isoformat()
    response = client.post(f"/findings/{finding.pk}/{action}/", {"seen": seen, **form})
    assert response.status_code == answers, response.content[:2000]
    return page(client, response.headers["Location"]) if answers == 302 else response.content.decode()


def test_without_findings_the_list_says_what_fills_it(engineer: Client) -> None:
    text = text_of(page(engineer, "/findings/"))
    assert "Nothing is open." in text
    assert "No open findings" in text


def test_the_list_answers_first_and_shows_size_with_interval(finding: Finding, engineer: Client) -> None:
    text = text_of(page(engineer, "/findings/"))
    assert "1 open finding: 1 new. The largest deterioration: MariaDB 10.11.20" in text
    assert "−12 % [−14 %, −10 %]" in text
    assert "against 10.11.19 on small" in text


def test_the_list_asks_as_often_for_many_as_for_one(finding: Finding, engineer: Client) -> None:
    def asked() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            page(engineer, "/findings/?state=all")
        return len(queries)

    asked()
    few = asked()
    for number, test in enumerate(("oltp_insert", "oltp_delete", "oltp_read_only")):
        a_finding(test, family=f"tool {number}")
    assert asked() == few
    assert few <= 12


def test_the_list_is_narrowed_by_its_address(finding: Finding, engineer: Client) -> None:
    for query, found in (
        *(("state=all", 1), ("state=confirmed", 0), ("verdict=better", 0), ("platform=mariadb&release=10.11.20", 1)),
        *(("release=10.11.19", 0), ("owner=nobody", 1), ("owner=me", 0), ("smallest=0.1", 1), ("smallest=0.2", 0)),
        ("text=write_only", 1),
    ):
        assert page(engineer, f"/findings/?{query}").count("data-finding=") == found, query


@pytest.mark.parametrize("query", ["state=odd", "smallest=large", "after=x", "colour=red"])
def test_an_odd_filter_is_named_and_nothing_breaks(finding: Finding, engineer: Client, query: str) -> None:
    assert query.split("=", maxsplit=1)[0] in text_of(page(engineer, f"/findings/?{query}", 400))


@pytest.mark.parametrize("name", ["platform", "hardware", "release", "family", "owner"])
def test_what_is_asked_for_and_does_not_exist_is_named(finding: Finding, engineer: Client, name: str) -> None:
    assert f"{name}: there is no" in text_of(page(engineer, f"/findings/?{name}=nope", 404))
    answer = engineer.get(f"/api/v1/findings/?{name}=nope")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, name)
    assert engineer.get(f"/findings/feed.atom?{name}=nope").status_code == 400


def test_a_finding_says_what_changed_and_what_the_servers_did(finding: Finding, engineer: Client) -> None:
    html = page(engineer, f"/findings/{finding.pk}/")
    text = text_of(html)
    assert "MariaDB 10.11.20 against 10.11.19 on small" in text
    assert "Throughput −12 %; Redo log: waits for the log buffer 0 → 340 waits/s (saturated)." in text
    assert "5 against 5 runs, p 0.0004 corrected for all tests of the release" in text
    assert "The axis is broken: it begins at" in text
    for run in Run.objects.all():
        assert f'href="/runs/{run.pk}/"' in html
    assert "/compare/?side=mariadb-10-11-19&amp;side=mariadb-10-11-20" in html
    assert "Release" in text[text.index("Configuration differences") :]


def test_a_finding_asks_as_often_for_many_runs_and_changes_as_for_few(finding: Finding, engineer: Client) -> None:
    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            page(engineer, f"/findings/{finding.pk}/")
        return len(queries)

    asked()
    few = asked()
    other = a_finding("oltp_insert")
    assert other.pk == finding.pk
    assert asked() == few
    assert few <= 45


def test_another_change_of_a_finding_is_looked_at_by_its_address(finding: Finding, engineer: Client) -> None:
    a_finding("oltp_insert", after=tuple(value * 0.5 for value in BEFORE))
    small = finding.changes.get(workload__name="oltp_write_only")
    assert "Throughput of oltp_insert" in text_of(page(engineer, f"/findings/{finding.pk}/"))
    assert "Throughput of oltp_write_only" in text_of(page(engineer, f"/findings/{finding.pk}/?change={small.pk}"))
    page(engineer, f"/findings/{finding.pk}/?change=0", 404)
    page(engineer, "/findings/999999/", 404)


def test_a_run_that_was_left_out_since_is_marked(finding: Finding, engineer: Client) -> None:
    Run.objects.filter(pk=Run.objects.earliest("pk").pk).update(is_excluded=True)
    html = page(engineer, f"/findings/{finding.pk}/")
    first = page_data(html, "finding-chart")["sides"][0]["runs"][0]
    assert first["note"] == "excluded since"
    assert first["text"].endswith(f", {first['note']}")
    assert "Hollow: runs that failed a check or were excluded." in text_of(html)


def test_the_chart_has_every_run_of_both_sides_with_their_levels(finding: Finding, engineer: Client) -> None:
    drawn = page_data(page(engineer, f"/findings/{finding.pk}/"), "finding-chart")
    before, after = drawn["sides"]
    assert [run["value"] for run in before["runs"]] == [*BEFORE]
    assert [run["value"] for run in after["runs"]] == [*AFTER]
    assert (before["level"], before["level_text"]) == (pytest.approx(1000, rel=0.01), "1,000")
    assert drawn["band"] == pytest.approx([before["level"] * 0.995, before["level"] * 1.005])
    assert drawn["axis"]["begins_at"].startswith(drawn["axis"]["texts"][0])


def test_an_axis_of_values_below_zero_holds_them_all() -> None:
    axis = value_axis([-3.0, 1.0], "%", below=1.0, round_below=1.0)
    assert (axis.range[0] < -3, axis.range[1] > 1, axis.begins_at) == (True, True, "")


def test_a_finding_is_assigned_from_the_list_in_one_click(finding: Finding, engineer: Client) -> None:
    html = page(engineer, "/findings/")
    assert f'action="/findings/{finding.pk}/assign/"' in html
    assert "Assigned to you." in act(engineer, finding, "assign", owner="ann", next="/findings/")
    finding.refresh_from_db()
    assert finding.owner is not None
    assert finding.owner.username == "ann"


def test_htmx_gets_the_row_back_with_what_became_of_it(finding: Finding, engineer: Client) -> None:
    form = {"seen": finding.changed_at.isoformat(), "state": "confirmed"}
    response = engineer.post(f"/findings/{finding.pk}/state/", form, headers={"HX-Request": "true"})
    html = response.content.decode()
    assert html.strip().startswith("<tr")
    assert "State: confirmed." in html
    again = engineer.post(f"/findings/{finding.pk}/state/", form, headers={"HX-Request": "true"})
    assert again.status_code == 200
    assert "ann set it from new to confirmed. Look at it and decide again." in text_of(again.content.decode())


def test_every_deed_is_done_and_told(finding: Finding, engineer: Client) -> None:
    a_user(username="bob")
    later = str(timezone.localdate() + timedelta(days=30))
    deeds: list[tuple[str, dict[str, str], str]] = [
        ("assign", {"owner": "bob"}, "ann assigned it to bob"),
        ("state", {"state": "under review", "reason": "looking"}, "from new to under review: looking"),
        ("due", {"due_on": later}, f"ann set its due date to {later}"),
        ("labels", {"labels": "redo, io"}, "ann labelled it “io”, “redo”"),
        ("comment", {"text": "look at this, @bob"}, "mentions bob"),
        ("comment", {"text": "and you, @bbo."}, "Comment saved. Nobody is called @bbo: not notified."),
        ("link", {"url": "https://jira.example/MDEV-1", "title": "MDEV-1"}, "ann linked https://jira.example/MDEV-1"),
        ("accept", {"reason": "a known price", "until": later}, f"to accepted until {later}: a known price"),
        ("reopen", {"reason": "no longer"}, "ann re-opened it; it was accepted: no longer"),
    ]
    for action, form, words in deeds:
        assert words in text_of(act(engineer, finding, action, 302, **form)), action
    link = finding.links.get()
    assert "ann unlinked" in act(engineer, finding, "unlink", link=str(link.pk))


@pytest.mark.parametrize(
    ("action", "form", "words"),
    [
        ("accept", {"reason": "known", "until": "2020-01-01"}, "until: 2020-01-01 has passed"),
        ("accept", {"reason": "known", "until": "tomorrow"}, "until: 'tomorrow' is not a date"),
        ("accept", {"reason": " ", "until": "2099-01-01"}, "reason: is empty"),
        ("due", {"due_on": "2020-01-01"}, "due_on: 2020-01-01 has passed"),
        ("link", {"url": "known", "title": "it"}, "url: 'known' is not a web address"),
        ("assign", {"owner": "known"}, "owner: there is nobody called 'known'"),
        ("assign", {"owner": "a\0known"}, "owner: there is nobody called"),
        ("state", {"state": "verify", "reason": "known"}, "state: 'verify' does not follow 'new'"),
    ],
)
def test_what_is_refused_says_why_and_keeps_what_was_typed(
    finding: Finding, engineer: Client, action: str, form: dict[str, str], words: str
) -> None:
    html = act(engineer, finding, action, 400, **form)
    assert words in text_of(html).replace("&#x27;", "'")
    assert "known" in html[html.index('id="review"') :] or form.get("reason") == " " or action in ("assign", "due")
    assert Finding.objects.get().state == "new"


def test_who_comes_second_is_told_what_happened(finding: Finding, engineer: Client) -> None:
    seen = finding.changed_at.isoformat()
    act(engineer, finding, "comment", text="I look at it")
    act(engineer, finding, "state", state="confirmed")
    response = engineer.post(f"/findings/{finding.pk}/state/", {"seen": seen, "state": "fixed", "reason": "by mine"})
    assert response.status_code == 409
    text = text_of(response.content.decode())
    assert "has changed since you saw it" in text
    assert "ann set it from new to confirmed" in text
    assert 'value="by mine"' in response.content.decode()


def test_a_reader_sees_everything_and_changes_nothing(finding: Finding, client: Client) -> None:
    client.force_login(a_user(username="rita", role="reader"))
    for address in ("/findings/", f"/findings/{finding.pk}/"):
        html = page(client, address)
        assert 'method="post" action="/findings/' not in html
    assert client.post(f"/findings/{finding.pk}/state/", {"state": "confirmed"}).status_code == 403
    assert Finding.objects.get().state == "new"


def test_deeds_that_are_none_are_not_there(finding: Finding, engineer: Client) -> None:
    assert engineer.post(f"/findings/{finding.pk}/dance/").status_code == 404
    assert engineer.post("/findings/999999/comment/", {"text": "?"}).status_code == 404
    assert engineer.get(f"/findings/{finding.pk}/state/").status_code == 405


def test_the_overview_names_what_is_open(finding: Finding, engineer: Client) -> None:
    text = text_of(page(engineer, "/"))
    assert "1 open finding" in text
    assert finding.title.replace("\u00a0", " ") in text


def test_a_change_for_the_better_is_no_trouble(engineer: Client) -> None:
    a_finding(after=tuple(value * 1.4 for value in AFTER))
    text = text_of(page(engineer, "/findings/"))
    assert "none of those shown is a deterioration" in text
    assert "better" in text


def test_both_sides_are_measured_again_in_one_click(finding: Finding, engineer: Client) -> None:
    assert "Run 5 more repetitions of both sides" in text_of(page(engineer, f"/findings/{finding.pk}/"))
    text = text_of(act(engineer, finding, "repeat", repetitions="5"))
    campaign = Campaign.objects.get()
    assert f"Campaign {campaign.pk} measures again" in text
    assert "No live agent can reach" in text
    assert "0 of 10 runs" in text
    assert sorted(campaign.systems.values_list("slug", flat=True)) == ["mariadb-10-11-19", "mariadb-10-11-20"]
    assert "is already measuring them again" in text_of(act(engineer, finding, "repeat", 400, repetitions="3"))


def test_changes_are_split_off_and_merged_back(finding: Finding, engineer: Client) -> None:
    a_finding("oltp_insert", after=tuple(value * 0.5 for value in BEFORE))
    small = finding.changes.get(workload__name="oltp_write_only")
    assert "are not all changes" in text_of(act(engineer, finding, "split", 400))
    act(engineer, finding, "split", change=str(small.pk))
    other = Finding.objects.exclude(pk=finding.pk).get()
    assert [change.pk for change in other.changes.all()] == [small.pk]
    assert "there is no finding 987654" in text_of(act(engineer, other, "merge", 400, into="987654"))
    text = text_of(act(engineer, other, "merge", into=str(finding.pk)))
    assert f"Merged into finding {finding.pk}" in text
    assert finding.changes.count() == 2


def test_a_change_along_one_systems_history_shows_what_its_servers_said(engineer: Client) -> None:
    system = a_release("10.11.19")
    a_metric("client.throughput", name="Throughput")
    runs = [
        *measured(system, BEFORE, test="oltp_write_only", waits=0.0, day=0),
        *measured(system, AFTER, test="oltp_write_only", waits=340.0, day=9),
    ]
    Run.objects.filter(pk__in=[run.pk for run in runs[5:]]).update(server_version="10.11.19-rebuilt")
    watched = Trend.objects.create(
        platform=system.release.platform,
        hardware_class=system.hardware_class,
        settings_hash=system.settings_hash,
        workload=runs[0].workload,
        load_level=runs[0].load_level,
        metric=a_metric("client.throughput"),
    )
    place = FindingKey("change", "sysbench", watched.platform, watched.hardware_class, system.release)
    change = DetectedChange(
        kind="history",
        verdict="worse",
        system=system.pk,
        workload=watched.workload_id,
        load_level=watched.load_level_id,
        metric=watched.metric_id,
        history=watched.pk,
        first_run=runs[5].pk,
        before=1000.0,
        after=880.0,
        ratio=0.88,
        runs_before=tuple(run.pk for run in runs[:5]),
        runs_after=tuple(run.pk for run in runs[5:]),
    )
    (finding,) = reconcile.settle([(place, change)])
    html = page(engineer, f"/findings/{finding.pk}/")
    text = text_of(html)
    assert "0 → 340 waits/s (saturated)" in text
    assert "Server version not known 10.11.19-rebuilt" in text
    assert "too few repetitions" in text
    assert f'href="/trends/{watched.pk}/"' in html
    assert "/compare/?side=" not in html


def test_a_result_that_did_not_come_is_told_with_its_reason(engineer: Client) -> None:
    schedule = a_schedule()
    now = timezone.now()
    Schedule.objects.filter(pk=schedule.pk).update(next_at=now)
    services.start_due(now=now)
    (finding,) = missing_results.look(now=now + timedelta(hours=13))
    assert "Results that the schedule nightly did not deliver." in text_of(page(engineer, f"/findings/{finding.pk}/"))
    assert "no agent has the labels system:b" in text_of(page(engineer, f"/findings/{finding.pk}/"))
    text = text_of(page(engineer, "/findings/?kind=missing"))
    assert "2 results missing new" in text
