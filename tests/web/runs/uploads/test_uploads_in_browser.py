"""Uploading in a real browser: choosing a file and reaching the page of its run."""

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from apps.accounts import services
from tests.runs.tool_output.parsers.outputs import OUTPUTS
from tests.support.browser import follow
from tests.support.builders import a_system, a_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_chosen_file_becomes_a_run_whose_intervals_are_drawn(browser_page: Page) -> None:
    a_system(slug="a")
    secret = services.create_sign_in_link(user=a_user(username="ann"), now=timezone.now())
    browser_page.goto(f"/sign-in/{secret}/")
    follow(browser_page.get_by_role("button", name="Sign in"))
    browser_page.goto("/runs/")
    follow(browser_page.get_by_role("link", name="Upload a run"))
    for width in (390, 1440):
        browser_page.set_viewport_size({"width": width, "height": 900})
        assert browser_page.evaluate("document.documentElement.scrollWidth") <= width
    browser_page.get_by_label("What the file is").select_option("tpcc-mysql")
    browser_page.get_by_label("File", exact=True).set_input_files(OUTPUTS / "tpcc_mysql" / "two_intervals.txt")
    browser_page.get_by_label("System", exact=True).select_option("a")
    browser_page.get_by_label("A new workload").fill("warehouses=10")
    browser_page.get_by_label("Began, UTC").fill("2026-11-20 10:00:00")
    follow(browser_page.get_by_role("button", name="Upload the run"))
    expect(browser_page.locator(".stats")).to_contain_text("294")
    expect(browser_page.locator("#chart-throughput .main-svg").first).to_be_visible()
    expect(browser_page.locator("#chart-latency figcaption")).to_contain_text("new order alone")
    browser_page.get_by_role("link", name="Raw files").click()
    follow(browser_page.get_by_role("link", name="Attach a digest or profile"))
    browser_page.get_by_label("What the file is").select_option("perf-report")
    browser_page.get_by_label("File", exact=True).set_input_files(OUTPUTS / "perf" / "report_flat.txt")
    follow(browser_page.get_by_role("button", name="Attach the file", exact=True))
    expect(browser_page.get_by_role("row", name="19.71 mariadbd")).to_be_visible()
