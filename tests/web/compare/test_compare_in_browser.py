"""The answer of Compare in Chromium: complete above the fold, and nothing moves while tabs come."""

from typing import Literal

import pytest
from django.conf import LazySettings
from django.utils import timezone
from playwright.sync_api import Page, expect

from apps.accounts import shared_links
from apps.catalog.models import Workload
from apps.runs.models import Run
from apps.saved import services as saved
from tests.support.browser import drawn_points
from tests.support.builders import a_load_level, a_system, a_user
from tests.web.compare.compared import address
from tests.web.runs.recorded_runs import a_sealed_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SHIFTS = """window.shifts = [];
new PerformanceObserver((list) => window.shifts.push(...list.getEntries().filter((one) => !one.hadRecentInput)
  .map((one) => one.value))).observe({type: "layout-shift", buffered: true});"""
# What lies beyond the edge of the page, and is not cut off there.
BEYOND = """() => [...document.querySelectorAll("main *")]
  .filter((one) => one.getBoundingClientRect().right > window.innerWidth + 1 && !one.closest("svg, .visually-hidden"))
  .map((one) => `${one.tagName}#${one.id}.${one.getAttribute("class")}`)"""
TABS = ("scalability", "limits", "latency", "steadiness", "work", "cost", "differences", "runs", "results")


@pytest.mark.parametrize("medium", ["screen", "print"])
def test_the_answer_has_the_pages_width_where_no_load_can_be_chosen(
    browser_page: Page, workload: Workload, sides: object, medium: Literal["screen", "print"]
) -> None:
    Run.objects.update(load_level=a_load_level(4))
    browser_page.emulate_media(media=medium)
    browser_page.goto(address(workload))
    boxes = [browser_page.locator(each).bounding_box() for each in (".compare-verdicts", ".compare-grounds")]
    assert all(box and box["width"] > 600 for box in boxes)


def test_verdict_and_charts_are_complete_above_the_fold_and_nothing_moves(
    browser_page: Page, workload: Workload, sides: object
) -> None:
    Run.objects.update(failed_checks=["generator"])
    browser_page.add_init_script(SHIFTS)
    browser_page.goto(address(workload, level="4"))
    expect(browser_page.locator("[data-ribbon='lower bound']")).to_be_visible()
    for figure in ("chart-answer", "chart-curve-throughput", "chart-curve-latency"):
        assert drawn_points(browser_page, figure)
        box = browser_page.locator(f"#{figure}").bounding_box()
        assert box
        assert box["y"] + box["height"] <= 900
    expect(browser_page.locator("[data-answer]")).to_have_count(2)
    for tab in TABS:
        expect(browser_page.locator(f"[data-panel={tab}]")).to_have_attribute("data-loaded", "")
    browser_page.mouse.wheel(0, 3000)
    browser_page.wait_for_timeout(300)
    assert sum(browser_page.evaluate("window.shifts")) < 0.05


def test_a_tab_opens_in_its_place_and_has_an_address(browser_page: Page, workload: Workload, sides: object) -> None:
    browser_page.goto(address(workload, level="4"))
    browser_page.locator("a[data-tab=differences]").click()
    expect(browser_page.locator("#comparability")).to_be_visible()
    expect(browser_page.locator("#results")).to_be_hidden()
    assert browser_page.url.endswith(address(workload, level="4", tab="differences"))
    # The other load keeps the tab, going back opens the one before.
    follow = browser_page.locator(".compare-loads a").last.get_attribute("href") or ""
    assert follow.endswith(address(workload, level="8", tab="differences"))
    browser_page.go_back()
    expect(browser_page.locator("#results")).to_be_visible()
    # An address from before there were tabs.
    browser_page.goto("about:blank")
    browser_page.goto(f"{address(workload)}#runs")
    expect(browser_page.locator("#runs")).to_be_visible()
    expect(browser_page.locator("a[data-tab=runs]")).to_have_attribute("aria-current", "page")


def test_paper_has_every_tab_with_its_tables_and_nothing_sticks_out(
    browser_page: Page, workload: Workload, sides: object
) -> None:
    browser_page.goto(address(workload, level="4"))
    for tab in TABS:
        expect(browser_page.locator(f"[data-panel={tab}]")).to_have_attribute("data-loaded", "")
    browser_page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    browser_page.set_viewport_size({"width": 718, "height": 1000})  # A4
    browser_page.emulate_media(media="print")
    for part in ("results", "ladder", "latency", "steadiness", "cost", "comparability", "runs"):
        expect(browser_page.locator(f"#{part}")).to_be_visible()
    table = browser_page.locator("#results table")
    assert table.evaluate("table => getComputedStyle(table).display") == "table"
    assert browser_page.evaluate(BEYOND) == []
    expect(browser_page.locator("[data-tabs]")).to_be_hidden()


