"""Latency by percentile on the pages of a run and of a comparison."""

import re
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from apps.catalog.models import System
from apps.comparison.values import tones
from apps.runs import queries
from apps.runs.ingest import accept
from apps.runs.models import Artifact, Distribution, Run
from apps.runs.samples.histograms import SYSBENCH
from apps.runs.samples.histograms import HistogramCounts as Counts
from apps.web.runs import timeline
from apps.web.runs.latency import LatencyCurve, latency_chart, missing, rows, step
from tests.paths import RECORDINGS
from tests.runs.uploads import an_open_run, an_upload
from tests.support.builders import a_load_level, a_measured_run, a_metric, a_run, a_system, a_workload
from tests.support.pages import element, elements, page_data, text
from tests.web.runs.recorded_runs import a_sealed_run

pytestmark = pytest.mark.django_db


def counts(found: dict[float, int]) -> Counts:
    """ms -> how many."""
    buckets = {SYSBENCH.bucket(ms): count for ms, count in sorted(found.items())}
    return Counts(SYSBENCH, tuple(buckets), tuple(buckets.values()))


def a_histogram(run: Run, found: dict[float, int], *, grid: str = SYSBENCH.id) -> None:
    held = counts(found)
    artifact = Artifact.objects.get(run=run)
    metric = a_metric("client.latency", unit="ms", kind="distribution", direction="lower")
    origin = {"artifact": artifact, "byte_start": 0, "byte_end": 9, "parser": "sysbench", "parser_version": "2"}
    Distribution.objects.create(
        **{"run": run, "metric": metric, "starts_at": 0, "ends_at": 60, "grid": grid, **origin},
        buckets=list(held.buckets),
        counts=list(held.counts),
    )


def sides(*systems: System, repetitions: int = 2) -> list[Run]:
    values = {"client.throughput": 100.0, "client.latency.p95": 5.0}
    return [
        a_measured_run(values, system=system, workload=a_workload(), load_level=a_load_level(), repetition=number + 1)
        for system in systems
        for number in range(repetitions)
    ]


def compare_page(client: Client, *systems: System) -> str:
    query = "&".join(f"side={system.slug}" for system in systems)
    return client.get(f"/compare/?{query}&workload={a_workload().pk}&tab=latency").content.decode()


def test_a_curve_rises_where_so_many_transactions_were_slower() -> None:
    drawn = latency_chart([LatencyCurve("this run", None, counts({1.0: 90, 10.0: 9, 100.0: 1}))])
    assert drawn is not None
    (line,) = drawn.lines
    assert line.one_in == [1, 10, 100, 100]
    assert line.values == pytest.approx([1, 10, 100, 100], rel=0.01)
    assert (line.percent, line.slower) == ([90, 99, 100, 100], [10, 1, 0, 0])
    assert drawn.one_in.texts == ["0", "50", "90", "99"]
    assert drawn.values.range[0] < line.values[0] < line.values[-1] < drawn.values.range[1]


@pytest.mark.parametrize("found", [{5.0: 1}, {5.0: 10, 5.2: 3}, {0.001: 5}, {99_000.0: 2}])
def test_even_a_narrow_distribution_has_ticks(found: dict[float, int]) -> None:
    drawn = latency_chart([LatencyCurve("this run", None, counts(found))])
    assert drawn is not None
    low, high = drawn.values.range
    assert len(drawn.values.ticks) >= 2
    assert all(low <= tick <= high for tick in drawn.values.ticks)


def test_a_percentile_says_between_which_latencies_it_lies_and_how_many_took_longer() -> None:
    held = counts({1.0: 900, 10.0: 99, 100.0: 1})
    *_, p99, p999, last = rows(held)
    assert (p99.label, p99.beyond, p999.label, last.label, last.beyond) == ("p99", 1, "p99.9", "max", 0)
    assert p99.title.endswith("; 1 transaction took longer")
    assert step([held]) == "1.8\u00a0%"


def test_the_page_of_a_run_has_its_percentiles_and_where_they_were_read(client: Client) -> None:
    run = a_sealed_run()
    page = client.get(f"/runs/{run.pk}/").content.decode()
    (read,) = queries.distributions([run.pk])
    titles = [each.attributes["title"] for each in elements(page, "[aria-labelledby=latency-heading] td [title]")]
    assert titles == [row.title for row in rows(read.distribution)]
    assert element(page, "[data-step]").text() == "1.8\u00a0%"
    assert text(page, "[aria-labelledby=latency-heading] [data-count]") == f"{read.distribution.count:,}"
    assert text(page, "[data-bytes]") == f"{read.byte_start:,}–{read.byte_end:,}"
    (line,) = page_data(page, "run-data")["latency"]["lines"]
    assert line["one_in"][0] == 1
    assert line["one_in"][-1] == read.distribution.count


