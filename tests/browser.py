"""A page in headless Chromium that looks at the live server: `def test_x(browser_page: Page) -> None: ...`.

Addresses are relative to the live server (`browser_page.goto("/runs/")`). A script that throws, or an asset that does
not load, fails the test. Use `emulate_media(color_scheme="dark")` and `set_viewport_size` for other readers.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connections
from playwright.sync_api import ConsoleMessage, Error, Page, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer


@pytest.fixture
def browser_page(live_server: LiveServer) -> Iterator[Page]:
    with open_page(live_server.url) as page:
        yield page


@contextmanager
def open_page(address: str) -> Iterator[Page]:
    """A page that looks at the server at `address`."""
    troubles: list[str] = []
    expect.set_options(timeout=15_000)
    # Playwright keeps an event loop of its own in this thread between calls, so Django takes the test's queries for
    # ones made inside a coroutine: it refuses them, and gives them a connection apart. They are not: say so for as
    # long as the browser is open, and close that connection at the end.
    with pytest.MonkeyPatch.context() as monkeypatch, sync_playwright() as playwright:
        monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            # Chromium refuses its sandbox to root.
            args=["--no-sandbox"] if os.geteuid() == 0 else [],
        )
        context = browser.new_context(
            base_url=address, viewport={"width": 1440, "height": 900}, timezone_id="Europe/Helsinki"
        )
        page = context.new_page()
        page.set_default_timeout(15_000)

        def failed(error: Error) -> None:
            troubles.append(f"script: {error}")

        def said(message: ConsoleMessage) -> None:
            if message.type == "error":
                troubles.append(f"console: {message.text} ({message.location.get('url', '')})")

        page.on("pageerror", failed)
        page.on("console", said)
        try:
            yield page
        finally:
            context.close()
            browser.close()
            connections.close_all()
    assert not troubles, "\n".join(troubles)


def reveal(page: Page, part: str) -> None:
    """Scrolls to a part that is fetched once it is seen, and replaced while Playwright waits for it."""
    page.locator(part).evaluate("element => element.scrollIntoView()")