def test_the_seconds_have_one_zoom_which_is_in_the_address_and_one_crosshair(browser_page: Page) -> None:
    level = a_load_level()
    first, _ = (a_sealed_run(system=a_system(slug), load_level=level) for slug in ("alpha", "beta"))
    browser_page.goto(f"/compare/?side=alpha&side=beta&workload={first.workload_id}&tab=steadiness")
    browser_page.locator("#seconds").scroll_into_view_if_needed()
    plots = browser_page.locator("#seconds .js-plotly-plot")
    expect(plots).to_have_count(2)
    plots.last.scroll_into_view_if_needed()
    area = plots.last.locator(".nsewdrag").first.bounding_box()
    assert area
    middle = area["y"] + area["height"] / 2
    browser_page.mouse.move(area["x"] + area["width"] * 0.4, middle)
    expect(browser_page.locator("#seconds .chart__second:visible")).to_have_count(2)
    expect(browser_page.locator("#seconds .chart__now").first).to_contain_text("alpha")
    browser_page.mouse.move(area["x"] + area["width"] * 0.25, middle)
    browser_page.mouse.down()
    browser_page.mouse.move(area["x"] + area["width"] * 0.75, middle, steps=5)
    browser_page.mouse.up()
    browser_page.wait_for_url("**&from=*")
    same = "(plots) => new Set(plots.map((plot) => plot.layout.xaxis.range.map((end) => end.toFixed(2)).join())).size"
    expect(plots.first).to_be_attached()
    browser_page.wait_for_function(f"() => ({same})([...document.querySelectorAll('#seconds .js-plotly-plot')]) === 1")
    zoomed = plots.first.evaluate("plot => plot.layout.xaxis.range")
    browser_page.reload()
    browser_page.locator("#seconds").scroll_into_view_if_needed()
    expect(plots).to_have_count(2)
    assert plots.first.evaluate("plot => plot.layout.xaxis.range") == pytest.approx(zoomed, abs=0.01)


def test_seconds_that_did_not_come_are_asked_for_again(browser_page: Page) -> None:
    level = a_load_level()
    first, _ = (a_sealed_run(system=a_system(slug), load_level=level) for slug in ("alpha", "beta"))
    # Without a request, for the browser's own words of a failed one would fail the test.
    browser_page.add_init_script(
        "window.kept = window.fetch; window.fetch = () => Promise.reject(new TypeError('away'));"
    )
    browser_page.goto(f"/compare/?side=alpha&side=beta&workload={first.workload_id}&tab=steadiness")
    browser_page.locator("#seconds").scroll_into_view_if_needed()
    plot = browser_page.locator("#seconds .chart__plot").first
    expect(plot).to_contain_text("could not be loaded")
    expect(browser_page.locator("#seconds .chart__notes").first).to_contain_text("cannot be reached")
    browser_page.evaluate("() => { window.fetch = window.kept; }")
    plot.get_by_role("button", name="Try again").click()
    expect(browser_page.locator("#seconds .js-plotly-plot")).to_have_count(2)


def test_seconds_are_said_to_be_no_part_of_a_shared_page(browser_page: Page, settings: LazySettings) -> None:
    level = a_load_level()
    first, _ = (a_sealed_run(system=a_system(slug), load_level=level) for slug in ("alpha", "beta"))
    asked = {"side": ["alpha", "beta"], "workload": [str(first.workload_id)]}
    kept = saved.save(query=asked, title="Beta beats Alpha", note="", by=a_user())
    path, query = f"/comparisons/{kept.slug}/", {"snapshot": "1"}
    _, secret = shared_links.create(
        by=a_user(), view="saved", path=path, query=query, title=kept.title, days=7, now=timezone.now()
    )
    settings.SPLASHBOARD_PUBLIC_READ = False
    browser_page.goto(f"/shared/{secret}/")
    browser_page.goto(f"{browser_page.url}&tab=steadiness")
    expect(browser_page.locator("[data-seconds]")).to_contain_text("not part of a shared page")
