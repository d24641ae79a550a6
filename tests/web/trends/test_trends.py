"""Pages of watched series and of thresholds."""

import re
from collections.abc import Sequence
from html import unescape
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from apps.core.units import with_unit
from apps.regressions.detection import DEFAULT_LIMITS
from apps.regressions.models import Threshold, Trend
from apps.regressions.releases.threshold_preview import TriedReleases
from apps.regressions.trends.queries import TrendLevel, Tried
from apps.regressions.trends.series import SeriesRun
from apps.web.findings.thresholds import on_releases
from apps.web.trends.chart import MOST, TrendChart, chart
from tests.regressions.trends.made_series import a_release, followed, runs_of, values
from tests.support.browser import drawn_points
from tests.support.builders import START, a_load_level, a_user, a_workload
from tests.support.pages import page_data

pytestmark = pytest.mark.django_db
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
    return re.sub(r"\s+", " ", response.content.decode())


def test_without_runs_the_list_says_what_fills_it(client: Client, db: None) -> None:
    text = page(client, "/trends/")
    assert "No series watched yet." in text
    assert "The first run of a" in text
    assert "No thresholds yet: the default applies." in page(client, "/thresholds/")


def test_the_list_says_what_could_be_seen_and_what_changed(client: Client, fell: Trend) -> None:
    followed(runs_of(a_release("10.11.19"), [1.0, 2.0], load_level=a_load_level(16)))
    text = page(client, "/trends/")
    assert "2 series are watched: 1 can show a change, 1 too short. 1 has active changes." in text
    assert "too short: 2 of the 10 runs needed" in text
    assert "1 change</span>" in text
    assert "16 threads" not in page(client, "/trends/?sight=fit")
    assert "No watched series fits these filters" in page(client, "/trends/?text=nothing")


def test_a_filter_that_is_none_is_refused_by_name(client: Client, fell: Trend) -> None:
    assert "sight: &#x27;blue&#x27; is not known" in page(client, "/trends/?sight=blue", 400)
    assert "workload: is not a number" in page(client, "/trends/?workload=x", 400)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("workload=x", "workload: is not a number"),
        ("sight=blue", "sight: 'blue' is not known; choose from: "),
        ("platfrom=mha", "platfrom: unknown parameter; known here: "),
    ],
)
def test_page_and_api_refuse_an_address_in_the_same_words(client: Client, db: None, query: str, words: str) -> None:
    assert words in unescape(page(client, f"/trends/?{query}", 400))
    answer = client.get(f"/api/v1/trends/?{query}")
    assert (answer.status_code, words in answer.json()["detail"]) == (400, True)


def test_the_list_asks_as_often_for_many_series_as_for_one(
    client: Client, fell: Trend, django_assert_max_num_queries: Any
) -> None:
    for threads in range(5, 9):
        followed(runs_of(a_release("10.11.19"), [1.0], load_level=a_load_level(threads)))
    with django_assert_max_num_queries(5):
        page(client, "/trends/")


