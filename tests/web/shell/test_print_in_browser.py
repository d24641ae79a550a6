"""Every page on paper of A4, in Chromium: nothing is cut off, and no control is printed."""

import pytest
from playwright.sync_api import Page, ViewportSize

from tests.web.runs.recorded_runs import a_sealed_run
from tests.web.shell.every_page import addresses

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

A4: ViewportSize = {"width": 718, "height": 1000}
LANDSCAPE: ViewportSize = {"width": 1047, "height": 700}
ORIENTATION = "() => getComputedStyle(document.querySelector('main') ?? document.body).page"
# Forms are filled in, not printed; schemas of the API are another program's page.
NOT_PRINTED = (
    *(
        "/campaigns/new",
        "/campaigns/file",
        "/schedules/",
        "/notifications/",
        "/runs/upload",
        "/thresholds/",
        "/sign-in",
    ),
)
# Labels at the edge of a track, cards that open on hover, and layers of charts that are empty.
UNPRINTED = "svg, .visually-hidden, .lane__tick, .matrix__words, .js-plotly-plot"
# What lies beyond the edge of the paper and is not cut off there by its own box.
BEYOND = """(unprinted) => [...document.querySelectorAll("main *")]
  .filter((one) => one.getBoundingClientRect().right > window.innerWidth + 1 && !one.closest(unprinted))
  .map((one) => `${one.tagName}#${one.id}.${one.getAttribute("class")}`).slice(0, 5)"""
CONTROLS = """() => [...document.querySelectorAll("main .button, main button:not(.sort)")]
  .filter((one) => one.getClientRects().length > 0).map((one) => one.textContent.trim()).slice(0, 5)"""


def test_every_page_fits_paper(browser_page: Page) -> None:
    found = []
    for address in addresses():
        if address.startswith(NOT_PRINTED):
            continue
        browser_page.emulate_media(media="screen")
        browser_page.goto(address)
        browser_page.wait_for_load_state("networkidle")
        browser_page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        browser_page.emulate_media(media="print")
        browser_page.set_viewport_size(LANDSCAPE if browser_page.evaluate(ORIENTATION) == "wide" else A4)
        found += [(address, "beyond", beyond) for beyond in [browser_page.evaluate(BEYOND, UNPRINTED)] if beyond]
        found += [(address, "control", shown) for shown in [browser_page.evaluate(CONTROLS)] if shown]
        browser_page.set_viewport_size({"width": 1440, "height": 900})
    assert not found, "\n".join(map(str, found))


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
