"""The page of the API, in Chromium."""

import pytest
from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_on_a_phone_the_page_of_the_api_does_not_scroll_sideways(browser_page: Page) -> None:
    browser_page.set_viewport_size({"width": 390, "height": 844})
    browser_page.goto("/api/v1/docs/")
    assert browser_page.evaluate("document.documentElement.scrollWidth") == 390
