"""The page of schema changes, its files and its answers over the API."""

import csv
import io
import math

import pytest
from django.test import Client
from playwright.sync_api import Page, expect
from pytest_django import DjangoAssertNumQueries

from apps.catalog import services as catalog
from apps.comparison.api import ChangeFilter, schema_changes
from apps.published import services
from apps.published.queries import list_figures
from apps.published.values import FigureFilter
from apps.runs import queries
from apps.web.schema_changes.sheet import charts_of, sheet
from tests.comparison.schema_changes.altered import an_altered_run
from tests.support.browser import drawn_points
from tests.support.builders import a_system
from tests.support.pages import data, element, elements, page_data

pytestmark = pytest.mark.django_db


@pytest.fixture
def published(db: None) -> None:
    catalog.seed()
    services.load_all(services.OWN_DATA)


def _page(client: Client, query: str = "") -> str:
    response = client.get(f"/schema-changes/{query}")
    assert response.status_code == 200
    return response.content.decode()


def test_without_runs_the_page_says_what_fills_it(client: Client) -> None:
    page = _page(client)
    assert element(page, "[data-state=empty] a").attributes["href"] == "/campaigns/new/"
    assert elements(page, "[data-answer]") == []


def test_statements_systems_and_algorithms_stand_side_by_side_with_an_answer(client: Client) -> None:
    one, other = a_system("galera"), a_system("single")
    run = an_altered_run("copy", system=one, detail={"gap": 6.25, "metadata_lock_wait": 0.1, "metadata_lock_queue": 8})
    an_altered_run("instant", system=one)
    an_altered_run("copy", system=other, detail={"gap": 5.5})
    page = _page(client)
    (setting,) = sheet(schema_changes(ChangeFilter()), ()).settings
    assert len(setting.answers) == 2
    assert [each.text() for each in elements(page, "[data-answer]")] == [f"{answer}." for answer in setting.answers]
    rows = [[*manner.rows] for manner in setting.manners]
    assert [row.change.system for row in rows[0]] == ["galera", "single"]
    assert data(page, "change") == [row.anchor for manner in rows for row in manner]
    waits = [row.css("td")[-1] for row in elements(page, "tr[data-change]")]
    assert [below.text() for below in waits[0].css(".below")] == [*rows[0][0].cells[-1].below]
    assert [wait.attributes.get("data-state") for wait in waits] == [None, "missing", "missing"]
    assert waits[1].text(strip=True) == rows[0][1].cells[-1].text
    assert elements(page, f"a[href='/runs/{run.pk}/?from=0.0&to=22.3']")
    assert data(page, "percentiles") == ["p99"]
    assert element(page, "a.ddl-compare").attributes["href"] == setting.manners[0].compare_url
    assert "side=galera&side=single" in setting.manners[0].compare_url


def test_stalls_stand_on_one_scale_and_what_was_not_measured_is_named(client: Client, published: None) -> None:
    one, other = a_system("galera"), a_system("single")
    an_altered_run("copy", system=one, detail={"gap": 6.0})
    an_altered_run("copy", system=other, detail={"gap": 3.0})
    an_altered_run("instant", system=one, detail={"gap": 0.06})
    page = _page(client)
    rows = elements(page, ".stalls tr[data-stall]")
    assert [row.css("[data-value]")[0].text() for row in rows] == ["6.00\xa0s", "3.00\xa0s", "0.0600\xa0s"]
    widths = [float(row.css(".track__bar")[0].attributes["style"].split()[1].rstrip("%")) for row in rows]  # type: ignore[union-attr]
    assert widths[0] / widths[1] == pytest.approx(2, abs=0.01)
    assert ["single" in row.text() for row in elements(page, ".stalls tr[data-state=missing]")] == [True]
    cut = elements(page, ".stalls .track__bar--stated")
    assert len(cut) == 1
    assert elements(page, ".stalls .track__bar--stated.track__bar--pointed")  # 15 s would not fit this scale


def test_each_change_is_drawn_on_the_clock_of_its_statement(client: Client) -> None:
    run = an_altered_run("copy", system=a_system("single"))
    page = _page(client)
    (drawn,) = page_data(page, "change-charts")
    throughput, latency = drawn["panels"]
    (line,) = throughput["lines"]
    assert (line["run"], line["statements"]) == (run.pk, [[0.0, pytest.approx(6.3)]])
    assert drawn["clock"] == [line["at"][0], line["at"][-1]]
    assert (line["extreme"]["at"], line["extreme"]["value"]) == (pytest.approx(1, abs=0.5), 0)
    assert (latency["name"], latency["unit"], None in latency["lines"][0]["values"]) == ("Latency, p99", "ms", True)
    (shown,) = charts_of(sheet(schema_changes(ChangeFilter()), ()))
    assert element(page, ".ddl-chart [role=img]").attributes["aria-label"] == shown.label
    assert f"run={run.pk}&metric=client.throughput&metric=client.latency.p99&align=event" in drawn["data_url"]


