"""A run's page in Chromium: time to its first chart, to twelve charts, and to the USE panel.

All caches are warm: the page was visited before, so scripts and styles come from the browser's cache; its data is
requested again each time. A run of half an hour is compared with one of a minute: the time must not depend on it.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import psycopg
from playwright.sync_api import Browser, Error, Page, sync_playwright

from bench import pages, rounds, warehouse
from bench.context import Bench
from bench.servers import Failed

RUNS, SERIES = 10, 300
LONG, SHORT = 1_800, 60  # s
ROUNDS = 15
WARM_UP = 3
TIMEOUT = 30_000  # ms
CHARTS = 12
# Tall enough to show all charts at once, and a usual height.
ALL_IN_SIGHT, USUAL = 6_000, 900  # pixels
# Reported at the next frame, when it has been painted.
WATCH = """
window.seen = {};
const look = () => {
  const now = performance.now();
  const charts = document.querySelectorAll(".chart__plot .main-svg:first-child").length;
  if (charts >= 1) window.seen.first ??= now;
  if (charts >= %d) window.seen.twelve ??= now;
  if (document.querySelector("#use-panel table")) window.seen.use ??= now;
  requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""
# Key, name, page below the run's, key of `seen`, window height, target in ms.
MOMENTS = (
    ("first", "first chart of a run's page", "", "first", USUAL, 500.0),
    ("twelve", f"{CHARTS} charts of a run's page, all in sight", "", "twelve", ALL_IN_SIGHT, 1_500.0),
    ("use_alone", "USE panel at its own address", "use/", "use", USUAL, 500.0),
    ("use", "USE panel of a run's page, all in sight", "", "use", ALL_IN_SIGHT, 1_500.0),
)


def measure(bench: Bench, folder: Path) -> None:
    """Raises Failed if there is no browser, or the page does not show a measured part."""
    with ExitStack() as stack:
        addresses = {
            name: stack.enter_context(_page_of_a_run(bench, folder, seconds))
            for name, seconds in (("long", LONG), ("short", SHORT))
        }
        browser = stack.enter_context(_browser())
        for key, name, below, seen, height, limit in MOMENTS:
            opened = {side: _opened(browser, height) for side in addresses}
            sides = {side: partial(_moment, opened[side], at + below, seen) for side, at in addresses.items()}
            rounds.interleaved(sides, rounds=WARM_UP)
            found = rounds.interleaved(sides, rounds=ROUNDS)
            bench.report(
                key=f"panels.{key}", part="panels", title=f"{name}, run of {LONG // 60} min",
                peer=f"the same of a run of {SHORT // 60} min", unit="ms", better="lower", limit_ours=limit,
                found=rounds.compared(found["long"], found["short"]),
            )  # fmt: skip
            for page in opened.values():
                page.context.close()


@contextmanager
def _page_of_a_run(bench: Bench, folder: Path, seconds: int) -> Iterator[str]:
    """Address of the newest of some synthetic runs with USE panels."""
    with pages.made(bench, folder, runs=RUNS, series=SERIES, seconds=seconds) as (port, url):
        with psycopg.connect(url) as connection:
            row = connection.execute("SELECT id FROM runs_run ORDER BY started_at DESC, id DESC LIMIT 1").fetchone()
        if row is None:
            raise Failed("the rig made no run")
        warehouse.manage("judge_runs", str(row[0]), env={**os.environ, "DATABASE_URL": url})
        yield f"http://127.0.0.1:{port}/runs/{row[0]}/"


@contextmanager
def _browser() -> Iterator[Browser]:
    """Raises Failed if there is none."""
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"),
                # Chromium refuses its sandbox to root.
                args=["--no-sandbox"] if os.geteuid() == 0 else [],
            )
        except Error as error:
            raise Failed(f"no Chromium starts: {error.message}") from error
        yield browser
        browser.close()


def _opened(browser: Browser, height: int) -> Page:
    page = browser.new_context(viewport={"width": 1440, "height": height}).new_page()
    page.add_init_script(WATCH % CHARTS)
    return page


def _moment(page: Page, address: str, key: str) -> float:
    """ms from the start of the navigation. Raises Failed."""
    try:
        # Ends the requests and drawing of the previous page.
        page.goto("about:blank")
        page.goto(address, wait_until="commit")
        page.wait_for_function("key => window.seen?.[key] !== undefined", arg=key, timeout=TIMEOUT)
        return float(page.evaluate("key => window.seen[key]", key))
    except Error as error:
        raise Failed(f"{address} did not show {key}: {error.message}") from error
