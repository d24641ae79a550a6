"""A campaign planned in the browser, measured on real servers, and read back from the Compare page.

Two MariaDB servers that differ in one variable; every number on the page is held against sysbench's own output.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from apps.runs import storage
from apps.runs.models import Batch, Measurement, Run, Series
from lab.mariadb import MariaDB
from tests.browser import open_page
from tests.databases import StartMariaDB
from tests.e2e.stack import Stack
from tests.e2e.sysbench_totals import Totals, ratio_with_interval, read_totals

pytestmark = [pytest.mark.mariadb, pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FLUSH = {"flush-1": "1", "flush-2": "2"}
THREADS = (1, 4, 8)
REPETITIONS = 3
HARDWARE = """
[[hardware]]
slug = "test-machine"
name = "test machine"
vcpu = 2
memory_mb = 4096
"""
# Nine runs a side of 1 + 3 s, with their preparation and clean-up, on a machine that does other things as well.
CAMPAIGN_TIMEOUT = 420_000  # ms


@pytest.fixture
def servers(start_mariadb: StartMariaDB) -> dict[str, MariaDB]:
    return {slug: start_mariadb(innodb_flush_log_at_trx_commit=value) for slug, value in FLUSH.items()}


@pytest.fixture
def stack(tmp_path: Path, var_folder: Path, servers: dict[str, MariaDB]) -> Iterator[Stack]:
    running = Stack(tmp_path, var_folder)
    try:
        running.manage("seed_catalog")
        running.start_web()
        running.start_worker()
        running.start_agent(systems="\n".join([HARDWARE, *(_system(slug, each) for slug, each in servers.items())]))
        yield running
    finally:
        running.close()


def _system(slug: str, server: MariaDB) -> str:
    return f"""
        [[systems]]
        slug = "{slug}"
        name = "MariaDB {slug}"
        platform = "mariadb"
        hardware_class = "test-machine"
        host = "127.0.0.1"
        port = {server.port}
        user = "splashboard"
        password_file = "{server.password_file}"
        [systems.settings]
        innodb_flush_log_at_trx_commit = "{FLUSH[slug]}"
        """


def test_a_planned_campaign_is_measured_and_compared_as_sysbench_saw_it(
    stack: Stack, servers: dict[str, MariaDB]
) -> None:
    schemas = {slug: server.sql("SHOW DATABASES") for slug, server in servers.items()}
    with open_page(stack.url) as page:
        _sign_in(stack, page)
        _plan(page)
        _follow(page)
        totals = _totals_of_artifacts()
        page.get_by_role("link", name="Open the comparison").click()
        _check_table(page, totals)
        _check_plots(page, totals)
        _check_overlay(page)
    _check_warehouse()
    assert {slug: server.sql("SHOW DATABASES") for slug, server in servers.items()} == schemas


def _sign_in(stack: Stack, page: Page) -> None:
    page.goto(re.findall(r"/sign-in/\S+", stack.manage("sign_in_link"))[-1])
    page.get_by_role("button", name="Sign in as").click()


def _plan(page: Page) -> None:
    page.goto("/campaigns/new/")
    # The agent makes its systems known when it starts.
    for _ in range(60):
        if page.locator("input[name=systems]").count() == len(FLUSH):
            break
        page.wait_for_timeout(500)
        page.reload()
    page.locator("#id_name").fill("log flush at commit")
    for slug in FLUSH:
        page.locator(f"input[name=systems][value={slug}]").check()
    page.locator("#id_test").select_option("oltp_write_only")
    page.locator("#id_tables").fill("2")
    page.locator("#id_table_size").fill("2000")
    page.locator("#id_threads").fill(", ".join(map(str, THREADS)))
    page.locator("#id_repetitions").fill(str(REPETITIONS))
    page.locator("#id_warmup").fill("1")
    page.locator("#id_duration").fill("3")
    runs = len(FLUSH) * len(THREADS) * REPETITIONS
    expect(page.locator("#size")).to_contain_text(f"{runs} runs")
    page.get_by_role("button", name="Plan and start").click()
    expect(page.get_by_role("heading", name="log flush at commit")).to_be_visible()


def _follow(page: Page) -> None:
    """The page moves by itself: first a run with live seconds, in the end all done."""
    expect(page.locator(".in-hand__figure strong").first).to_be_visible(timeout=60_000)
    done = f"{len(FLUSH) * len(THREADS) * REPETITIONS} of {len(FLUSH) * len(THREADS) * REPETITIONS}"
    expect(page.locator(".stats")).to_contain_text(done, timeout=CAMPAIGN_TIMEOUT)
    expect(page.get_by_role("heading", level=1)).to_contain_text("done", timeout=60_000)


def _totals_of_artifacts() -> dict[tuple[str, int], list[Totals]]:
    """(side, threads) -> what sysbench said, in the order of repetitions."""
    found: dict[tuple[str, int], list[Totals]] = defaultdict(list)
    runs = Run.objects.select_related("system", "load_level").prefetch_related("artifacts").order_by("repetition")
    for run in runs:
        assert (run.state, run.outcome, run.reason) == ("sealed", "succeeded", "")
        assert run.unparsed_lines == []
        (artifact,) = run.artifacts.all()
        found[run.system.slug, run.load_level.threads].append(read_totals(storage.read_artifact(artifact).decode()))
    assert {key: len(each) for key, each in found.items()} == {
        (slug, threads): REPETITIONS for slug in FLUSH for threads in THREADS
    }
    return found


def _check_table(page: Page, totals: dict[tuple[str, int], list[Totals]]) -> None:
    """Ratio and interval, as they stand in the table, are those of sysbench's own totals."""
    baseline, side = page.locator("tr[data-side]").first.get_attribute("data-side"), ""
    for row in page.locator("tr[data-side]").all():
        side, level = row.get_attribute("data-side") or "", row.get_attribute("data-level") or ""
        if side == baseline:
            continue
        threads = int(re.findall(r"\d+", level)[0])
        for metric, name in (("client.throughput", "throughput"), ("client.latency.p95", "p95")):
            expected = ratio_with_interval(
                [getattr(each, name) for each in totals[baseline or "", threads]],
                [getattr(each, name) for each in totals[side, threads]],
            )
            cell = row.locator(f"td[data-metric='{metric}'] + td")
            if expected is None:
                expect(cell).to_contain_text("too few repetitions")
                continue
            shown = re.findall(r"\d+(?:\.\d+)?", cell.inner_text())
            assert len(shown) == len(expected), cell.inner_text()
            for text, value in zip(shown, expected, strict=True):
                last_digit = 10 ** -len(text.partition(".")[2])
                assert float(text) == pytest.approx(value, abs=0.51 * last_digit), f"{metric} at {threads} threads"


