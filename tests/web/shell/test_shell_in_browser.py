"""The frame of every page, in Chromium."""

import pytest
from playwright.sync_api import Page, expect

from tests.support.builders import a_measured_run, a_system

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_slash_key_leads_to_the_search(browser_page: Page) -> None:
    a_system("pxc-small")
    browser_page.goto("/search/")
    browser_page.keyboard.press("/")
    expect(browser_page.locator("#search")).to_be_focused()
    browser_page.keyboard.type("pxc-small")
    browser_page.keyboard.press("Enter")
    expect(browser_page.get_by_role("link", name="pxc-small")).to_be_visible()


def test_at_390_px_the_navigation_waits_behind_a_button(browser_page: Page) -> None:
    browser_page.set_viewport_size({"width": 390, "height": 844})
    browser_page.goto("/search/")
    pages = browser_page.get_by_role("navigation", name="Pages")
    expect(pages).to_be_hidden()
    browser_page.get_by_role("button", name="Menu").click()
    expect(pages).to_be_visible()
    assert browser_page.evaluate("document.documentElement.scrollWidth") == 390


# As htmx says it: the browser's own words of a failed request would fail the test.
FAIL = """
(target, verb) => target.dispatchEvent(new CustomEvent("htmx:responseError", {bubbles: true, detail: {
  elt: target, target, requestConfig: {verb}, xhr: {
    status: 507, responseText: "<h1>Nothing was stored: the disk is full</h1>", getResponseHeader: () => "text/html",
  },
}}))
"""


def fail(page: Page, selector: str, verb: str) -> None:
    page.locator(selector).evaluate(f"target => ({FAIL})(target, '{verb}')")


def test_rows_that_a_filter_could_not_renew_say_so_until_they_are_renewed(browser_page: Page) -> None:
    a_measured_run({"client.throughput": 100.0})
    browser_page.goto("/runs/")
    note = browser_page.locator("#results [data-state=not-renewed]")
    for _ in range(2):
        fail(browser_page, "#results", "get")
        expect(note).to_have_count(1)
    expect(note).to_contain_text("Not renewed since ")
    expect(note).to_contain_text("the disk is full")
    with browser_page.expect_response("**/runs/?text=x*"):
        browser_page.locator("#text").fill("x")
    expect(note).to_have_count(0)


def test_an_action_that_failed_says_so_beside_its_part_though_that_is_renewed(browser_page: Page) -> None:
    a_measured_run({"client.throughput": 100.0})
    browser_page.goto("/runs/")
    fail(browser_page, "#results", "get")
    fail(browser_page, "#results", "post")
    note = browser_page.locator("[data-state=not-renewed]")
    expect(note).to_contain_text(["Not done: ", "Not renewed since "])
    with browser_page.expect_response("**/runs/?text=x*"):
        browser_page.locator("#text").fill("x")
    expect(browser_page.locator("#results tr[data-run]")).to_have_count(0)
    expect(note).to_contain_text("Not done: ")
