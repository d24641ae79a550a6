"""The frame of every page, in Chromium."""

import pytest
from playwright.sync_api import Page, expect

from tests.support.builders import a_system

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
