"""A campaign becomes a schedule, is begun by hand, paused and resumed, as a person does it."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from apps.dispatch.models import Schedule, ScheduledRun
from apps.dispatch.pure import cron
from apps.dispatch.schedules import services
from apps.regressions.findings import missing_results
from tests.dispatch.schedules.scheduled import a_schedule, end_jobs
from tests.support.browser import follow
from tests.support.builders import a_campaign, a_system, a_workload, an_entry
from tests.web.campaigns.test_campaigns_in_browser import no_broker, sign_in  # noqa: F401  a fixture of this module too

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_campaign_is_repeated_every_night(browser_page: Page) -> None:
    workload = a_workload()
    workload.tool, workload.parameters = "sysbench_oltp", {"test": "oltp_write_only"}
    workload.save()
    campaign = a_campaign(a_system("a"), entries=[an_entry(workload)], name="flush 1 or 2")
    sign_in(browser_page)
    browser_page.goto(f"/campaigns/{campaign.pk}/")
    follow(browser_page.get_by_role("link", name="Repeat on a schedule"))
    expect(browser_page.get_by_label("Name")).to_have_value("flush 1 or 2")
    browser_page.get_by_label("Cron expression").fill("0 22 * * MON-FRI")
    browser_page.get_by_label("Time zone").fill("Europe/Helsinki")
    expect(browser_page.locator("[data-cron]")).to_have_text(cron.in_words("0 22 * * MON-FRI"))
    expect(browser_page.locator("#times time").first).to_contain_text("22:00")
    follow(browser_page.get_by_role("button", name="Save and enable"))
    expect(browser_page).to_have_url(re.compile(r"/schedules/\d+/$"))
    follow(browser_page.get_by_role("button", name="Run now"))
    expect(browser_page.locator("[data-message=info]")).to_contain_text("flush 1 or 2")
    expect(browser_page.locator("[data-scheduled-run][data-state=started]")).to_have_count(1)
    follow(browser_page.get_by_role("button", name="Pause"))
    expect(browser_page.get_by_role("button", name="Resume")).to_be_visible()
    assert Schedule.objects.get().next_at is None


def test_pages_fit_a_phone_and_say_what_did_not_come(browser_page: Page) -> None:
    now = timezone.now()
    schedule = a_schedule(name="nightly suite of every architecture that there is", next_at=now)
    services.start_due(now=now)
    end_jobs("failed", reason="the data directory has no room left, of which sysbench says so in very many words")
    missing_results.look(now=now)
    for day, state in enumerate(("complete", "not started", "missing", "complete"), 1):
        reason = "the server was down" if state == "not started" else ""
        ScheduledRun.objects.create(schedule=schedule, due_at=now - timedelta(days=day), state=state, reason=reason)
    sign_in(browser_page)
    browser_page.goto("/schedules/")
    expect(browser_page.locator("[data-lacking='1'][data-count='1']")).to_be_visible()
    browser_page.set_viewport_size({"width": 390, "height": 844})
    for path in ("/schedules/", "/schedules/new/", f"/schedules/{schedule.pk}/", f"/schedules/{schedule.pk}/edit/"):
        browser_page.goto(path)
        assert browser_page.evaluate("document.documentElement.scrollWidth") <= 390, path
