"""An administrator's own pages in Chromium, wide and narrow, light and dark: axe finds nothing, and all fits."""

import pytest
from django.utils import timezone
from playwright.sync_api import Page

from apps.accounts import services
from apps.core.audit.api import Action, record
from tests.support.browser import follow
from tests.support.builders import a_token, a_user
from tests.web.shell.test_every_page_in_browser import AXE, NARROW, WIDE, violations

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_pages_of_an_administrator_keep_nobody_out(browser_page: Page) -> None:
    ann = a_user(username="ann", role="administrator")
    a_token(ann, "release pipeline")
    record(Action.TEAM_SAVE, "team 1 storage", before="ann", after="ann, bob")
    secret = services.create_sign_in_link(user=ann, now=timezone.now())
    browser_page.goto(f"/sign-in/{secret}/")
    follow(browser_page.get_by_role("button", name="Sign in"))
    axe, found = AXE.read_text(), []
    for address in ("/account/", "/people/", "/audit/", "/health/"):
        browser_page.goto(address)
        browser_page.evaluate(axe)
        for size in (NARROW, WIDE):
            browser_page.set_viewport_size(size)
            assert browser_page.evaluate("document.documentElement.scrollWidth") <= size["width"], (address, size)
            found += [(address, *each) for each in violations(browser_page, size)]
    assert not found, "\n".join(map(str, found))


def test_new_token_is_shown_once(browser_page: Page) -> None:
    secret = services.create_sign_in_link(user=a_user(username="ann"), now=timezone.now())
    browser_page.goto(f"/sign-in/{secret}/")
    follow(browser_page.get_by_role("button", name="Sign in"))
    browser_page.goto("/account/")
    browser_page.get_by_label("Name").fill("nightly")
    follow(browser_page.get_by_role("button", name="Create token"))
    assert len(browser_page.locator("[data-secret]").inner_text()) == 43
    browser_page.goto("/account/")
    assert browser_page.locator("[data-secret]").count() == 0