def test_a_series_shows_its_change_its_releases_and_every_run(
    client: Client, fell: Trend, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(9):
        text = page(client, f"/trends/{fell.pk}/")
    change = fell.changes.get()
    assert re.search(r"−15.%? \([\d,.]+.transactions/s → [\d,.]+.transactions/s\) with 10.11.20, worse", text)
    assert re.search(r"a change of \d\.\d % would be detected within ten runs", text)
    (drawn,) = page_data(text, "trend-charts")
    assert [point["value"] for point in drawn["points"]] == pytest.approx(VALUES)
    assert [(level["start"], level["end"]) for level in drawn["levels"]] == [(0, 24), (24, 36)]
    assert [(mark["place"], mark["kind"]) for mark in drawn["changes"]] == [(24, "worse")]
    assert drawn["changes"][0]["text"].startswith("worse −15")
    assert len(re.findall(r"<tr data-run=", text)) == 36
    assert re.search(r'aria-label="[^"]*throughput of 36 runs of [^"]+ at [^"]+: −15[^"]+ with 10.11.20, worse', text)
    assert f'href="/findings/{change.finding_id}/"' in text
    assert f'href="/runs/{change.first_run_id}/"' in text
    assert "not at zero" in text or "begins at zero" in text
    assert "changes within 0.5 % of the last level are not reported (the default threshold" in text
    page(client, f"/trends/{fell.pk + 1}/", 404)


def test_a_series_says_where_conditions_changed(client: Client, fell: Trend) -> None:
    followed(runs_of(a_release("10.11.20"), VALUES[24:27], day=5, duration=120))
    text = page(client, f"/trends/{fell.pk}/")
    assert "planned length 120 s instead of 60 s" in text
    assert "Too short: 3 of the 10 runs needed since hardware or configuration changed." in text


def test_a_threshold_is_tried_then_kept_then_taken_away(engineer: Client, fell: Trend, enqueued: list[str]) -> None:
    address = f"/thresholds/?workload={fell.workload_id}&percent=30&significant=1e-6"
    text = page(engineer, address)
    assert "It would have reported nothing on 1 series; 1 reported now would be withdrawn." in text
    assert "<strong>would go</strong>" in text
    assert not Threshold.objects.exists()
    form = {"workload": str(fell.workload_id), "metric": "", "percent": "30", "significant": "1e-6"}
    assert engineer.post("/thresholds/", form).status_code == 302
    kept = Threshold.objects.get()
    assert (kept.smallest, kept.significant, kept.by.username) == (0.3, 1e-6, "ann")
    assert enqueued == ["workers.tasks.follow_rest"]
    text = page(engineer, "/thresholds/?percent=2&significant=1e-6")
    assert "All have a more specific one, which takes precedence." in text
    assert "30 %" in text
    assert engineer.post(f"/thresholds/{kept.pk}/drop/").status_code == 302
    assert not Threshold.objects.exists()


def test_what_would_be_new_is_said(client: Client, fell: Trend) -> None:
    fell.changes.update(gone_at="2026-01-01T00:00Z")
    text = page(client, "/thresholds/?percent=2&significant=1e-6")
    assert "It would have reported this one on 1 series: 1 not reported yet." in text
    assert "Engineers save thresholds." in text


def a_chart(values: Sequence[float], smallest: float | None = None) -> TrendChart:
    points = [SeriesRun(run, 1, 1, "11.4.2", (11, 4, 2), START, value) for run, value in enumerate(values)]
    levels = [TrendLevel(0, len(points), 1000.0)]
    drawn = chart(
        *(points, levels, []),
        anchor="trend-1",
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
    text = page(client, "/thresholds/?percent=30&significant=1e-6")
    assert "nothing on 2 series, of which 1 is too short to show a change; 1 reported now would be withdrawn." in text
    assert "The size also applies to releases: no stored comparison has a row that it applies to." in text


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ((3, 40, 2, 0), "of 40 rows of their last comparisons, 2 that are worse now would become unchanged"),
        ((3, 40, 0, 1), "of 40 rows of their last comparisons, 1 that is worse by too little now would be"),
        ((1, 1, 0, 0), "of 1 row of their last comparisons, no verdict would change."),
    ],
)
def test_what_a_threshold_does_to_releases_is_a_sentence(counts: tuple[int, int, int, int], words: str) -> None:
    tried = Tried((None, None), DEFAULT_LIMITS, 1, 1, 0, 0, (), TriedReleases(*counts))
    assert on_releases(tried).startswith(f"The size also applies to releases: {words}")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("percent=x&significant=1e-6", "percent: is not a number"),
        ("percent=2&significant=.5", "significant: is a p from"),
        ("percent=200&significant=1e-6", "smallest: is a share"),
        ("percent=2&significant=1e-6&workload=999999", "workload: there is no workload 999999"),
        ("percent=2&significant=1e-6&metric=no", "metric: there is no metric"),
    ],
)
def test_what_is_no_threshold_is_refused_where_it_stands(client: Client, fell: Trend, query: str, words: str) -> None:
    assert words in page(client, f"/thresholds/?{query}", 400)


def test_readers_and_strangers_keep_no_threshold(client: Client, fell: Trend) -> None:
    form = {"workload": "", "metric": "", "percent": "30", "significant": "1e-6"}
    assert client.post("/thresholds/", form).status_code == 302
    client.force_login(a_user(role="reader"))
    assert client.post("/thresholds/", form).status_code == 403
    assert client.post("/thresholds/1/drop/").status_code == 403
    assert not Threshold.objects.exists()
    assert a_workload().thresholds.count() == 0