def test_a_run_without_a_histogram_says_why(client: Client) -> None:
    without = an_upload(output=(RECORDINGS / "sysbench_single" / "oltp_read_write_t4_p99.txt").read_bytes()).send()
    assert accept.seal(run_id=without.pk)
    older = a_sealed_run()
    Distribution.objects.filter(run=older).delete()
    for run, words in (
        (without, "Run it with --histogram=on"),
        (older, "stored before histograms existed: manage.py reseal"),
        (an_open_run(), "arrives with the last lines of sysbench"),
        (a_run(), "printed no final report"),
    ):
        page = client.get(f"/runs/{run.pk}/").content.decode()
        detail = queries.load_run(run.pk)
        assert detail is not None
        assert words in missing(detail)
        assert text(page, "p[data-missing]") == " ".join(missing(detail).split())
        assert not elements(page, "#chart-percentiles")
        assert page_data(page, "run-data")["latency"] is None


def test_sides_are_compared_by_all_their_transactions_not_by_a_mean_of_percentiles(client: Client) -> None:
    quick, slow = a_system("quick"), a_system("slow")
    first, second, *others = sides(quick, slow)
    a_histogram(first, {1.0: 990, 2.0: 10})
    a_histogram(second, {100.0: 1000})
    for run in others:
        a_histogram(run, {5.0: 1000})
    page = compare_page(client, quick, slow)
    drawn = page_data(page, "latency-data")
    first_tone, second_tone = tones([None, None])  # of one platform without a colour
    assert [(line["name"], line["color"], line["one_in"][-1]) for line in drawn["lines"]] == [
        ("quick", first_tone, 2000),
        ("slow", second_tone, 2000),
    ]
    p95 = counts({1.0: 990, 2.0: 10, 100.0: 1000}).percentile(95)
    assert p95.value == pytest.approx(100, rel=0.01)
    own = [each.text().strip() for each in elements(page, "#latency tr[data-side=quick] td")]
    assert f"{p95.value:.0f}" in own or f"{p95.value:.1f}" in own
    assert "2,000" in own


def test_a_percentile_of_all_transactions_stands_with_its_ratio_and_interval(client: Client) -> None:
    one, other = a_system("a"), a_system("b")
    for run, latency in zip(sides(one, other, repetitions=3), (5.0, 5.1, 5.2, 10.0, 10.2, 10.4), strict=True):
        a_histogram(run, {latency: 990, 40.0: 10})
    page = compare_page(client, one, other)
    assert not elements(page, "#latency [data-side=a] .compare-latency__ratio")
    median, *_ = elements(page, "#latency [data-side=b] [data-percentile=p50] .compare-latency__ratio")
    assert "worse" in median.text()
    assert re.search(r"2\.\d+\s×\s\[1\.\d+,\s2\.\d+\]", median.text())
    assert "leaving out one session" in element(page, "#latency").text()


def test_sides_without_histograms_or_with_others_say_so(client: Client) -> None:
    one, other, mixed = a_system("one"), a_system("other"), a_system("mixed")
    first, _, _, _, *last = sides(one, other, mixed)
    assert elements(compare_page(client, one, other), "#latency [data-state=no-histogram]")
    a_histogram(first, {1.0: 990})
    a_histogram(last[0], {1.0: 990})
    a_histogram(last[1], {1.0: 990}, grid="sysbench:2048:0.001:100000")
    page = compare_page(client, one, other, mixed)
    assert text(page, "#latency [data-side=one] [data-runs]") == "1 of 2"
    assert text(page, "#latency [data-side=other] [data-runs]") == "0 of 2"
    assert elements(page, "#latency [data-side=other] [data-problem]")
    mixture = text(page, "#latency [data-side=mixed] [data-problem]")
    assert "sysbench:1024:0.001:100000 and sysbench:2048:0.001:100000" in mixture


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("width", [1440, 390])
def test_the_drawn_steps_are_the_histogram(browser_page: Page, width: int) -> None:
    run = a_sealed_run()
    (read,) = queries.distributions([run.pk])
    browser_page.set_viewport_size({"width": width, "height": 900})
    browser_page.goto(f"/runs/{run.pk}/#chart-percentiles")
    plot = browser_page.locator("#chart-percentiles .chart__plot")
    plot.scroll_into_view_if_needed()
    expect(plot.locator(".main-svg").first).to_be_visible()
    drawn = plot.evaluate("plot => ({y: [...plot.data[0].y], x: [...plot.data[0].x], axis: plot.layout.xaxis.type})")
    grid = read.distribution.grid
    assert drawn["y"][:-1] == [grid.value(bucket) for bucket in read.distribution.buckets]
    assert (drawn["x"][0], drawn["x"][-1], drawn["axis"]) == (1, read.distribution.count, "log")
    expect(plot).to_contain_text("(log scale)")
    assert browser_page.evaluate("document.documentElement.scrollWidth") <= width


def test_of_several_types_one_percentile_each_is_drawn() -> None:
    def drawn(*keys: str) -> timeline.Drawn | None:
        index: Any = [SimpleNamespace(metric=key) for key in keys]
        return timeline.latency(index, is_live=False)

    read, update = "client.read.latency", "client.update.latency"
    both = drawn(f"{read}.p99", f"{read}.p999", f"{update}.p90", f"{update}.p99")
    assert both
    assert (both.metrics, both.note) == ((f"{read}.p99", f"{update}.p99"), "99th percentile of each interval, by type")
    five = drawn(*(f"client.{name}.latency.p95" for name in "abcde"))
    assert five
    assert (len(five.metrics), "4 of 5 types" in five.note) == (4, True)
