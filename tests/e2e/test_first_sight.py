"""The shipped example study, as a newcomer meets it: Home and Compare at one look, seven answers in two clicks."""

import pytest
from playwright.sync_api import ConsoleMessage, Page, expect

from apps.catalog import services as catalog
from apps.published import services as published
from apps.rig.examples import load
from apps.runs.models import Run
from tests.support.browser import drawn_points, follow
from tests.support.builders import a_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FOLD = 900  # px
SHIFTS = """window.shift = 0;
new PerformanceObserver((list) => list.getEntries().filter((one) => !one.hadRecentInput).forEach((one) => {
  window.shift += one.value;
})).observe({type: "layout-shift", buffered: true});"""
CHARTS = ("chart-answer", "chart-curve-throughput", "chart-curve-latency")
# Architectures that are measured, by row of Home.
MEASURED = {"ingest": 3, "mixed": 3, "tpcc": 3, "failover": 2, "schema_change": 3}


@pytest.fixture
def study(browser_page: Page) -> Page:
    """Home, with all that a start loads."""
    a_user(role="administrator", username="admin")
    catalog.seed()
    published.load_all(published.OWN_DATA)
    loaded = load.load()
    assert loaded.problems == ()
    assert loaded.restored == loaded.runs > 400
    assert set(Run.objects.order_by().values_list("state", "provenance").distinct()) == {("sealed", "example")}
    browser_page.add_init_script(SHIFTS)
    browser_page.goto("/")
    return browser_page


def test_a_newcomer_finds_seven_answers_within_two_clicks(study: Page) -> None:
    said: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        said.append(message.text)

    study.on("console", hear)
    _home_is_complete(study)
    _compare_says_which_is_faster_by_how_much_and_how_sure(study)
    _limits_say_what_limits_each_side(study)
    _failovers_are_a_race(study)
    _a_finding_says_what_the_release_changed(study)
    _published_figures_answer_each_question(study)
    _every_offered_comparison_opens(study)
    assert said == []


def _every_offered_comparison_opens(page: Page) -> None:
    page.goto("/compare/")
    offered = [link.get_attribute("href") or "" for link in page.locator("main table a").all()]
    assert len(offered) > 10
    for address in dict.fromkeys(offered):
        answer = page.goto(f"{address}&tab=all")
        assert answer is not None
        assert answer.ok, address
        # A chart that never ends being drawn would keep the page from answering.
        expect(page.locator("#chart-curve-throughput .main-svg").first).to_be_visible()


def _home_is_complete(page: Page) -> None:
    for kind, count in MEASURED.items():
        row = page.locator(f"[data-kind={kind}]")
        expect(row.locator("[data-value]")).to_have_count(count)
        expect(row.locator(".scorecard__conclusion strong")).not_to_be_empty()
    _ends_above_the_fold(page, ".scorecard")
    _ends_above_the_fold(page, ".home-cards")
    expect(page.locator("[data-finding]").first).to_be_visible()
    assert page.evaluate("window.shift") < 0.05


def _compare_says_which_is_faster_by_how_much_and_how_sure(page: Page) -> None:
    follow(page.locator("[data-kind=mixed] .scorecard__conclusion a"))
    expect(page.locator("[data-answer]")).to_have_count(3)
    for answer in page.locator("[data-answer] [data-metric='client.throughput'][data-verdict]").all():
        expect(answer).to_contain_text("95 %")
    for chart in CHARTS:
        assert drawn_points(page, chart)
        _ends_above_the_fold(page, f"#{chart}")
    page.mouse.wheel(0, 3000)
    page.wait_for_load_state("networkidle")
    assert page.evaluate("window.shift") < 0.05
    page.evaluate("window.scrollTo(0, 0)")


def _limits_say_what_limits_each_side(page: Page) -> None:
    page.locator("a[data-tab=limits]").click()
    expect(page.locator("[data-panel=limits]")).to_be_visible()
    expect(page.locator("[data-panel=limits] [data-level]").first).to_be_visible()


def _failovers_are_a_race(page: Page) -> None:
    page.goto("/")
    follow(page.locator("[data-kind=failover] .scorecard__conclusion a"))
    expect(page.locator("[data-card]").first).to_be_visible()
    _ends_above_the_fold(page, ".race-cards")


def _a_finding_says_what_the_release_changed(page: Page) -> None:
    page.goto("/")
    follow(page.locator("[data-finding] a").first)
    expect(page.locator("[data-finding]").first).to_have_attribute("data-verdict", "worse")


def _published_figures_answer_each_question(page: Page) -> None:
    page.goto("/")
    follow(page.get_by_role("link", name="Compare", exact=True).first)
    follow(page.get_by_role("link", name="Published", exact=True))
    expect(page.locator("[data-question]").first).to_be_visible()


def _ends_above_the_fold(page: Page, selector: str) -> None:
    box = page.locator(selector).first.bounding_box()
    assert box
    assert box["y"] + box["height"] <= FOLD, selector
