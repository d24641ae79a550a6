"""What happened on a run's clock, and series of several runs on one clock, in Chromium: by pointer and keyboard."""

import math
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from apps.runs import queries, seal
from apps.runs.models import Event, Run
from tests.runs.uploads import an_open_run, an_upload
from tests.support.browser import follow
from tests.web.runs.recorded_runs import a_sealed_run, samples
from workers.protocol.wire import EventMessage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
QUESTIONS = "mysql.status.Questions"


def _drawn(figure: Locator) -> list[dict[str, Any]]:
    """Names and points of the lines of a chart, once it is there."""
    plot = figure.locator(".chart__plot")
    plot.scroll_into_view_if_needed()
    expect(plot.locator(".main-svg").first).to_be_visible()
    lines: list[dict[str, Any]] = plot.evaluate(
        "plot => plot.data.filter(line => line.mode === 'lines').map(line => ({name: line.name, y: [...line.y]}))"
    )
    return lines


def _values(run: Run, metric: str, **options: Any) -> list[Any]:
    (series,) = queries.load_series(run_ids=[run.pk], metrics=[metric], **options)
    return [None if math.isnan(value) else pytest.approx(value, rel=1e-5) for value in series.values]


def test_events_are_read_and_visited_by_keyboard_and_the_address_keeps_what_is_shown(browser_page: Page) -> None:
    run = a_sealed_run()
    Event.objects.create(run=run, kind="node_state", label="answers: yes → no", starts_at=15.0, node="db1")
    browser_page.goto(f"/runs/{run.pk}/")
    lanes = browser_page.get_by_role("region", name="What happened on the run's clock")
    checkpoint = lanes.get_by_role("button", name="checkpoint by hand on db1, 12.5 s")
    expect(checkpoint).to_have_text("checkpoint by hand")
    stopped = lanes.locator("[data-key='node_state 15 db1 answers: yes → no']")
    expect(stopped).to_be_visible()
    first = lanes.get_by_role("button").first
    first.focus()
    for _ in range(lanes.get_by_role("button").count()):
        if checkpoint.evaluate("button => button === document.activeElement"):
            break
        browser_page.keyboard.press("ArrowRight")
    browser_page.keyboard.press("Enter")
    browser_page.wait_for_url("**/?from=7.5&to=17.5")
    assert checkpoint.evaluate("button => button === document.activeElement")
    expect(browser_page.get_by_label("From", exact=True)).to_have_value("7.5")
    browser_page.keyboard.press("Escape")
    browser_page.wait_for_url(f"**/runs/{run.pk}/")
    browser_page.get_by_role("link", name="Events", exact=True).click()
    browser_page.get_by_role("checkbox", name="node state").uncheck()
    expect(stopped).to_have_count(0)
    browser_page.wait_for_url("**/?tab=events&hide=node_state")
    browser_page.reload()
    expect(lanes.get_by_role("button", name="checkpoint by hand")).to_be_visible()
    expect(stopped).to_have_count(0)


def test_counters_are_summed_over_the_nodes_or_shown_as_totals_that_start_over(browser_page: Page) -> None:
    run = an_open_run(command="sysbench oltp_read_write run", nodes=["db1", "db2"])
    restarted = [(t, {QUESTIONS: 1000 * t if t < 10 else 50 * t}) for t in map(float, range(22))]
    event = EventMessage(kind="fault", label="kill -9 writer db2", starts_at=9.5, node="db2")
    an_upload(run=run, nodes={"db1": samples(), "db2": restarted}, events=[event]).send()
    assert seal.seal(run_id=run.pk)
    browser_page.goto(f"/runs/{run.pk}/?series={QUESTIONS}")
    chart = browser_page.locator(f'[id="series-{QUESTIONS}"]')
    assert [line["name"] for line in _drawn(chart)] == ["db1", "db2"]
    browser_page.get_by_role("combobox", name="Nodes", exact=True).select_option("sum")
    expect(chart.locator("[data-unit][data-over=sum]")).to_be_visible()
    assert _drawn(chart)[0]["y"] == _values(run, QUESTIONS, over_nodes="sum")
    browser_page.wait_for_url("**over=sum**")
    browser_page.get_by_label("Counters", exact=True).select_option("as totals")
    expect(chart.locator("[data-unit][data-kind=counter]")).to_be_visible()
    assert _drawn(chart)[1]["y"][9:12] == [9000, None, 500]
    # The mark of the counter that started over.
    expect(chart.locator(".textpoint")).to_be_visible()
    expect(browser_page.get_by_role("combobox", name="Nodes", exact=True)).to_be_disabled()


def test_series_of_two_runs_share_a_chart_and_another_unit_has_its_own_below(browser_page: Page) -> None:
    run, other = a_sealed_run(), a_sealed_run(repetition=2)
    browser_page.goto(f"/runs/{run.pk}/")
    follow(browser_page.get_by_role("link", name="Open in timeline"))
    follow(browser_page.get_by_role("link", name=f"run {other.pk}"))
    throughput = browser_page.locator("#chart-1")
    assert [line["y"] for line in _drawn(throughput)] == [_values(each, "client.throughput") for each in (run, other)]
    browser_page.get_by_role("combobox", name="the series").fill("questions db1")
    browser_page.get_by_role("option", name=f"{QUESTIONS}, db1").click()
    assert _drawn(browser_page.locator("#chart-2"))[0]["y"] == _values(run, QUESTIONS)
    assert len(_drawn(throughput)) == 2
    follow(browser_page.get_by_role("link", name="measured phase"))
    browser_page.get_by_label("From", exact=True).fill("2")
    browser_page.get_by_label("to", exact=True).fill("15")
    browser_page.keyboard.press("Enter")
    browser_page.wait_for_url("**&from=2&to=15")
    browser_page.reload()
    _drawn(throughput)
    ranges = browser_page.evaluate(
        "[...document.querySelectorAll('.chart__plot')].map(plot => plot.layout ? [...plot.layout.xaxis.range] : null)"
    )
    assert ranges[0] == [2, 15]
    expect(browser_page.get_by_role("region", name="What happened in these runs")).to_contain_text("checkpoint by hand")
    browser_page.set_viewport_size({"width": 390, "height": 844})
    browser_page.wait_for_function("() => document.documentElement.scrollWidth === 390")
