"""Planning and following a campaign as a person does: keys, touch screens, and a page that keeps itself up to date."""

import re

import pytest
from django.utils import timezone
from playwright.sync_api import Dialog, Page, Route, expect

from apps.accounts import services
from apps.dispatch.jobs import leases
from apps.dispatch.models import Campaign
from tests.support.browser import follow
from tests.support.builders import a_campaign, a_system, a_user, a_workload, an_agent, an_entry
from workers import tasks

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "enqueue", lambda *_args, **_arguments: True)


def sign_in(page: Page) -> None:
    secret = services.create_sign_in_link(user=a_user(username="ann"), now=timezone.now())
    page.goto(f"/sign-in/{secret}/")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def test_plan_counts_itself_and_becomes_a_campaign(browser_page: Page) -> None:
    a_workload()
    an_agent(a_system("a"), a_system("b"), last_seen_at=timezone.now())
    sign_in(browser_page)
    browser_page.goto("/campaigns/new/")
    expect(browser_page.locator("#size [data-count='']")).to_be_visible()
    for box in browser_page.get_by_role("checkbox").all():
        box.check()
    expect(browser_page.locator("#size [data-jobs='6'][data-runs='18']")).to_be_visible()
    browser_page.get_by_label("Threads", exact=True).fill("1, 4")
    expect(browser_page.locator("#size [data-jobs='6'][data-runs='12']")).to_be_visible()
    browser_page.get_by_label("Question").fill("flush 1 or 2")
    follow(browser_page.get_by_role("button", name="Plan and start"))
    expect(browser_page).to_have_url(re.compile(r"/campaigns/\d+/$"))
    assert Campaign.objects.get().jobs.count() == 6


def test_a_chosen_workload_shows_fields_of_its_own_which_count(browser_page: Page) -> None:
    an_agent(a_system("a"), last_seen_at=timezone.now())
    a_workload("oltp_insert"), a_workload("oltp_read_only")
    sign_in(browser_page)
    browser_page.goto("/campaigns/new/")
    own = browser_page.locator(".pick__own").first.get_by_label("Threads of")
    expect(own).to_be_hidden()
    browser_page.get_by_label("Find a workload").fill("insert")
    expect(browser_page.locator(".pick-group:visible")).to_have_count(1)
    expect(browser_page.locator("input[name=workloads]:visible")).to_have_count(1)
    browser_page.get_by_label("Find a workload").fill("")
    browser_page.locator("input[name=systems]").check()
    for box in browser_page.locator("input[name=workloads]").all():
        box.check()
    own.fill("2")
    expect(browser_page.locator("#size [data-jobs='6'][data-runs='12']")).to_be_visible()


@pytest.mark.parametrize(("address", "link"), [("/campaigns/", "#campaign-"), ("/", "#now-campaign-")])
def test_a_link_keeps_the_focus_while_its_list_renews_itself(browser_page: Page, address: str, link: str) -> None:
    campaign = a_campaign(a_system("a"))
    browser_page.goto(address)
    link = f"{link}{campaign.pk}"
    browser_page.locator(link).focus()
    browser_page.locator(link).evaluate("link => (link.dataset.before = '')")
    expect(browser_page.locator(f"{link}:not([data-before])")).to_be_focused()


def test_campaign_follows_its_jobs_and_is_cancelled_after_a_question(browser_page: Page) -> None:
    campaign = a_campaign(a_system("a"), a_system("b"))
    sign_in(browser_page)
    browser_page.goto(f"/campaigns/{campaign.pk}/")
    expect(browser_page.locator("[data-state=unreachable]").first).to_be_visible()
    agent = an_agent(*campaign.systems.all(), last_seen_at=timezone.now())
    leases.match_jobs(now=timezone.now())
    leases.claim(agent=agent, now=timezone.now())
    expect(browser_page.get_by_role("heading", name="Now")).to_be_visible()
    browser_page.get_by_role("button", name="Cancel the campaign").focus()
    expect(browser_page.locator("[data-job][data-state=running] [data-doing]")).to_be_visible()
    with browser_page.expect_response(f"**/campaigns/{campaign.pk}/"):
        pass  # the next look of its own
    # What a person has the focus on survives that the page renews itself.
    expect(browser_page.get_by_role("button", name="Cancel the campaign")).to_be_focused()
    asked: list[str] = []

    def agree(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.accept()

    browser_page.once("dialog", agree)
    # On the button itself: a key pressed while the page renews itself goes nowhere.
    browser_page.get_by_role("button", name="Cancel the campaign").press("Enter")
    expect(browser_page.locator("[data-message=info]")).to_contain_text("1 running job")
    assert len(asked) == 1
    assert sorted(campaign.jobs.values_list("state", flat=True)) == ["cancelled", "cancelling"]


def test_what_an_action_said_survives_the_pages_own_renewals(browser_page: Page) -> None:
    system = a_system("a")
    campaign = a_campaign(system)
    agent = an_agent(system, last_seen_at=timezone.now())
    leases.match_jobs(now=timezone.now())
    leases.claim(agent=agent, now=timezone.now())
    sign_in(browser_page)
    browser_page.goto(f"/campaigns/{campaign.pk}/")
    cancel = browser_page.get_by_role("button", name="Cancel the campaign")
    expect(cancel).to_be_visible()

    def slowly(route: Route) -> None:
        answer = route.fetch()
        browser_page.wait_for_timeout(5_000)  # longer than two renewals
        route.fulfill(response=answer)

    browser_page.route("**/cancel/", slowly)
    browser_page.once("dialog", lambda dialog: dialog.accept())
    cancel.press("Enter")
    said = browser_page.locator("#campaign-notice [data-message=info]")
    expect(said).to_contain_text("1 running job")
    browser_page.locator("#live").evaluate("live => { live.dataset.old = '' }")
    expect(browser_page.locator("#live:not([data-old])")).to_be_visible()
    expect(said).to_contain_text("1 running job")


def test_pages_fit_a_phone(browser_page: Page) -> None:
    systems = [a_system(f"a-system-with-a-long-name-{number}") for number in range(4)]
    entries = [an_entry(a_workload(tables=number), ends_when_refused=True, least_gain=0.05) for number in range(1, 9)]
    campaign = a_campaign(*systems, entries=entries, repetitions=3)
    an_agent(*campaign.systems.all(), last_seen_at=timezone.now())
    sign_in(browser_page)
    browser_page.set_viewport_size({"width": 390, "height": 844})
    for path in ("/campaigns/", "/campaigns/new/", "/campaigns/file/", f"/campaigns/{campaign.pk}/", "/agents/"):
        browser_page.goto(path)
        assert browser_page.evaluate("document.documentElement.scrollWidth") <= 390, path
