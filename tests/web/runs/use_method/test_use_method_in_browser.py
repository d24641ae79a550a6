"""What limits a run, in Chromium: a value opens its series at that time, with the mouse and with the keyboard."""

import pytest
from playwright.sync_api import Page, expect

from tests.runs.uploads import an_upload
from tests.support.browser import reveal
from tests.web.runs.recorded_runs import samples
from tests.web.runs.use_method.test_use_method import a_cluster

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_value_opens_its_reading_by_keyboard_at_its_time_and_escape_goes_back(browser_page: Page) -> None:
    run = a_cluster(g1=20.0, g2=99.0, seconds=140)
    browser_page.goto(f"/runs/{run.pk}/#use")
    value = browser_page.locator('[id="use-cpu.busy@g2"]')
    value.scroll_into_view_if_needed()
    value.focus()
    browser_page.keyboard.press("Enter")
    expect(browser_page.locator("#use-opened-title")).to_be_focused()
    plot = browser_page.locator("#chart-use .chart__plot")
    expect(plot.locator(".main-svg").first).to_be_visible()
    opened = browser_page.url
    assert "use=cpu.busy%40g2&from=22.5&to=67.5" in opened
    assert plot.evaluate("plot => plot.layout.xaxis.range") == pytest.approx([22.5, 67.5], abs=1)
    browser_page.keyboard.press("Escape")
    expect(browser_page.locator(".use-opened")).to_have_count(0)
    expect(value).to_be_focused()
    assert "use=" not in browser_page.url
    # The link alone shows the same.
    browser_page.goto(opened)
    reveal(browser_page, "#use")
    expect(browser_page.locator("#chart-use .main-svg").first).to_be_visible()


def test_a_point_of_a_small_line_opens_the_series_at_that_second(browser_page: Page) -> None:
    run = a_cluster(g1=99.0)
    browser_page.goto(f"/runs/{run.pk}/#use")
    spark = browser_page.locator("tr", has_text="CPU").locator(".spark").first
    spark.scroll_into_view_if_needed()
    box = spark.bounding_box()
    assert box is not None
    spark.click(position={"x": box["width"] * 0.75, "y": box["height"] / 2})
    browser_page.wait_for_url("**use=*")
    from_ = float(browser_page.url.partition("from=")[2].partition("&")[0])
    assert from_ == pytest.approx(45 - 10, abs=1)
    expect(browser_page.locator("#chart-use .main-svg").first).to_be_visible()


def test_a_live_panel_is_judged_again_and_what_is_open_stays(browser_page: Page) -> None:
    upload = an_upload(nodes={"db1": samples()})
    upload.send_batch(0)
    browser_page.goto(f"/runs/{upload.run.pk}/?resources=all#use")
    reveal(browser_page, "#use")
    link = browser_page.locator("#use-panel a[data-use]").first
    link.click()
    title = browser_page.locator("#use-opened-title")
    expect(title).to_be_focused()
    browser_page.evaluate("document.querySelector('#use-opened').dataset.before = 'yes'")
    upload.send_batch(1)
    with browser_page.expect_response(f"**/runs/{upload.run.pk}/use/"):
        pass
    expect(browser_page.locator("#use-opened[data-before] [data-formula]")).to_be_visible()
    expect(browser_page.locator("#use-panel .use-table")).to_be_visible()


def test_nothing_is_wider_than_a_phone_with_a_reading_open(browser_page: Page) -> None:
    run = a_cluster(g1=99.0, g2=20.0)
    browser_page.set_viewport_size({"width": 390, "height": 844})
    browser_page.goto(f"/runs/{run.pk}/?use=cpu.busy@g1&resources=all#use")
    reveal(browser_page, "#use")
    expect(browser_page.locator("#use-opened-title")).to_be_visible()
    assert browser_page.evaluate("document.documentElement.scrollWidth") == 390
