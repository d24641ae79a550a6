"""What is printed from a page in Chromium is all there."""

import pytest
from playwright.sync_api import Page, expect

from tests.support.builders import a_load_level, a_system
from tests.web.runs.recorded_runs import a_sealed_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


PRINTED = "window.printed = new Promise((done) => { window.print = () => done(document.body.innerText) })"
# Drawn charts with another width than their place has.
UNFIT = """() => [...document.querySelectorAll(".chart__plot[data-drawn]")]
  .filter((plot) => plot.clientWidth > 0 && Math.abs(plot.clientWidth - plot._fullLayout.width) > 2).length"""


def test_control_p_waits_for_what_is_below_the_fold(browser_page: Page) -> None:
    run = a_sealed_run()
    browser_page.add_init_script(PRINTED)
    browser_page.set_viewport_size({"width": 1440, "height": 300})
    browser_page.goto(f"/runs/{run.pk}/")
    charts = browser_page.locator(".chart__plot")
    assert "loading" in charts.last.inner_text()
    browser_page.keyboard.press("Control+p")
    browser_page.evaluate("() => window.printed")
    assert "loading" not in [text.strip() for text in charts.all_inner_texts()]


def test_control_p_draws_what_lies_in_closed_tabs_in_its_size(browser_page: Page) -> None:
    run = a_sealed_run()
    browser_page.add_init_script(PRINTED)
    browser_page.goto(f"/runs/{run.pk}/?tab=limits")
    counters = browser_page.locator("#counters .chart__plot")
    assert counters.first.is_hidden()
    browser_page.keyboard.press("Control+p")
    browser_page.evaluate("() => window.printed")
    assert counters.first.is_visible()
    assert "loading" not in [text.strip() for text in counters.all_inner_texts()]
    assert browser_page.evaluate(UNFIT) == 0


def test_control_p_waits_for_the_seconds_of_every_run_of_a_comparison(browser_page: Page) -> None:
    level = a_load_level()
    first, _ = (a_sealed_run(system=a_system(slug), load_level=level) for slug in ("alpha", "beta"))
    browser_page.add_init_script(PRINTED)
    browser_page.goto(f"/compare/?side=alpha&side=beta&workload={first.workload_id}")
    browser_page.keyboard.press("Control+p")
    text = browser_page.evaluate("() => window.printed")
    assert "Second by second" in text
    assert "runs loaded" not in text
    expect(browser_page.locator("#seconds .js-plotly-plot")).to_have_count(2)
    assert browser_page.evaluate(UNFIT) == 0
