"""What limits the sides, as a reader of Compare meets it."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from apps.catalog.models import Workload
from tests.support.builders import a_measured_run, a_system, a_workload
from tests.web.compare.compared import TPS
from tests.web.compare.test_use_method import measure, workload  # noqa: F401  a fixture

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_answer_says_what_limits_the_sides_without_a_scroll_and_leads_to_the_evidence(
    browser_page: Page,
    workload: Workload,  # noqa: F811
) -> None:
    browser_page.goto(f"/compare/?side=a&side=b&workload={workload.pk}")
    headline = browser_page.locator("[data-limit-of=a]")
    expect(headline).to_contain_text("CPU")
    expect(browser_page.locator("[data-tab=limits] [data-mark]")).to_have_text("●")
    headline.click()
    expect(browser_page.get_by_role("heading", name="Limits", exact=True)).to_be_visible()
    memory = browser_page.locator('#use .use-strip tr[data-resource="memory"]')
    expect(memory).to_be_hidden()
    browser_page.get_by_label("Quiet resources too").check()
    expect(memory).to_be_visible()


def test_the_answer_says_where_limits_were_not_monitored(browser_page: Page) -> None:
    for slug in ("a", "b"):
        a_measured_run({TPS: 100.0}, system=a_system(slug))
    browser_page.goto(f"/compare/?side=a&side=b&workload={a_workload().pk}")
    for slug in ("a", "b"):
        expect(browser_page.locator(f"[data-limit-of={slug}]")).to_have_text("Limit not monitored")


def test_the_answer_says_that_limits_did_not_come_until_they_do(
    browser_page: Page,
    workload: Workload,  # noqa: F811
) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    browser_page.route(re.compile("tab=limits"), hold)
    with browser_page.expect_request(re.compile("tab=limits")):
        browser_page.goto(f"/compare/?side=a&side=b&workload={workload.pk}")
    headline = browser_page.locator("[data-limit-of=a]")
    expect(headline).to_have_text("What limits it: loading")
    # As htmx says it: the browser's own words of a failed request would fail the test.
    browser_page.locator("[data-panel=limits]").dispatch_event("htmx:sendError")
    expect(headline).to_have_text("Limit could not be loaded")
    held.pop().continue_()
    expect(headline).to_contain_text("CPU")


def test_a_zoom_of_the_nodes_clock_is_one_for_all_rows_and_is_in_the_address(browser_page: Page) -> None:
    measure()
    browser_page.goto(f"/compare/?side=a&side=b&workload={a_workload().pk}&tab=limits")
    plot = browser_page.locator("#chart-clock .chart__plot")
    plot.scroll_into_view_if_needed()
    expect(plot.locator(".main-svg").first).to_be_visible()
    # Every row has the same axis of time.
    assert set(plot.evaluate("plot => plot.data.map((line) => line.xaxis ?? 'x')")) == {"x"}
    area = plot.locator(".nsewdrag").first.bounding_box()
    assert area
    middle = area["y"] + area["height"] / 2
    # One crosshair through all rows, with the values of all nodes at that second.
    browser_page.mouse.move(area["x"] + area["width"] * 0.4, middle)
    line = plot.locator(".spikeline").first
    expect(line).to_be_attached()
    crosshair = line.bounding_box()
    assert crosshair
    assert crosshair["height"] > 0.95 * area["height"]
    expect(plot.locator(".hoverlayer .legend .legendtext")).to_have_count(plot.evaluate("plot => plot.data.length"))
    browser_page.mouse.move(area["x"] + area["width"] * 0.25, middle)
    browser_page.mouse.down()
    browser_page.mouse.move(area["x"] + area["width"] * 0.75, middle, steps=5)
    browser_page.mouse.up()
    browser_page.wait_for_url("**&from=*")
    zoomed = plot.evaluate("plot => plot.layout.xaxis.range")
    browser_page.reload()
    plot.scroll_into_view_if_needed()
    expect(plot.locator(".main-svg").first).to_be_visible()
    assert plot.evaluate("plot => plot.layout.xaxis.range") == pytest.approx(zoomed, abs=0.01)