def _check_plots(page: Page, totals: dict[tuple[str, int], list[Totals]]) -> None:
    """The points that Plotly drew are the runs, one by one."""
    names = {f"MariaDB {slug}": slug for slug in FLUSH}
    # Fetched when it comes into view.
    page.locator("#ladder").scroll_into_view_if_needed()
    for metric, name in (("client.throughput", "throughput"), ("client.latency.p95", "p95")):
        plot = page.locator(f"[data-chart=scaling][data-metric='{metric}']")
        plot.scroll_into_view_if_needed()
        expect(plot.locator(".main-svg").first).to_be_visible()
        traces: list[dict[str, Any]] = plot.evaluate(
            "e => e.data.map(t => ({name: t.name, mode: t.mode, x: [...t.x], y: [...t.y]}))"
        )
        for threads in THREADS:
            for label, slug in names.items():
                wanted = sorted(getattr(each, name) for each in totals[slug, threads])
                drawn = sorted(
                    y
                    for trace in traces
                    if trace["name"] == label and trace["mode"] == "markers"
                    for x, y in zip(trace["x"], trace["y"], strict=True)
                    if x == threads
                )
                assert drawn == pytest.approx(wanted), f"{metric} of {slug} at {threads} threads"


def _check_overlay(page: Page) -> None:
    """Every repetition of every side is overlaid, in the colour of its side."""
    page.locator("#seconds").scroll_into_view_if_needed()
    plot = page.locator("#seconds-throughput .chart__plot")
    expect(plot.locator(".main-svg").first).to_be_visible()
    colors = plot.evaluate("e => e.data.map(t => [t.name, t.line.color])")
    assert len(colors) == len(FLUSH) * REPETITIONS
    assert len({color for _, color in colors}) == len({tuple(pair) for pair in colors}) == len(FLUSH)


def _check_warehouse() -> None:
    """All counters were kept, and the raw batches went once they were sealed."""
    assert not Batch.objects.exists()
    run = Run.objects.filter(load_level__threads=8).first()
    assert run is not None
    keys = set(Series.objects.filter(run=run).values_list("metric__key", flat=True))
    assert {"mysql.status.Com_insert", "mysql.status.Innodb_data_fsyncs", "host.cpu.user"} <= keys
    variables = [node.configuration.variables for node in run.nodes.all() if node.configuration]
    assert variables[0]["innodb_flush_log_at_trx_commit"] == run.system.settings["innodb_flush_log_at_trx_commit"]
    measured = Measurement.objects.select_related("artifact", "metric").filter(run=run, metric__key="client.throughput")
    (value,) = measured
    text = storage.read_artifact(value.artifact)[value.byte_start : value.byte_end].decode()
    assert float(text) == value.value
