"""A page in headless Chromium that looks at the live server: `def test_x(browser_page: Page) -> None: ...`.

Addresses are relative to the live server (`browser_page.goto("/runs/")`). A script that throws, or an asset that does
not load, fails the test. Use `emulate_media(color_scheme="dark")` and `set_viewport_size` for other readers. What
`wait_for_function` waits for is a function: the pages' policy lets nobody evaluate an expression again and again.
"""

import asyncio
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from django.core.servers.basehttp import ThreadedWSGIServer
from django.db import connections
from django.test.testcases import LiveServerThread
from playwright.sync_api import Browser, ConsoleMessage, Error, Locator, Page, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from tests.support.waiting import LIMIT, LIMIT_MS, eventually

# What htmx logs of a request that was under way when its page was left: its end, and that it was cut short. Any other
# end that is logged has a line of its own beside it (sendError, timeout).
LEFT = ("htmx:afterRequest", "htmx:sendAbort")


class CountingServer(ThreadedWSGIServer):
    """Knows how many connections it serves, so that a test can end after the last of them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lock, self.served = threading.Lock(), 0

    def process_request(self, request: Any, client_address: Any) -> None:
        with self.lock:
            self.served += 1
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self.lock:
                self.served -= 1


LiveServerThread.server_class = CountingServer


class Chromium:
    """One for all tests of a process; each page has a context of its own.

    Playwright keeps an event loop running in this thread, which is hidden between the tests: others run loops of their
    own, and Django takes queries for ones made inside a coroutine while one runs.
    """

    def __init__(self) -> None:
        self._playwright = sync_playwright().start()
        self.browser: Browser = self._playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            # Chromium refuses its sandbox to root.
            args=["--no-sandbox"] if os.geteuid() == 0 else [],
        )
        self._loop = asyncio.get_running_loop()
        asyncio._set_running_loop(None)

    @contextmanager
    def awake(self) -> Iterator[Browser]:
        # Django gives the queries made meanwhile a connection apart, which is closed at the end.
        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
            before = asyncio._get_running_loop()
            asyncio._set_running_loop(self._loop)
            try:
                yield self.browser
            finally:
                connections.close_all()
                asyncio._set_running_loop(before)

    def close(self) -> None:
        with self.awake():
            self.browser.close()
            self._playwright.stop()


_started: list[Chromium] = []


@pytest.fixture(scope="session", autouse=True)
def close_browser() -> Iterator[None]:
    yield
    while _started:
        _started.pop().close()


@pytest.fixture
def browser_page(live_server: LiveServer) -> Iterator[Page]:
    with open_page(live_server.url) as page:
        yield page
    _wait_until_idle(live_server)


def _wait_until_idle(live_server: LiveServer) -> None:
    """The tables are emptied after the test: what a closed page had still asked for would deadlock with that."""
    server = live_server.thread.httpd
    assert isinstance(server, CountingServer)
    # Connections are accepted in their order: once this one is answered, no earlier one waits to be.
    httpx.get(f"{live_server.url}/robots.txt", timeout=LIMIT)
    eventually(lambda: server.served == 0, what="the live server has answered everything")


@contextmanager
def open_page(address: str) -> Iterator[Page]:
    """A page that looks at the server at `address`."""
    troubles: list[str] = []
    expect.set_options(timeout=LIMIT_MS)
    if not _started:
        _started.append(Chromium())
    with _started[0].awake() as browser:
        context = browser.new_context(
            base_url=address, viewport={"width": 1440, "height": 900}, timezone_id="Europe/Helsinki"
        )
        page = context.new_page()
        page.set_default_timeout(LIMIT_MS)

        def failed(error: Error) -> None:
            troubles.append(f"script: {error}")

        def said(message: ConsoleMessage) -> None:
            if message.type == "error" and not message.text.startswith(LEFT):
                troubles.append(f"console: {message.text} ({message.location.get('url', '')})")

        page.on("pageerror", failed)
        page.on("console", said)
        try:
            yield page
        finally:
            context.close()
    assert not troubles, "\n".join(troubles)


def reveal(page: Page, part: str) -> None:
    """Scrolls to a part that is fetched once it is seen, and replaced while Playwright waits for it."""
    page.locator(part).evaluate("element => element.scrollIntoView()")


def follow(leads_on: Locator) -> None:
    """Clicks a link or a form's button, and waits for the page that it leads to: the old one looks much like it."""
    with leads_on.page.expect_navigation():
        leads_on.click()


def drawn_points(page: Page, figure: str) -> list[dict[str, Any]]:
    """x and y of each trace of a chart, once it is drawn."""
    plot = page.locator(f'[id="{figure}"] .chart__plot')
    plot.scroll_into_view_if_needed()
    expect(plot.locator(".main-svg").first).to_be_visible()
    found: list[dict[str, Any]] = plot.evaluate("plot => plot.data.map(({x, y}) => ({x: [...x], y: [...y]}))")
    return found