def test_changes_of_a_setting_have_the_same_axes(client: Client) -> None:
    system = a_system("single")
    an_altered_run("copy", system=system)
    an_altered_run("instant", system=system)
    one, other = page_data(_page(client), "change-charts")
    assert one["clock"] == other["clock"]
    assert [panel["range"] for panel in one["panels"]] == [panel["range"] for panel in other["panels"]]


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_what_is_drawn_is_what_was_measured(browser_page: Page) -> None:
    run = an_altered_run("copy", system=a_system("single"))
    browser_page.goto("/schema-changes/")
    figure = browser_page.locator(".ddl-chart")
    drawn = drawn_points(browser_page, figure.get_attribute("id") or "")
    for metric, (line, worst) in zip(("client.throughput", "client.latency.p99"), (drawn[:2], drawn[2:]), strict=True):
        (series,) = queries.load_series(run_ids=[run.pk], metrics=[metric])
        measured = [None if math.isnan(value) else pytest.approx(value) for value in series.values]
        assert line["y"] == measured
        assert line["x"] == pytest.approx([at - 8.0 for at in series.at], abs=0.001)
        assert worst["y"][0] in line["y"]
    data = figure.get_by_role("link", name="Data").get_attribute("href") or ""
    assert browser_page.request.get(data).text().startswith('"run","metric"')


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_paper_has_the_charts_that_were_out_of_sight(browser_page: Page) -> None:
    for name in ("alpha", "beta", "gamma"):
        an_altered_run("copy", system=a_system(name))
    browser_page.set_viewport_size({"width": 390, "height": 300})
    browser_page.goto("/schema-changes/")
    plots = browser_page.locator(".ddl-chart .chart__plot")
    expect(plots.last).to_have_text("loading")
    browser_page.evaluate("dispatchEvent(new Event('beforeprint'))")
    for plot in plots.all():
        expect(plot.locator(".main-svg").first).to_be_visible()


def test_what_articles_state_stands_beside_marked_as_published(client: Client, published: None) -> None:
    an_altered_run("copy")
    page = _page(client)
    beside = elements(page, "section[aria-labelledby^=setting] tr.published-row")
    named = [row for row in beside if "RDS MySQL" in row.css("th")[0].text()]
    assert "3,332.44" in [cell.text(strip=True) for row in named for cell in row.css("td")]
    assert all(row.css(".mark--published") for row in beside)
    stated = elements(page, "section[aria-labelledby=stated]")[0]
    assert "394.85" in [cell.text(strip=True) for cell in stated.css("td")]
    figures = list_figures(FigureFilter(questions=("ddl",)))
    (deviation,) = [each for each in figures if each.value == 11.8]
    (remark,) = [item for item in stated.css("li") if deviation.sentence in item.text()]
    assert remark.css(".mark--published")


def test_filters_live_in_the_address(client: Client) -> None:
    an_altered_run("copy", system=a_system("single"))
    empty = element(_page(client, "?algorithm=instant"), "[data-state=empty] a")
    assert empty.attributes["href"] == "/schema-changes/"
    page = _page(client, "?algorithm=copy&system=single")
    assert element(page, "input[name=system][checked]").attributes["value"] == "single"
    assert elements(page, "a[href='/schema-changes/schema-changes.csv?system=single&algorithm=copy']")
    response = client.get("/schema-changes/?campaign=seven")
    assert response.status_code == 400
    assert data(response.content.decode(), "field") == ["campaign"]
    assert client.get("/schema-changes/schema-changes.csv?campaign=x").status_code == 400


def test_files_hold_every_quantity_and_the_stated_ones(client: Client, published: None) -> None:
    an_altered_run("copy", system=a_system("single"))
    lines = list(csv.DictReader(io.StringIO(client.get("/schema-changes/schema-changes.csv").content.decode())))
    by_quantity = {line["quantity"]: line for line in lines if line["system"] == "single"}
    assert (by_quantity["stall"]["median"], by_quantity["stall"]["runs"], by_quantity["stall"]["origin"]) == (
        "6.0",
        "1",
        "agent",
    )
    assert by_quantity["gap"]["median"] == ""
    assert by_quantity["gap"]["words"].startswith("not observable")
    assert {line["platform"] for line in lines if line["origin"] != "published"} == {"mariadb"}
    assert {line["words"] for line in lines if line["origin"] == "published"} >= {"394.85", "about 15", "353"}
    text = client.get("/schema-changes/schema-changes.md").content.decode()
    assert "| COPY | single | 1 |" in text
    tables = [block.splitlines() for block in text.split("\n\n") if block.startswith("| ")]
    assert all(len({line.count("|") for line in table}) == 1 for table in tables)


def test_the_api_gives_every_run_with_its_statements(client: Client) -> None:
    run = an_altered_run("copy", system=a_system("single"))
    (change,) = client.get("/api/v1/schema-changes/?system=single&operation=add column").json()["changes"]
    assert change["manner"]["algorithm"] == "copy"
    assert change["trials"][0]["run"] == run.pk
    assert change["trials"][0]["statements"][0]["values"]["stall"] == 6.0
    stall = next(each for each in change["ranges"] if each["quantity"]["key"] == "stall")
    assert (stall["median"], stall["count"], stall["missing"]) == (6.0, 1, "")
    assert (stall["quantity"]["unit"], stall["quantity"]["direction"]) == ("s", "lower")
    assert client.get("/api/v1/schema-changes/?algorithm=instant").json()["changes"] == []
    assert client.get("/api/v1/schema-changes/?statement=x").status_code == 400


def test_more_runs_take_no_more_queries(client: Client, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    an_altered_run("copy")
    client.get("/schema-changes/")
    with django_assert_num_queries(13):
        client.get("/schema-changes/")
    an_altered_run("instant")
    with django_assert_num_queries(13):
        client.get("/schema-changes/")
