"""Pages of watched series and of thresholds."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from apps.core.units import with_unit
from apps.regressions.detection import DEFAULT_LIMITS
from apps.regressions.findings.titles import percent
from apps.regressions.models import Threshold, Trend
from apps.regressions.releases.threshold_preview import TriedReleases
from apps.regressions.trends.queries import TrendFilter, TrendLevel, TrendRow, Tried, detail, listed, preview, rows_of
from apps.regressions.trends.series import SeriesRun
from apps.web.findings.thresholds import ThresholdForm, on_releases
from apps.web.findings.thresholds import answer as threshold_answer
from apps.web.templatetags.changes import share
from apps.web.trends import trends
from apps.web.trends.chart import MOST, TrendChart, chart
from apps.web.trends.trends import answer, lede
from tests.regressions.trends.made_series import a_release, followed, runs_of, values
from tests.support.browser import drawn_points
from tests.support.builders import START, a_load_level, a_user, a_workload
from tests.support.pages import data, element, elements, page_data, states

pytestmark = pytest.mark.django_db
COUNTS = ("looked-at", "raised", "new", "withdrawn", "too-short")
VALUES = values(runs=36, changes=[(24, 0.85)])


@pytest.fixture
def fell(db: None) -> Trend:
    """Two releases, the second slower by 15 %, made under other conditions from its ninth run on."""
    runs = runs_of(a_release("10.11.19"), VALUES[:24], duration=60)
    runs += runs_of(a_release("10.11.20"), VALUES[24:], day=2, duration=60)
    followed(runs[-1:])
    return Trend.objects.get()


def page(client: Client, address: str, status: int = 200) -> str:
    response = client.get(address)
    assert response.status_code == status
    return response.content.decode()


def watched() -> list[TrendRow]:
    return listed(list(rows_of(TrendFilter()).order_by("pk")))


def test_a_drift_is_named_with_its_interval_on_the_page_in_the_api_and_on_the_board(client: Client, db: None) -> None:
    system = a_release("10.11.19")
    for day, value in enumerate(values(runs=60, noise=0.005)):
        last = runs_of(system, [value * 0.999**day], day=day)
    followed(last)
    trend = Trend.objects.get()
    html = page(client, f"/trends/{trend.pk}/")
    drift = client.get(f"/api/v1/trends/{trend.pk}/").json()["patterns"]["drift"]
    text = element(html, "[data-answer]").text()
    assert re.match(
        r"Drifts by −0\.\d+\xa0% a week \[−0\.\d+, −0\.\d+\], −\d\.\d\xa0% in all, worse; no change point", text
    )
    assert element(html, "[data-pattern]").text().startswith("Drifts by")
    assert f"−{abs(drift['change']) * 100:.2f}\xa0% a week" in text
    shown = element(page(client, "/trends/"), "[data-board] [data-pattern]")
    assert (shown.text(), str(shown.attributes["title"]).startswith("Drifts by")) == ("drifts", True)


def test_without_runs_the_list_says_what_fills_it(client: Client, db: None) -> None:
    html = page(client, "/trends/series/")
    assert element(html, "[data-state=empty] a").attributes["href"] == "/campaigns/new/"
    assert data(page(client, "/thresholds/"), "state") == ["empty"]


def test_the_list_says_what_could_be_seen_and_what_changed(client: Client, fell: Trend) -> None:
    followed(runs_of(a_release("10.11.19"), [1.0, 2.0], load_level=a_load_level(16)))
    html = page(client, "/trends/series/")
    short = Trend.objects.exclude(pk=fell.pk).get()
    assert states(html, "[data-trend]", "trend", "runs", "changes") == [
        (str(fell.pk), str(len(VALUES)), "1"),
        (str(short.pk), "2", "0"),
    ]
    assert [bool(effect) for effect in data(html, "effect")] == [True, False]
    rows = watched()
    assert element(html, "[data-reason]").text() == rows[1].reason
    assert element(html, "[data-answer]").text() == answer(rows, more=False, filtered=False)
    assert data(page(client, "/trends/series/?sight=fit"), "trend") == [str(fell.pk)]
    none = page(client, "/trends/series/?text=nothing")
    assert (data(none, "state"), element(none, "[data-answer]").text()) == (["no-matches"], "No matches.")


def test_another_filter_brings_its_answer_and_its_link_to_json(client: Client, fell: Trend) -> None:
    part = client.get("/trends/series/?text=nothing", headers={"HX-Request": "true"}).content.decode()
    head = element(part, "#series-head[hx-swap-oob]")
    assert head.css("[data-answer]")[0].text() == "No matches."
    assert "/api/v1/trends/?text=nothing" in [link.attributes["href"] for link in head.css("a")]
    assert len(elements(page(client, "/trends/series/"), "#series-head:not([hx-swap-oob])")) == 1


@pytest.mark.parametrize("query", ["workload=x", "sight=blue", "platfrom=mha"])
def test_page_and_api_refuse_an_address_in_the_same_words(client: Client, fell: Trend, query: str) -> None:
    problem = element(page(client, f"/trends/series/?{query}", 400), "[data-field]")
    assert problem.attributes["data-field"] == query.partition("=")[0]
    refused = client.get(f"/api/v1/trends/?{query}")
    assert (refused.status_code, problem.text().partition("known here: ")[0] in refused.json()["detail"]) == (400, True)


def test_the_list_says_how_many_series_can_show_a_change(fell: Trend) -> None:
    followed(runs_of(a_release("10.11.19"), [1.0, 2.0], load_level=a_load_level(16)))
    rows = watched()
    assert answer([], more=False, filtered=False) == "No series watched yet."
    text = "2 series are watched: 1 can show a change, 1 too short. 1 has active changes."
    assert answer(rows, more=False, filtered=False) == text
    assert answer(rows, more=True, filtered=False) == f"More than {text}"
    assert rows[1].reason == "too short: 2 of the 10 runs needed"


def test_the_list_asks_as_often_for_many_series_as_for_one(
    client: Client, fell: Trend, django_assert_max_num_queries: Any
) -> None:
    for threads in range(5, 9):
        followed(runs_of(a_release("10.11.19"), [1.0], load_level=a_load_level(threads)))
    with django_assert_max_num_queries(5):
        page(client, "/trends/series/")


def test_a_series_shows_its_change_its_releases_and_every_run(
    client: Client, fell: Trend, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(9):
        html = page(client, f"/trends/{fell.pk}/")
    change = fell.changes.get()
    found = detail(fell.pk)
    assert found is not None
    assert element(html, "[data-answer]").text() == lede(found)
    trend = trends.drawn(found)
    assert trend is not None
    (drawn,) = page_data(html, "trend-charts")
    assert [point["value"] for point in drawn["points"]] == pytest.approx(VALUES)
    assert [(level["start"], level["end"]) for level in drawn["levels"]] == [(0, 24), (24, 36)]
    assert [(mark["place"], mark["kind"]) for mark in drawn["changes"]] == [(24, "worse")]
    assert drawn["changes"][0]["text"].startswith("worse −15")
    assert len(elements(html, "figure tr[data-run]")) == 36
    assert element(html, "figure [role=img]").attributes["aria-label"] == trend.label
    assert trend.label.split(" of ")[:2] == ["client.throughput", "36 runs"]
    assert trend.label.endswith(lede(found))
    assert states(html, "[data-finding]", "run", "verdict", "finding") == [
        (str(change.first_run_id), "worse", str(change.finding_id))
    ]
    assert element(html, "[data-size]").text().startswith("−15")
    links = {link.attributes["href"] for link in elements(html, "[data-finding] a")}
    assert links == {f"/findings/{change.finding_id}/", f"/runs/{change.first_run_id}/"}
    assert states(html, "[data-smallest]", "smallest", "source", "begins-at") == [
        ("0.005", "the default", trend.axis.begins_at)
    ]
    page(client, f"/trends/{fell.pk + 1}/", 404)


def test_a_series_says_where_conditions_changed(client: Client, fell: Trend) -> None:
    followed(runs_of(a_release("10.11.20"), VALUES[24:27], day=5, duration=120))
    html = page(client, f"/trends/{fell.pk}/")
    (point,) = [point for point in page_points(fell) if point.reset]
    assert data(html, "reset") == [str(point.run)]
    assert point.reset == "planned length 120 s instead of 60 s"
    assert point.reset in element(html, "[data-reset]").text()


def page_points(history: Trend) -> Sequence[SeriesRun]:
    found = detail(history.pk)
    assert found is not None
    return found.points


def test_the_lede_says_what_changed_and_what_could_be_seen(fell: Trend) -> None:
    found = detail(fell.pk)
    assert found is not None
    (change,) = found.changes
    values = f"{with_unit(change.before, 'transactions/s')} → {with_unit(change.after, 'transactions/s')}"
    seen = f"After 36 runs a change of {share(found.row.effect)} would be detected within ten runs."
    assert lede(found) == f"{percent(change.ratio or 1)} ({values}) with 10.11.20, worse. {seen}"
    followed(runs_of(a_release("10.11.20"), VALUES[24:27], day=5, duration=120))
    found = detail(fell.pk)
    assert found is not None
    assert lede(found).endswith("Too short: 3 of the 10 runs needed since hardware or configuration changed.")


def test_a_threshold_is_tried_then_kept_then_taken_away(engineer: Client, fell: Trend, enqueued: list[str]) -> None:
    address = f"/thresholds/?workload={fell.workload_id}&percent=30&significant=1e-6"
    html = page(engineer, address)
    assert states(html, "#answer", *COUNTS) == [("1", "0", "0", "1", "0")]
    change = fell.changes.get()
    assert states(html, "li[data-run]", "run", "verdict", "state") == [(str(change.first_run_id), "worse", "withdrawn")]
    assert not Threshold.objects.exists()
    form = {"workload": str(fell.workload_id), "metric": "", "percent": "30", "significant": "1e-6"}
    assert engineer.post("/thresholds/", form).status_code == 302
    kept = Threshold.objects.get()
    assert (kept.smallest, kept.significant, kept.by.username) == (0.3, 1e-6, "ann")
    assert enqueued == ["workers.tasks.follow_rest"]
    html = page(engineer, "/thresholds/?percent=2&significant=1e-6")
    assert states(html, "#answer", "looked-at", "kept-apart") == [("0", "1")]
    assert states(html, "[data-threshold]", "smallest", "significant") == [("0.3", "0.000001")]
    assert element(html, "[data-size]").text() == "30\xa0%"
    question = element(html, "[data-threshold] form").attributes["data-confirm"] or ""
    assert f"{fell.workload.name}, all metrics?" in question
    assert engineer.post(f"/thresholds/{kept.pk}/drop/").status_code == 302
    assert not Threshold.objects.exists()


def test_what_would_be_new_is_said(client: Client, fell: Trend) -> None:
    fell.changes.update(gone_at="2026-01-01T00:00Z")
    html = page(client, "/thresholds/?percent=2&significant=1e-6")
    assert states(html, "#answer", *COUNTS) == [("1", "1", "1", "0", "0")]
    assert states(html, "li[data-run]", "state") == [("new",)]
    assert elements(html, "#answer form") == []


def a_chart(values: Sequence[float], smallest: float | None = None) -> TrendChart:
    points = [SeriesRun(run, 1, 1, "11.4.2", (11, 4, 2), START, value) for run, value in enumerate(values)]
    levels = [TrendLevel(0, len(points), 1000.0)]
    drawn = chart(
        *(points, levels, []),
        anchor="trend-1",
        color=0,
        metric_name="throughput",
        unit="transactions/s",
        label="",
        smallest=smallest,
    )
    assert drawn is not None
    return drawn


@pytest.mark.parametrize("smallest", [0.1, 0.9])
def test_the_band_ends_where_a_change_begins_to_count(smallest: float) -> None:
    """As the detector asks: a share of the value, up and down; not as far of its logarithm."""
    band = a_chart([1000.0, 2000.0, 1000.0], smallest=smallest).band
    assert band is not None
    assert (band.low, band.high) == pytest.approx((1000 * (1 - smallest), 1000 * (1 + smallest)))


def test_an_axis_begins_at_zero_unless_the_values_are_close_together() -> None:
    assert a_chart([1000.0, 2000.0]).axis.begins_at == ""
    close = a_chart([1000.0, 1010.0]).axis
    assert close.begins_at == with_unit(close.range[0], "transactions/s")
    assert 980 < close.range[0] < 1000
    assert all(close.range[0] <= tick <= close.range[1] for tick in close.ticks)


def test_of_a_long_series_the_newest_runs_are_drawn() -> None:
    drawn = a_chart([1000.0] * (MOST + 5))
    assert (drawn.left_out, len(drawn.points), drawn.points[0].run) == (5, MOST, 5)


def test_a_point_says_run_release_time_and_value() -> None:
    assert (
        a_chart([1000.0]).points[0].text
        == f"run 0, 11.4.2, {START:%Y-%m-%d %H:%M} UTC: 1,000\N{NO-BREAK SPACE}transactions/s"
    )


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_what_is_drawn_is_what_was_measured_and_leads_to_the_run(browser_page: Page) -> None:
    runs = runs_of(a_release("10.11.19"), VALUES[:24]) + runs_of(a_release("10.11.20"), VALUES[24:], day=2)
    followed(runs[-1:])
    history = Trend.objects.get()
    browser_page.goto(f"/trends/{history.pk}/")
    levels, points = drawn_points(browser_page, f"trend-{history.pk}")
    assert points["y"] == pytest.approx(VALUES)
    assert len(levels["y"]) == 2 * 4
    plot = browser_page.locator(".trend-chart .chart__plot")
    # Where the last point is in the window.
    at = plot.evaluate("""plot => {
      const {xaxis, yaxis} = plot._fullLayout, {x, y} = plot.data[1], box = plot.getBoundingClientRect();
      return [box.x + xaxis._offset + xaxis.l2p(x.at(-1)), box.y + yaxis._offset + yaxis.l2p(y.at(-1))];
    }""")
    browser_page.mouse.move(at[0] - 1, at[1])
    expect(plot.locator(".hoverlayer")).to_contain_text(f"run {runs[-1].pk}, 10.11.20")
    browser_page.mouse.click(*at)
    browser_page.wait_for_url(f"**/runs/{runs[-1].pk}/")


def test_it_is_said_what_is_too_short_and_what_becomes_of_releases(client: Client, fell: Trend) -> None:
    followed(runs_of(a_release("10.11.20"), VALUES[:6], workload=a_workload("oltp_delete"))[-1:])
    html = page(client, "/thresholds/?percent=30&significant=1e-6")
    assert states(html, "#answer", *COUNTS, "rows") == [("2", "0", "0", "1", "1", "0")]


def tried(*, concerned: int = 1, looked_at: int = 1, too_short: int = 0, kept_apart: int = 0) -> Tried:
    """A preview that reports nothing."""
    releases = TriedReleases(0, 0, 0, 0)
    return Tried((None, None), DEFAULT_LIMITS, concerned, looked_at, too_short, kept_apart, (), releases)


@pytest.mark.parametrize(
    ("preview", "text"),
    [
        (tried(), "It would have reported nothing on 1 series."),
        (tried(concerned=9), "It would have reported nothing on the first 1 of 9 series."),
        (tried(looked_at=0), "No watched series is affected."),
        (
            tried(looked_at=0, kept_apart=1),
            "No watched series is affected. All have a more specific one, which takes precedence.",
        ),
        (
            tried(concerned=2, looked_at=2, too_short=1),
            "It would have reported nothing on 2 series, of which 1 is too short to show a change.",
        ),
        (
            tried(kept_apart=3),
            "It would have reported nothing on 1 series. 3 series have a more specific one, which takes precedence.",
        ),
    ],
)
def test_a_preview_that_reports_nothing_says_of_how_many_series(preview: Tried, text: str) -> None:
    assert threshold_answer(preview) == text


def test_a_preview_says_what_would_be_new_and_what_would_be_withdrawn(fell: Trend) -> None:
    strict = preview(workload=None, metric=None, smallest=0.3, significant=1e-6)
    assert threshold_answer(strict) == (
        "It would have reported nothing on 1 series; 1 reported now would be withdrawn."
    )
    fell.changes.update(gone_at="2026-01-01T00:00Z")
    wide = preview(workload=None, metric=None, smallest=0.02, significant=1e-6)
    assert threshold_answer(wide) == "It would have reported this one on 1 series: 1 not reported yet."


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ((3, 40, 2, 0), "of 40 rows of their last comparisons, 2 that are worse now would become unchanged"),
        ((3, 40, 0, 1), "of 40 rows of their last comparisons, 1 that is worse by too little now would be"),
        (
            (3, 40, 0, 0, 2),
            "of 40 rows of their last comparisons, 2 that are neither worse nor better would become “can",
        ),
        ((1, 1, 0, 0), "of 1 row of their last comparisons, no verdict would change."),
        ((0, 0, 0, 0), "no stored comparison has a row that it applies to."),
    ],
)
def test_what_a_threshold_does_to_releases_is_a_sentence(counts: tuple[int, ...], words: str) -> None:
    assert on_releases(replace(tried(), releases=TriedReleases(*counts))).startswith(
        f"It also applies to releases: {words}"
    )


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("percent=x&significant=1e-6", "percent"),
        ("percent=2&significant=.5", "significant"),
        ("percent=200&significant=1e-6", "percent"),
        ("percent=2&significant=1e-6&workload=999999", "workload"),
        ("percent=2&significant=1e-6&metric=no", "metric"),
    ],
)
def test_what_is_no_threshold_is_refused_where_it_stands(client: Client, fell: Trend, query: str, field: str) -> None:
    html = page(client, f"/thresholds/?{query}", 400)
    assert data(html, "field") == [field]
    assert elements(html, "#answer") == []


def test_numbers_of_a_threshold_are_refused_with_an_example() -> None:
    form = ThresholdForm({"percent": "x", "significant": "y"})
    assert form.errors == {
        "percent": ["is not a number (write, for example, 2)"],
        "significant": ["is not a number (write, for example, 1e-05)"],
    }


def test_readers_and_strangers_keep_no_threshold(client: Client, fell: Trend) -> None:
    form = {"workload": "", "metric": "", "percent": "30", "significant": "1e-6"}
    assert client.post("/thresholds/", form).status_code == 302
    client.force_login(a_user(role="reader"))
    assert client.post("/thresholds/", form).status_code == 403
    assert client.post("/thresholds/1/drop/").status_code == 403
    assert not Threshold.objects.exists()
    assert a_workload().thresholds.count() == 0
