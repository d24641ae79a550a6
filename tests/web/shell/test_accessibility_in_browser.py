"""Every page in Chromium, wide and narrow, light and dark: axe finds nothing."""

from typing import Literal

import pytest
from django.utils import timezone
from playwright.sync_api import Page

from apps.accounts import services as accounts
from tests.paths import ROOT
from tests.support.browser import follow
from tests.support.builders import a_user
from tests.web.shell.every_page import addresses

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

AXE = ROOT / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
VIEWS: tuple[tuple[int, int, Literal["light", "dark"]], ...] = tuple(
    (width, height, scheme) for width, height in ((1440, 900), (390, 844)) for scheme in ("light", "dark")
)
# Pages that fetch parts of themselves.
FETCHING = ("/runs/", "/compare/?", "/timeline/?")
FOUND = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
  .map((each) => [each.id, each.impact, each.nodes.map((node) => node.html.slice(0, 160))])"""


def test_no_page_keeps_anyone_out(browser_page: Page) -> None:
    every = addresses()
    secret = accounts.create_sign_in_link(user=a_user(username="ann"), now=timezone.now())
    browser_page.goto(f"/sign-in/{secret}/")
    follow(browser_page.get_by_role("button", name="Sign in"))
    axe, found = AXE.read_text(), []
    for address in every:
        answer = browser_page.goto(address)
        assert answer is not None
        assert answer.status == 200, address
        if address.startswith(FETCHING):
            browser_page.wait_for_load_state("networkidle")
        browser_page.evaluate(axe)
        for width, height, scheme in VIEWS:
            browser_page.set_viewport_size({"width": width, "height": height})
            browser_page.emulate_media(color_scheme=scheme)
            found += [(address, width, scheme, *violation) for violation in browser_page.evaluate(FOUND)]
    assert not found, "\n".join(map(str, found))
