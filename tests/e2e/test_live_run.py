"""A run that is measured right now, by a real agent on a real server, grows on its page without being loaded again."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from apps.catalog.models import System
from apps.runs.models import Run
from lab.mariadb import MariaDB
from tests.browser import open_page
from tests.builders import a_campaign, a_workload
from tests.e2e.stack import Stack, everything
from tests.waiting import eventually

pytestmark = [pytest.mark.mariadb, pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SYSTEM = """
[[hardware]]
slug = "test-machine"
vcpu = 2
memory_mb = 4096

[[systems]]
slug = "live"
name = "Live"
platform = "mariadb"
hardware_class = "test-machine"
host = "127.0.0.1"
port = {port}
user = "splashboard"
password_file = "{password_file}"
"""
POINTS = "id => document.querySelector(`[id='${id}'] .chart__plot`)?.data?.[0]?.x.length ?? 0"


@pytest.fixture
def stack(tmp_path: Path, var_folder: Path, mariadb: MariaDB) -> Iterator[Stack]:
    mariadb.sql("DROP DATABASE IF EXISTS splashboard_bench")
    system = SYSTEM.format(port=mariadb.port, password_file=mariadb.password_file)
    with everything(tmp_path, var_folder, local=system) as running:
        yield running


NEWEST = "id => document.querySelector(`[id='${id}'] .chart__plot`).data[0].x.at(-1)"


def test_new_seconds_appear_on_the_page_of_a_live_run_within_ten_without_loading_it_again(stack: Stack) -> None:
    eventually(System.objects.filter(slug="live").exists, what="the agent has said hello", timeout=40)
    # Far longer than the test looks at it: it ends with the agent.
    a_campaign(
        System.objects.get(slug="live"), threads=(1,), workloads=[a_workload(tables=1)], warmup=1.0, duration=600.0
    )
    eventually(Run.objects.exists, what="the run has begun", timeout=60)
    run = Run.objects.get()
    with open_page(stack.url) as page:
        page.goto(f"/runs/{run.pk}/?series=mysql.status.Questions")
        page.evaluate("window.isSamePage = true")
        for chart in ("chart-throughput", "series-mysql.status.Questions"):
            page.locator(f'[id="{chart}"]').scroll_into_view_if_needed()
            page.wait_for_function(f"({POINTS})('{chart}') > 0", timeout=60_000)
            drawn = page.evaluate(POINTS, chart)
            page.wait_for_function(f"({POINTS})('{chart}') > {drawn + 2}", timeout=60_000)
            assert min(_ages(page, chart, run)) < 10
        assert page.evaluate("window.isSamePage")
        expect(page.locator("#headline")).to_contain_text("latest second")
    assert Run.objects.get().state == Run.State.OPEN


def _ages(page: Page, chart: str, run: Run) -> list[float]:
    """How old the newest second was, in s, each of three times that it was drawn."""
    found = []
    for _ in range(3):
        drawn = page.evaluate(POINTS, chart)
        page.wait_for_function(f"({POINTS})('{chart}') > {drawn}", timeout=60_000)
        found.append(time.time() - run.started_at.timestamp() - page.evaluate(NEWEST, chart))
    return found
