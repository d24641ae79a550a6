"""Two people review a finding in Chromium: one triages it by keys, the other accepts it on its page."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from apps.accounts import services
from apps.accounts.models import User
from apps.regressions.models import Finding
from tests.support.browser import drawn_points, follow
from tests.support.builders import a_user
from tests.web.findings.found import AFTER, BEFORE, a_finding

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def sign_in(page: Page, user: User) -> None:
    page.goto(f"/sign-in/{services.create_sign_in_link(user=user, now=timezone.now())}/")
    follow(page.get_by_role("button", name="Sign in"))


def test_on_a_phone_both_sides_of_a_change_are_in_sight(browser_page: Page) -> None:
    finding = a_finding()
    browser_page.set_viewport_size({"width": 390, "height": 844})
    browser_page.goto(f"/findings/{finding.pk}/")
    _, before, _, after = drawn_points(browser_page, "chart")
    assert (before["y"], after["y"]) == ([*BEFORE], [*AFTER])
    names = browser_page.locator(".finding-chart .xtick text")
    expect(names).to_have_count(2)
    for name in names.all():
        box = name.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        # Two lines of text.
        assert box["height"] >= 24


def test_with_another_filter_the_links_are_of_it_and_the_keys_still_open(browser_page: Page) -> None:
    a_finding()
    browser_page.goto("/findings/")
    feed = browser_page.get_by_role("link", name="Feed")
    expect(feed).not_to_have_attribute("href", re.compile("verdict=better"))
    browser_page.get_by_label("Verdict").select_option("better")
    expect(feed).to_have_attribute("href", re.compile("verdict=better"))
    expect(browser_page.locator("tr[data-finding]")).to_have_count(0)
    browser_page.get_by_role("button", name="Keys").click()
    expect(browser_page.get_by_role("dialog", name="Keys")).to_be_visible()


def test_alice_triages_by_keys_and_bob_accepts_with_a_reason_and_an_end(browser_page: Page) -> None:
    finding = a_finding()
    larger = a_finding("oltp_insert", family="other", after=tuple(value / 2 for value in BEFORE))
    alice, bob = a_user(username="alice"), a_user(username="bob")
    sign_in(browser_page, alice)

    browser_page.goto("/findings/")
    rows = browser_page.locator("tr[data-finding]")
    expect(rows).to_have_count(2)
    row = browser_page.locator(f"tr[data-finding='{finding.pk}']")
    for key in ("j", "j"):
        browser_page.keyboard.press(key)
    expect(row).to_have_attribute("aria-current", "true")
    browser_page.keyboard.press("a")
    expect(row.locator("[data-label=Owner]")).to_have_text("alice")
    expect(row).to_have_attribute("aria-current", "true")
    browser_page.keyboard.press("c")
    expect(row.locator("[data-label=State]")).to_have_text("confirmed")
    # To the one above, which turns out to be nothing; it stays in sight with a way back.
    browser_page.keyboard.press("k")
    browser_page.keyboard.press("d")
    other = browser_page.locator(f"tr[data-finding='{larger.pk}']")
    expect(other.locator("[data-label=State]")).to_have_text("not reproducible")
    expect(other.get_by_role("button", name="Reopen")).to_be_visible()
    browser_page.keyboard.press("?")
    expect(browser_page.get_by_role("dialog", name="Keys")).to_be_visible()
    browser_page.keyboard.press("Escape")
    follow(browser_page.get_by_role("button", name="Sign out"))

    sign_in(browser_page, bob)
    browser_page.goto("/findings/?owner=alice")
    browser_page.keyboard.press("j")
    browser_page.keyboard.press("Enter")
    expect(browser_page).to_have_url(f"{browser_page.url.split('/findings/')[0]}/findings/{finding.pk}/?owner=alice")
    expect(browser_page.locator("[data-cause]").first).to_contain_text("0 → 340")
    browser_page.get_by_label("Comment; @name mentions a person").fill("A known price of the fix, @alice.")
    follow(browser_page.get_by_role("button", name="Comment"))
    expect(browser_page.locator("[data-what=comment][data-by=bob][data-mentions=alice]")).to_be_visible()
    browser_page.locator("details:has(#accept) summary").click()
    browser_page.get_by_label("Reason for accepting", exact=True).fill("The price of a fix for lost writes")
    until = timezone.localdate() + timedelta(days=90)
    browser_page.get_by_label("Until the end of").fill(str(until))
    follow(browser_page.get_by_role("button", name="Accept", exact=True))
    expect(browser_page.locator(f".page-head[data-state=accepted][data-until='{until}']")).to_be_visible()
    note = browser_page.locator("[data-what=state][data-by=bob]")
    expect(note).to_contain_text(str(until))
    finding.refresh_from_db()
    assert (finding.state, finding.accepted_until) == (Finding.State.ACCEPTED, until)
