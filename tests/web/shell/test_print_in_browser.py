"""What is printed from a page in Chromium is all there."""

import pytest
from playwright.sync_api import Page

from tests.web.runs.recorded_runs import a_sealed_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_control_p_waits_for_what_is_below_the_fold(browser_page: Page) -> None:
    run = a_sealed_run()
    printed = "window.printed = new Promise((done) => { window.print = () => done(document.body.innerText) })"
    browser_page.add_init_script(printed)
    browser_page.set_viewport_size({"width": 1440, "height": 300})
    browser_page.goto(f"/runs/{run.pk}/")
    charts = browser_page.locator(".chart__plot")
    assert "loading" in charts.last.inner_text()
    browser_page.keyboard.press("Control+p")
    browser_page.evaluate("() => window.printed")
    assert "loading" not in [text.strip() for text in charts.all_inner_texts()]
