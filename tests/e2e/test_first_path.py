"""A campaign planned in the browser, measured on real servers, and read back from Compare and Matrix.

Two MariaDB servers that differ in one variable, under two load tools; every number is compared with what the tools
printed.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from apps.catalog import services as catalog
from apps.catalog.models import System
from apps.runs.models import Batch, Measurement, Run, Series
from apps.runs.storage import artifacts
from lab.mariadb import MariaDB
from tests.e2e import limits, numbers, shown
from tests.e2e.readings import Reading, read_report, read_sysbench
from tests.e2e.stack import Stack, described, progress
from tests.support.browser import follow, open_page, reveal
from tests.support.builders import a_campaign
from tests.support.databases import StartMariaDB
from tests.support.waiting import LIMIT_MS, eventually

pytestmark = [pytest.mark.mariadb, pytest.mark.browser]

FLUSH = {"flush-1": "1", "flush-2": "2"}
THREADS = (1, 4)
REPETITIONS = 3
# The second tool's runs are long enough to tell how steady they were.
SECOND = {"mix": "insert", "tables": 2, "table_size": 2000}
SECOND_THREADS, SECOND_DURATION = 4, 6.0


@pytest.fixture
def servers(start_mariadb: StartMariaDB) -> dict[str, MariaDB]:
    return {slug: start_mariadb(innodb_flush_log_at_trx_commit=value) for slug, value in FLUSH.items()}


@pytest.fixture
def stack(seeded: Stack, servers: dict[str, MariaDB]) -> Iterator[Stack]:
    """Both systems are measured side by side: what is shown of them follows from what the tools printed, also then."""
    settings = {slug: {"innodb_flush_log_at_trx_commit": value} for slug, value in FLUSH.items()}
    with seeded.agents(**described(servers, settings)) as running:
        running.wait_for_systems(*FLUSH)
        yield running


def test_a_planned_campaign_is_compared_as_a_second_reading_of_the_artifacts_computes_it(
    stack: Stack, servers: dict[str, MariaDB]
) -> None:
    schemas = {slug: server.sql("SHOW DATABASES") for slug, server in servers.items()}
    with open_page(stack.url) as page:
        stack.sign_in(page)
        _plan(page)
        _follow(page)
        _plan_second_tool()
        follow(page.get_by_role("link", name="Open the comparison"))
        page.goto(f"{page.url}&tab=all")
        sysbench = _readings("sysbench")
        shown.check_compare(page, sysbench, tool="sysbench")
        _check_plots(page, sysbench)
        _check_seconds(page)
        _check_limits(page, stack.url)
        _await_sealed("asyncload", len(FLUSH) * REPETITIONS)
        read = {"sysbench": sysbench, "asyncload": _readings("asyncload")}
        for tool, readings in read.items():
            workload = Run.objects.filter(workload__tool=tool).values_list("workload_id", flat=True)[0]
            shown.check_json(stack.url, readings, tool=tool, workload=workload)
        shown.check_matrix(page, stack.url, read)
    _check_warehouse()
    assert {slug: server.sql("SHOW DATABASES") for slug, server in servers.items()} == schemas


def _plan(page: Page) -> None:
    page.goto("/campaigns/new/")
    page.locator("#id_name").fill("log flush at commit")
    for slug in FLUSH:
        page.locator(f"input[name=systems][value={slug}]").check()
    page.locator("#id_test").select_option("oltp_write_only")
    page.locator("#id_tables").fill("2")
    page.locator("#id_table_size").fill("2000")
    page.locator("#id_threads").fill(", ".join(map(str, THREADS)))
    page.locator("#id_repetitions").fill(str(REPETITIONS))
    page.locator("#id_warmup").fill("1")
    page.locator("#id_duration").fill("2")
    runs = len(FLUSH) * len(THREADS) * REPETITIONS
    expect(page.locator(f"#size [data-runs='{runs}']")).to_be_visible()
    follow(page.get_by_role("button", name="Plan and start"))
    expect(page.get_by_role("heading", name="log flush at commit")).to_be_visible()


def _follow(page: Page) -> None:
    """The page moves by itself: first a run with live seconds, in the end all done."""
    expect(page.locator(".in-hand__figure strong").first).to_be_visible()
    runs = len(FLUSH) * len(THREADS) * REPETITIONS
    done = page.locator(f".stats [data-runs-done='{runs}'][data-runs='{runs}']")
    expect(done).to_be_visible(timeout=2 * LIMIT_MS)
    expect(page.locator("h1 [data-state=done]")).to_be_visible()
    _await_sealed("sysbench", runs)


def _plan_second_tool() -> None:
    """As the API plans it; it is measured while the first tool's results are read."""
    a_campaign(
        *System.objects.filter(slug__in=FLUSH).order_by("slug"),
        workloads=[catalog.workload_for(tool="asyncload", parameters=SECOND)],
        threads=(SECOND_THREADS,),
        repetitions=REPETITIONS,
        warmup=1.0,
        duration=SECOND_DURATION,
    )


