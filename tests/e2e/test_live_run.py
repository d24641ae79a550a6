"""A run that is measured right now, by a real agent on a real server, grows on its page without being loaded again."""

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Page, Request, expect

from apps.runs.models import Run
from lab.mariadb import MariaDB
from tests.e2e.stack import Stack, described, progress
from tests.paths import ROOT
from tests.support.browser import open_page
from tests.support.builders import a_campaign, a_workload
from tests.support.waiting import LIMIT, eventually
from workers.agent.measure import sample_loop
from workers.agent.runtime import config

pytestmark = [pytest.mark.mariadb, pytest.mark.browser]

CHARTS = {"chart-throughput": "client.throughput", "series-mysql.status.Questions": "mysql.status.Questions"}
NEWEST = "id => document.querySelector(`[id='${id}'] .chart__plot`)?.data?.[0]?.x.at(-1) ?? 0"
PROMISED = 10.0  # s


@pytest.fixture
def stack(seeded: Stack, mariadb: MariaDB) -> Iterator[Stack]:
    mariadb.sql("DROP DATABASE IF EXISTS splashboard_bench")
    with seeded.agents(**described({"live": mariadb}, {"live": {}})) as running:
        yield running


def test_new_seconds_appear_on_the_page_of_a_live_run_without_loading_it_again(stack: Stack) -> None:
    # Far longer than the test looks at it: it ends with the agent.
    systems = stack.wait_for_systems("live")
    a_campaign(*systems, threads=(1,), workloads=[a_workload(tables=1)], warmup=1.0, duration=600.0)
    run = eventually(Run.objects.first, what="the run has begun", seen=progress)
    with open_page(stack.url) as page:
        page.goto(f"/runs/{run.pk}/?series=mysql.status.Questions")
        page.evaluate("window.isSamePage = true")
        for chart, metric in CHARTS.items():
            eventually(lambda: _held(stack, run, metric), what=f"the server holds {metric}", seen=progress)  # noqa: B023
            page.locator(f'[id="{chart}"]').scroll_into_view_if_needed()
            for _ in range(2):
                _check_growth(page, stack, run, chart)
        assert page.evaluate("window.isSamePage")
        expect(page.locator("#headline [data-state=latest]")).to_be_visible()
    run.refresh_from_db()
    assert run.state == Run.State.OPEN


def test_the_steps_of_a_sample_to_a_live_page_take_less_than_ten_seconds_together(stack: Stack) -> None:
    """However busy the machine is: what an agent and a page that are left as they are wait for by themselves."""
    file = stack.folder / "untouched.toml"
    kept = stack.config_of("live").read_text().splitlines()
    file.write_text("\n".join(line for line in kept if "_interval" not in line))
    flushed_every = config.load(file).flush_interval
    (refreshed_every,) = re.findall(
        r"^const REFRESH_MS = (\d+);", (ROOT / "frontend/src/pages/runs/run.page.ts").read_text(), re.M
    )
    assert sample_loop.INTERVAL + flushed_every + int(refreshed_every) / 1000 <= PROMISED / 2


def _check_growth(page: Page, stack: Stack, run: Run, chart: str) -> None:
    """What the server holds when the page next asks by itself is in its answer, and is drawn."""
    metric, drawn = CHARTS[chart], page.evaluate(NEWEST, chart)
    eventually(lambda: _held(stack, run, metric) > drawn, what=f"a new second of {metric}", seen=progress)
    held = _held(stack, run, metric)

    def asks(request: Request) -> bool:
        return f"/runs/{run.pk}/series/" in request.url and f"metric={metric}" in request.url

    with page.expect_request(asks) as asked:
        pass
    response = asked.value.response()
    assert response
    (series,) = (each for each in response.json()["series"] if each["metric"] == metric)
    assert series["at"][-1] >= held
    page.wait_for_function(f"() => ({NEWEST})('{chart}') >= {held}")


def _held(stack: Stack, run: Run, metric: str) -> float:
    """The newest second of it that the server has; 0: none."""
    asked = httpx.get(f"{stack.url}/api/v1/runs/{run.pk}/series/", params={"metric": metric}, timeout=LIMIT)
    assert asked.status_code == 200, asked.text
    return max((each["at"][-1] for each in asked.json()["series"] if each["at"]), default=0.0)
