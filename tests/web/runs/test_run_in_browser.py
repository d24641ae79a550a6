"""The page of one run, in Chromium: what is drawn is what the warehouse holds."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from apps.runs import queries, seal
from apps.runs.models import Run
from tests.runs.uploads import Upload, an_upload
from tests.web.runs.recorded_runs import a_sealed_run, samples
from workers.protocol.wire import EventMessage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def _drawn(page: Page, chart: str) -> dict[str, Any]:
    """Points of the first line and range of the clock, once the chart is there."""
    plot = page.locator(f'[id="{chart}"] .chart__plot')
    plot.scroll_into_view_if_needed()
    expect(plot.locator(".main-svg").first).to_be_visible()
    drawn: dict[str, Any] = plot.evaluate(
        "plot => ({x: [...plot.data[0].x], y: [...plot.data[0].y], range: [...plot.layout.xaxis.range]})"
    )
    return drawn


def _values(run_id: int, metric: str) -> list[Any]:
    (series,) = queries.load_series(run_ids=[run_id], metrics=[metric])
    return [pytest.approx(value, rel=1e-5) for value in series.values]


def test_throughput_is_drawn_as_it_was_measured_on_one_clock_for_all(browser_page: Page) -> None:
    run = a_sealed_run()
    browser_page.goto(f"/runs/{run.pk}/")
    throughput = _drawn(browser_page, "chart-throughput")
    assert throughput["y"] == _values(run.pk, "client.throughput")
    questions = _drawn(browser_page, "series-mysql.status.Questions")
    assert questions["y"] == _values(run.pk, "mysql.status.Questions")
    assert questions["range"] == _drawn(browser_page, "chart-throughput")["range"]
    assert browser_page.locator("#counters figure").count() >= 12


def test_the_console_stays_empty(browser_page: Page) -> None:
    run, messages = a_sealed_run(), list[str]()
    browser_page.on("console", lambda message: messages.append(message.text))
    browser_page.goto(f"/runs/{run.pk}/")
    _drawn(browser_page, "chart-throughput")
    assert messages == []


def test_a_chart_drawn_alone_shows_the_warm_up_from_0(browser_page: Page) -> None:
    run = a_sealed_run()
    Run.objects.filter(pk=run.pk).update(measured_from=5.0)
    browser_page.set_viewport_size({"width": 390, "height": 300})
    browser_page.goto(f"/runs/{run.pk}/")
    assert _drawn(browser_page, "chart-throughput")["range"][0] == 0
    shades = browser_page.locator("#chart-throughput .chart__plot").evaluate(
        "plot => plot.layout.shapes.filter(shape => shape.type === 'rect').map(shape => [shape.x0, shape.x1])"
    )
    assert [0, 5] in shades


def test_a_chosen_series_stays_in_the_address(browser_page: Page) -> None:
    run = a_sealed_run()
    browser_page.goto(f"/runs/{run.pk}/")
    browser_page.get_by_role("combobox", name="Add a series").fill("commit handler")
    browser_page.get_by_role("option", name="mysql.status.Handler_commit").click()
    browser_page.get_by_role("button", name="Remove mysql.status.Questions").click()
    browser_page.wait_for_url("**series=mysql.status.Handler_commit")
    address = browser_page.url
    browser_page.goto("/search/")
    browser_page.goto(address)
    assert _drawn(browser_page, "series-mysql.status.Handler_commit")["y"]
    expect(browser_page.locator('[id="series-mysql.status.Questions"]')).to_have_count(0)


def test_the_usual_choice_ends_the_charts_that_were_chosen_before(browser_page: Page) -> None:
    run = a_sealed_run()
    browser_page.goto(f"/runs/{run.pk}/?series=mysql.status.Handler_commit")
    _drawn(browser_page, "series-mysql.status.Handler_commit")
    plot = browser_page.locator('[id="series-mysql.status.Handler_commit"] .chart__plot').element_handle()
    browser_page.locator("#counters-reset").click()
    _drawn(browser_page, "series-mysql.status.Questions")
    browser_page.wait_for_function("plot => plot._fullLayout === undefined", arg=plot)
    # What is asked for again is what is there.
    with browser_page.expect_request("**/series/?*over_nodes=mean*") as asked:
        browser_page.get_by_role("combobox", name="Nodes", exact=True).select_option("mean")
    assert "mysql.status.Questions" in asked.value.url
    assert "Handler_commit" not in asked.value.url


def test_a_zoom_is_shared_by_all_charts_and_by_the_address(browser_page: Page) -> None:
    run = a_sealed_run()
    browser_page.goto(f"/runs/{run.pk}/")
    whole = _drawn(browser_page, "chart-throughput")["range"]
    box = browser_page.locator("#chart-throughput .nsewdrag").first.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    browser_page.mouse.move(box["x"] + box["width"] * 0.25, middle)
    browser_page.mouse.down()
    browser_page.mouse.move(box["x"] + box["width"] * 0.75, middle, steps=5)
    browser_page.mouse.up()
    browser_page.wait_for_url("**/?from=*")
    zoomed = _drawn(browser_page, "chart-throughput")["range"]
    assert whole[0] < zoomed[0] < zoomed[1] < whole[1]
    browser_page.wait_for_function(
        "from => Math.abs(document.querySelector('#chart-latency .chart__plot').layout.xaxis.range[0] - from) < 0.01",
        arg=zoomed[0],
    )
    browser_page.reload()
    assert _drawn(browser_page, "chart-latency")["range"] == pytest.approx(zoomed, abs=0.01)


def test_a_second_that_is_pointed_at_is_marked_in_every_chart_with_its_values(browser_page: Page) -> None:
    run = a_sealed_run()
    browser_page.goto(f"/runs/{run.pk}/")
    for chart in ("chart-latency", "chart-throughput"):
        _drawn(browser_page, chart)
    box = browser_page.locator("#chart-throughput .nsewdrag").first.bounding_box()
    assert box is not None
    browser_page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    for chart in ("chart-latency", "chart-throughput"):
        expect(browser_page.locator(f"#{chart} .chart__second")).to_be_visible()
        expect(browser_page.locator(f"#{chart} .chart__now")).to_contain_text(" s: ")
    browser_page.mouse.move(1, 1)
    expect(browser_page.locator(".chart__second:visible")).to_have_count(0)


def a_live_run(*events: EventMessage) -> Upload:
    """With its first batch."""
    lines = [
        (
            float(t),
            f"[ {t}s ] thds: 4 tps: {100 + t}.00 qps: 2000.00 (r/w/o: 1400.00/400.00/200.00) "
            "lat (ms,95%): 5.00 err/s: 0.00 reconn/s: 0.00",
        )
        for t in range(1, 21)
    ]
    upload = an_upload(nodes={"db1": samples()}, lines=lines, events=events)
    upload.send_batch(0)
    return upload


def _grows(page: Page, upload: Upload, sequence: int) -> None:
    """Sends a batch and waits until the chart of the throughput has it."""
    before = len(_drawn(page, "chart-throughput")["x"])
    upload.send_batch(sequence)
    page.wait_for_function(
        "n => document.querySelector('#chart-throughput .chart__plot').data[0].x.length > n", arg=before
    )


def test_a_live_chart_that_gets_no_answer_says_since_when_it_is_old_until_the_next(browser_page: Page) -> None:
    upload = a_live_run()
    browser_page.goto(f"/runs/{upload.run.pk}/")
    _drawn(browser_page, "chart-throughput")
    # Without a request, for the browser's own words of a failed one would fail the test.
    browser_page.evaluate(
        "() => { window.kept = window.fetch; window.fetch = () => Promise.reject(new Error('away')); }"
    )
    note = browser_page.locator("#chart-throughput [data-state=not-renewed]")
    expect(note).to_contain_text("Not renewed since ")
    expect(note).to_contain_text("the server cannot be reached")
    expect(browser_page.locator("#chart-throughput .main-svg").first).to_be_visible()
    browser_page.evaluate("() => { window.fetch = window.kept; }")
    expect(note).to_have_count(0)


def test_what_has_the_focus_keeps_it_while_a_live_run_grows(browser_page: Page) -> None:
    faults = [EventMessage(kind="fault", label="kill -9", starts_at=t, node="db1") for t in (3.0, 13.0)]
    upload = a_live_run(*faults)
    browser_page.goto(f"/runs/{upload.run.pk}/?tab=events")
    _drawn(browser_page, "chart-throughput")
    kind = browser_page.get_by_role("checkbox", name="fault")
    kind.focus()
    _grows(browser_page, upload, 1)
    browser_page.locator("#events tbody tr[data-kind=fault]").nth(1).wait_for(state="attached")
    expect(kind).to_be_focused()
    data = browser_page.locator("#chart-throughput").get_by_role("button", name="Data")
    data.focus()
    _grows(browser_page, upload, 2)
    expect(data).to_be_focused()
    with browser_page.expect_download() as saved:
        data.click()
    assert len(saved.value.path().read_text().splitlines()) > 15


def test_a_live_run_grows_and_becomes_whole(browser_page: Page) -> None:
    upload = a_live_run()
    browser_page.goto(f"/runs/{upload.run.pk}/")
    expect(browser_page.locator("#headline [data-state=latest]")).to_be_visible()
    _grows(browser_page, upload, 1)
    for sequence in range(2, len(upload.batches)):
        upload.send_batch(sequence)
    upload.send_output()
    upload.end()
    seal.seal(run_id=upload.run.pk)
    expect(browser_page.locator("#headline [data-metric] a[href$='/sysbench.txt']").first).to_be_visible()
    expect(browser_page.locator(".page-head [data-outcome=succeeded]")).to_be_visible()


def test_nothing_is_wider_than_a_phone(browser_page: Page) -> None:
    run = a_sealed_run()
    browser_page.set_viewport_size({"width": 390, "height": 844})
    for address in ("/", "/runs/", f"/runs/{run.pk}/", "/search/?q=small"):
        browser_page.goto(address)
        assert browser_page.evaluate("document.documentElement.scrollWidth") == 390, address


def test_a_chart_gives_its_data_its_image_and_its_link(browser_page: Page) -> None:
    run = a_sealed_run()
    browser_page.goto(f"/runs/{run.pk}/")
    plotted = _drawn(browser_page, "chart-throughput")
    actions = browser_page.locator("#chart-throughput .chart__actions")
    with browser_page.expect_download() as data:
        actions.get_by_role("button", name="Data").click()
    header, *rows = data.value.path().read_text().splitlines()
    assert header == "metric,node,unit,time_s,value"
    assert [float(row.split(",")[-1]) for row in rows] == plotted["y"]
    for name, beginning in (("PNG", b"\x89PNG"), ("SVG", b"<svg")):
        with browser_page.expect_download() as image:
            actions.get_by_role("button", name=name).click()
        assert image.value.suggested_filename == f"run-{run.pk}-client.throughput.{name.lower()}"
        assert image.value.path().read_bytes().startswith(beginning)
    browser_page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    actions.get_by_role("button", name="Link").click()
    expect(actions.get_by_role("button", name="Copied")).to_be_visible()
    assert browser_page.evaluate("navigator.clipboard.readText()").endswith(f"/runs/{run.pk}/#chart-throughput")
