"""Findings on pages: the answer first, what it rests on, and everything that a person does with one."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.dispatch.models import Campaign, Schedule
from apps.dispatch.schedules import services
from apps.regressions.findings import missing_results, reconcile
from apps.regressions.findings.queries import load_finding
from apps.regressions.findings.reconcile import DetectedChange, FindingKey
from apps.regressions.models import Finding, Trend
from apps.runs.models import Run
from apps.web.components.axes import value_axis
from apps.web.findings.wording import change_answer, lede
from tests.dispatch.schedules.scheduled import a_schedule
from tests.support.builders import a_metric, a_user
from tests.support.pages import data, element, elements, page_data, states
from tests.web.findings.found import AFTER, BEFORE, a_finding, a_release, measured

pytestmark = pytest.mark.django_db


def page(client: Client, url: str, status: int = 200) -> str:
    response = client.get(url)
    assert response.status_code == status, response.content[:500]
    return response.content.decode()


def listed(html: str) -> list[tuple[str | None, ...]]:
    return states(html, "tr[data-finding]", "finding", "verdict", "state")


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
    html = page(engineer, "/findings/")
    assert states(html, "#finding-state [selected]", "count") == [("0",)]
    assert elements(html, "[data-state=empty] a")[0].attributes["href"] == "/campaigns/new/"


def test_the_list_answers_first_and_shows_size_with_interval(finding: Finding, engineer: Client) -> None:
    html = page(engineer, "/findings/")
    assert states(html, "#finding-state option", "count")[:2] == [("1",), ("1",)]
    assert finding.title in element(html, "[data-answer]").text()
    assert listed(html) == [(str(finding.pk), "worse", "new")]
    assert states(html, "tr[data-finding]", "baseline", "hardware") == [("10.11.19", "small")]
    assert element(html, "[data-size]").text() == "−12\xa0%"
    assert element(html, "[data-interval]").text() == "[−14\xa0%, −10\xa0%]"


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
        assert len(listed(page(engineer, f"/findings/?{query}"))) == found, query


@pytest.mark.parametrize("query", ["state=odd", "smallest=large", "after=x", "colour=red"])
def test_an_odd_filter_is_named_and_nothing_breaks(finding: Finding, engineer: Client, query: str) -> None:
    assert data(page(engineer, f"/findings/?{query}", 400), "field") == query.split("=")[:1]


@pytest.mark.parametrize("name", ["platform", "hardware", "release", "family", "owner"])
def test_what_is_asked_for_and_does_not_exist_is_named(finding: Finding, engineer: Client, name: str) -> None:
    html = page(engineer, f"/findings/?{name}=nope", 404)
    assert data(html, "field") == [name]
    assert "'nope'" in element(html, "[data-field]").text()
    answer = engineer.get(f"/api/v1/findings/?{name}=nope")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, name)
    assert engineer.get(f"/findings/feed.atom?{name}=nope").status_code == 400


def test_a_finding_says_what_changed_and_what_the_servers_did(finding: Finding, engineer: Client) -> None:
    html = page(engineer, f"/findings/{finding.pk}/")
    detail = load_finding(finding.pk, now=timezone.now())
    assert detail is not None
    (change,) = detail.changes
    assert element(html, "[data-answer]").text().split("\n")[0].strip() == lede(detail)
    assert element(html, "p[data-change]").text().strip() == change_answer(change)
    assert "340\xa0waits/s" in elements(html, "[data-cause]")[0].text()
    assert ("redo_log.waits", "ok", "saturated") in states(html, "[data-indicator]", "indicator", "before", "after")
    assert element(html, "[data-begins-at]").attributes["data-begins-at"]
    assert sorted(data(html, "run")) == sorted(str(run.pk) for run in Run.objects.all())
    links = [each.attributes["href"] or "" for each in elements(html, "a[href^='/compare/']")]
    assert any("side=mariadb-10-11-19&side=mariadb-10-11-20" in link for link in links)
    assert "release" in data(html, "field")


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
    assert few <= 48


def test_another_change_of_a_finding_is_looked_at_by_its_address(finding: Finding, engineer: Client) -> None:
    a_finding("oltp_insert", after=tuple(value * 0.5 for value in BEFORE))
    small = finding.changes.get(workload__name="oltp_write_only")
    large = finding.changes.get(workload__name="oltp_insert")
    address = f"/findings/{finding.pk}/"
    for query, shown in (("", large), (f"?change={small.pk}", small)):
        html = page(engineer, f"{address}{query}")
        assert states(html, "p[data-change], tr[aria-current]", "change") == [(str(shown.pk),)] * 2
        assert shown.workload.name in element(html, "p[data-change]").text()
    page(engineer, f"/findings/{finding.pk}/?change=0", 404)
    page(engineer, "/findings/999999/", 404)


def test_a_run_that_was_left_out_since_is_marked(finding: Finding, engineer: Client) -> None:
    Run.objects.filter(pk=Run.objects.earliest("pk").pk).update(is_excluded=True)
    html = page(engineer, f"/findings/{finding.pk}/")
    first = page_data(html, "finding-chart")["sides"][0]["runs"][0]
    assert first["note"] == "excluded since"
    assert first["text"].endswith(f", {first['note']}")
    assert len(elements(html, "[data-doubted]")) == 1


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
    button = element(page(engineer, "/findings/"), f"form[action='/findings/{finding.pk}/assign/'] button")
    assert (button.attributes["name"], button.attributes["value"]) == ("owner", "ann")
    html = act(engineer, finding, "assign", owner="ann", next="/findings/")
    assert data(html, "message") == ["success"]
    assert states(html, "tr[data-finding]", "owner") == [("ann",)]
    finding.refresh_from_db()
    assert finding.owner is not None
    assert finding.owner.username == "ann"


def test_htmx_gets_the_row_back_with_what_became_of_it(finding: Finding, engineer: Client) -> None:
    form = {"seen": finding.changed_at.isoformat(), "state": "confirmed"}
    response = engineer.post(f"/findings/{finding.pk}/state/", form, headers={"HX-Request": "true"})
    html = response.content.decode()
    assert html.strip().startswith("<tr")
    assert states(f"<table>{html}</table>", "[data-finding]", "finding", "state") == [(str(finding.pk), "confirmed")]
    assert data(html, "message") == ["success"]
    again = engineer.post(f"/findings/{finding.pk}/state/", form, headers={"HX-Request": "true"})
    assert again.status_code == 200
    problem = element(again.content.decode(), "[data-message=error]").text()
    assert ("ann" in problem, "confirmed" in problem) == (True, True)


def test_every_action_is_done_and_listed(finding: Finding, engineer: Client) -> None:
    a_user(username="bob")
    later = str(timezone.localdate() + timedelta(days=30))
    # Action, form, the finding's state afterwards, its latest note, and what that note quotes.
    actions: list[tuple[str, dict[str, str], dict[str, str], str, str]] = [
        ("assign", {"owner": "bob"}, {"owner": "bob"}, "owner", "bob"),
        ("state", {"state": "under review", "reason": "looking"}, {"state": "under review"}, "state", "looking"),
        ("due", {"due_on": later}, {"due": later}, "due", later),
        ("labels", {"labels": "redo, io"}, {"labels": "io redo"}, "labels", "redo"),
        ("comment", {"text": "look at this, @bob"}, {}, "comment", "look at this, @bob"),
        ("link", {"url": "https://jira.example/1", "title": "MDEV-1"}, {}, "link", "https://jira.example/1"),
        ("accept", {"reason": "known", "until": later}, {"state": "accepted", "until": later}, "state", "known"),
        ("reopen", {"reason": "no longer"}, {"state": "new", "until": ""}, "reopened", "no longer"),
    ]
    for action, form, changed, what, quoted in actions:
        html = act(engineer, finding, action, 302, **form)
        assert data(html, "message") == ["success"], action
        head = element(html, ".page-head[data-finding]").attributes
        assert {name: head[f"data-{name}"] for name in changed} == changed, action
        assert states(html, "[data-what]", "what", "by")[-1] == (what, "ann"), action
        assert quoted in elements(html, "[data-what]")[-1].text(), action
    assert states(html, "[data-what=comment]", "mentions") == [("bob",)]
    link = finding.links.get()
    assert element(html, f"a[href='{link.url}']").text() == "MDEV-1"
    html = act(engineer, finding, "unlink", link=str(link.pk))
    assert states(html, "[data-what]", "what", "by")[-1] == ("unlink", "ann")
    assert elements(html, f"a[href='{link.url}']") == []


def test_a_comment_that_mentions_nobody_known_is_saved_with_a_warning(finding: Finding, engineer: Client) -> None:
    html = act(engineer, finding, "comment", text="and you, @bbo.")
    assert "@bbo" in element(html, "[data-message=success]").text()
    assert states(html, "[data-what=comment]", "by", "mentions") == [("ann", "")]


@pytest.mark.parametrize(
    ("action", "form", "field", "value"),
    [
        ("accept", {"reason": "known", "until": "2020-01-01"}, "until", "2020-01-01"),
        ("accept", {"reason": "known", "until": "tomorrow"}, "until", "'tomorrow'"),
        ("accept", {"reason": " ", "until": "2099-01-01"}, "reason", ""),
        ("due", {"due_on": "2020-01-01"}, "due_on", "2020-01-01"),
        ("link", {"url": "known", "title": "it"}, "url", "'known'"),
        ("assign", {"owner": "known"}, "owner", "'known'"),
        ("assign", {"owner": "a\0known"}, "owner", "known"),
        ("state", {"state": "verify", "reason": "known"}, "state", "'verify'"),
    ],
)
def test_what_is_refused_says_why_and_keeps_what_was_typed(
    finding: Finding, engineer: Client, action: str, form: dict[str, str], field: str, value: str
) -> None:
    html = act(engineer, finding, action, 400, **form)
    assert states(html, ".problem [data-field]", "field") == [(field,)]
    assert value in element(html, ".problem [data-field]").text()
    tied = {f"{control.attributes['id']}-error" for control in elements(html, "[aria-invalid=true]")}
    assert tied == {each.attributes["id"] for each in elements(html, ".field__error")}
    assert "known" in html[html.index('id="review"') :] or form.get("reason") == " " or action in ("assign", "due")
    assert Finding.objects.get().state == "new"


def test_no_two_fields_of_a_finding_have_the_same_label(finding: Finding, engineer: Client) -> None:
    labels = [each.text() for each in elements(page(engineer, f"/findings/{finding.pk}/"), "label[for]")]
    assert len(set(labels)) == len(labels)


def test_who_comes_second_sees_what_happened(finding: Finding, engineer: Client) -> None:
    seen = finding.changed_at.isoformat()
    act(engineer, finding, "comment", text="I look at it")
    act(engineer, finding, "state", state="confirmed")
    response = engineer.post(f"/findings/{finding.pk}/state/", {"seen": seen, "state": "fixed", "reason": "by mine"})
    assert response.status_code == 409
    html = response.content.decode()
    problem = element(html, ".problem [data-field]")
    assert problem.attributes["data-field"] == ""
    assert ("ann" in problem.text(), "confirmed" in problem.text()) == (True, True)
    assert states(html, ".page-head", "state") == [("confirmed",)]
    assert element(html, "#state-reason").attributes["value"] == "by mine"


def test_a_reader_sees_everything_and_changes_nothing(finding: Finding, client: Client) -> None:
    client.force_login(a_user(username="rita", role="reader"))
    for address in ("/findings/", f"/findings/{finding.pk}/"):
        html = page(client, address)
        assert len(elements(html, f"[data-finding='{finding.pk}']")) == 1
        assert elements(html, "form[method=post][action^='/findings/']") == []
    assert client.post(f"/findings/{finding.pk}/state/", {"state": "confirmed"}).status_code == 403
    assert Finding.objects.get().state == "new"


def test_deeds_that_are_none_are_not_there(finding: Finding, engineer: Client) -> None:
    assert engineer.post(f"/findings/{finding.pk}/dance/").status_code == 404
    assert engineer.post("/findings/999999/comment/", {"text": "?"}).status_code == 404
    assert engineer.get(f"/findings/{finding.pk}/state/").status_code == 405


def test_the_overview_names_what_is_open(finding: Finding, engineer: Client) -> None:
    link = element(page(engineer, "/"), f"[data-finding='{finding.pk}'] a")
    assert (link.attributes["href"], link.text()) == (f"/findings/{finding.pk}/", finding.title)


def test_a_change_for_the_better_is_no_trouble(engineer: Client) -> None:
    finding = a_finding(after=tuple(value * 1.4 for value in AFTER))
    html = page(engineer, "/findings/")
    assert listed(html) == [(str(finding.pk), "better", "new")]
    assert finding.title not in element(html, "[data-answer]").text()


def test_both_sides_are_measured_again_in_one_click(finding: Finding, engineer: Client) -> None:
    button = element(page(engineer, f"/findings/{finding.pk}/"), "#repeat button").attributes
    assert (button["value"], button["data-systems"]) == ("5", "2")
    html = act(engineer, finding, "repeat", repetitions="5")
    campaign = Campaign.objects.get()
    message = element(html, "[data-message=success]").text()
    assert [word in message for word in (f" {campaign.pk} ", "mariadb-10-11-19", "mariadb-10-11-20")] == [True] * 3
    assert states(html, "[data-campaign]", "campaign", "done", "runs") == [(str(campaign.pk), "0", "10")]
    assert sorted(campaign.systems.values_list("slug", flat=True)) == ["mariadb-10-11-19", "mariadb-10-11-20"]
    html = act(engineer, finding, "repeat", 400, repetitions="3")
    assert states(html, ".problem [data-field]", "field") == [("repetitions",)]


def test_changes_are_split_off_and_merged_back(finding: Finding, engineer: Client) -> None:
    a_finding("oltp_insert", after=tuple(value * 0.5 for value in BEFORE))
    small = finding.changes.get(workload__name="oltp_write_only")
    html = act(engineer, finding, "split", 400)
    assert states(html, ".problem [data-field]", "field") == [("change",)]
    assert element(html, "#split-change").attributes["aria-describedby"] == "split-change-error"
    assert element(html, ".problem a[href='#split-change']")
    act(engineer, finding, "split", change=str(small.pk))
    other = Finding.objects.exclude(pk=finding.pk).get()
    assert [change.pk for change in other.changes.all()] == [small.pk]
    problem = element(act(engineer, other, "merge", 400, into="987654"), ".problem [data-field]")
    assert (problem.attributes["data-field"], "987654" in problem.text()) == ("into", True)
    html = act(engineer, other, "merge", into=str(finding.pk))
    assert str(finding.pk) in element(html, "[data-message=success]").text()
    assert element(html, ".notice a").attributes["href"] == f"/findings/{finding.pk}/"
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
    assert ("redo_log.waits", "ok", "saturated") in states(html, "[data-indicator]", "indicator", "before", "after")
    assert "340\xa0waits/s" in elements(html, "[data-cause]")[0].text()
    values = elements(html, "[data-field=server_version] td.value")
    assert [value.text(strip=True) for value in values] == ["not known", "10.11.19-rebuilt"]
    assert states(html, "tr[data-change]", "verdict", "low", "high") == [("worse", "", "")]
    assert len(elements(html, f"a[href='/trends/{watched.pk}/']")) == 1
    assert elements(html, "a[href^='/compare/?side=']") == []


def test_a_result_that_did_not_come_is_shown_with_its_reason(engineer: Client) -> None:
    schedule = a_schedule()
    now = timezone.now()
    Schedule.objects.filter(pk=schedule.pk).update(next_at=now)
    services.start_due(now=now)
    (finding,) = missing_results.look(now=now + timedelta(hours=13))
    html = page(engineer, f"/findings/{finding.pk}/")
    assert element(html, "[data-answer] a").attributes["href"] == f"/schedules/{schedule.pk}/"
    lines = [line.text() for line in elements(html, "tr[data-change]")]
    assert sorted(label for line in lines for label in ("system:a", "system:b") if label in line) == [
        "system:a",
        "system:b",
    ]
    html = page(engineer, "/findings/?kind=missing")
    assert listed(html) == [(str(finding.pk), "missing", "new")]
    assert states(html, "tr[data-finding] [data-count]", "count") == [("2",)]
