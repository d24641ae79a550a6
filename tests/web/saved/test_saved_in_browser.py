"""A comparison is saved on its page, in Chromium: its charts are drawn from what was kept."""

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from apps.accounts import services
from apps.comparison.models import Snapshot
from apps.runs.models import Measurement
from tests.support.browser import follow
from tests.support.builders import a_load_level, a_measured_run, a_system, a_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_saved_comparison_is_drawn_from_what_was_kept(browser_page: Page) -> None:
    for slug, values in (("a", (1000.0, 1012.0, 991.0)), ("b", (1302.0, 1318.0, 1287.0))):
        system = a_system(slug)
        runs = [
            a_measured_run({"client.throughput": value}, system=system, load_level=a_load_level()) for value in values
        ]
    secret = services.create_sign_in_link(user=a_user(username="ann"), now=timezone.now())
    browser_page.goto(f"/sign-in/{secret}/")
    follow(browser_page.get_by_role("button", name="Sign in"))
    browser_page.goto(f"/compare/?side=a&side=b&workload={runs[0].workload_id}")
    browser_page.get_by_text("Save", exact=True).click()
    expect(browser_page.get_by_label("Title")).to_have_value("b against a, oltp_write_only")
    browser_page.get_by_label("Note").fill("as of May")
    follow(browser_page.get_by_role("button", name="Save comparison"))
    expect(browser_page).to_have_url("/comparisons/b-against-a-oltp_write_only/")
    Measurement.objects.update(value=7.0)
    browser_page.reload()
    expect(browser_page.locator("[data-out-of-date]")).to_be_visible()
    plot = browser_page.locator("#chart-answer .chart__plot")
    plot.scroll_into_view_if_needed()
    expect(plot.locator(".main-svg").first).to_be_visible()
    drawn = plot.evaluate("plot => plot.data.flatMap(trace => [...trace.x])")
    kept = [cell["ratio"] for cell in Snapshot.objects.get().content["comparison"]["cells"] if cell["ratio"]]
    assert kept[0]["value"] == pytest.approx(1.3, abs=0.01)
    assert pytest.approx(kept[0]["value"]) in [value for value in drawn if value]
    browser_page.goto("/comparisons/")
    expect(browser_page.locator("[data-state=out-of-date]")).to_be_visible()