def _await_sealed(tool: str, runs: int) -> None:
    """A job is done before its last run is sealed, and a comparison shows those that are."""
    sealed = Run.objects.filter(workload__tool=tool, state="sealed")
    eventually(lambda: sealed.count() == runs, what=f"all runs of {tool} are sealed", seen=progress)


def _readings(tool: str) -> dict[tuple[str, int], list[Reading]]:
    """(side, threads) -> what the tool said, in the order of repetitions."""
    found: dict[tuple[str, int], list[Reading]] = defaultdict(list)
    runs = Run.objects.filter(workload__tool=tool).select_related("system", "load_level").order_by("started_at")
    for run in runs.prefetch_related("artifacts"):
        assert (run.state, run.outcome, run.reason) == ("sealed", "succeeded", "")
        assert run.unparsed_lines == []
        (artifact,) = [each for each in run.artifacts.all() if each.name.startswith(tool)]
        text = artifacts.read_artifact(artifact).decode()
        reading = read_sysbench(text) if tool == "sysbench" else read_report(text)
        found[run.system.slug, run.load_level.threads].append(reading)
    assert {len(each) for each in found.values()} == {REPETITIONS}
    return found


def _check_plots(page: Page, readings: numbers.Readings) -> None:
    """The points that Plotly drew are the runs, one by one."""
    names = {f"MariaDB {slug}": slug for slug in FLUSH}
    # Fetched when it comes into view.
    reveal(page, "#ladder")
    for metric in ("client.throughput", "client.latency.p95"):
        plot = page.locator(f"[data-chart=scaling][data-metric='{metric}']")
        plot.scroll_into_view_if_needed()
        expect(plot.locator(".main-svg").first).to_be_visible()
        traces: list[dict[str, Any]] = plot.evaluate(
            "e => e.data.map(t => ({name: t.name, mode: t.mode, x: [...t.x], y: [...t.y]}))"
        )
        for threads in THREADS:
            for label, slug in names.items():
                wanted = sorted(numbers.values_of(readings[slug, threads], metric))
                drawn = sorted(
                    y
                    for trace in traces
                    if trace["name"] == label and trace["mode"] == "markers"
                    for x, y in zip(trace["x"], trace["y"], strict=True)
                    if x == threads
                )
                assert drawn == pytest.approx(wanted), f"{metric} of {slug} at {threads} threads"


def _check_seconds(page: Page) -> None:
    """Every repetition of every side is drawn, in the colour of its side."""
    reveal(page, "#seconds")
    plot = page.locator("#seconds-throughput .chart__plot")
    expect(plot.locator(".main-svg").first).to_be_visible()
    colors = plot.evaluate("e => e.data.filter(t => t.mode === 'lines').map(t => [t.name, t.line.color])")
    assert len(colors) == len(FLUSH) * REPETITIONS
    assert len({color for _, color in colors}) == len({tuple(pair) for pair in colors}) == len(FLUSH)


def _check_limits(page: Page, url: str) -> None:
    """What limited each side, and the panel of a run, are what the samples say."""
    runs = Run.objects.filter(workload__tool="sysbench").order_by("started_at")
    workload = runs.values_list("workload_id", flat=True)[0]
    limits.wait_until_judged(url, sorted(FLUSH), workload)
    judged: dict[str, dict[int, list[limits.Readings]]] = {slug: {threads: [] for threads in THREADS} for slug in FLUSH}
    last = 0
    for last, slug, threads in runs.values_list("pk", "system__slug", "load_level__threads"):
        judged[slug][threads].append(limits.check_panel(url, last))
    limits.check_limits(page, url, workload=workload, runs=judged)
    limits.check_page(page, url, last, judged[slug][threads][-1])


def _check_warehouse() -> None:
    """All counters were kept, and the raw batches went once they were sealed."""
    eventually(lambda: not Batch.objects.exists(), what="no raw batch is left", seen=Batch.objects.count)
    run = Run.objects.filter(workload__tool="sysbench", load_level__threads=4).first()
    assert run is not None
    keys = set(Series.objects.filter(run=run).values_list("metric__key", flat=True))
    assert {"mysql.status.Com_insert", "mysql.status.Innodb_data_fsyncs", "host.cpu.user"} <= keys
    variables = [node.configuration.variables for node in run.nodes.all() if node.configuration]
    assert variables[0]["innodb_flush_log_at_trx_commit"] == run.system.settings["innodb_flush_log_at_trx_commit"]
    measured = Measurement.objects.select_related("artifact", "metric").filter(run=run, metric__key="client.throughput")
    (value,) = measured
    text = artifacts.read_artifact(value.artifact)[value.byte_start : value.byte_end].decode()
    assert float(text) == value.value
