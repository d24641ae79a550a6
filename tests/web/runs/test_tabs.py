"""The tabs of the Run page: every part is in one, and the address opens it."""

import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from tests.support.pages import data, element, elements
from tests.web.runs.recorded_runs import a_sealed_run
from tests.web.runs.use_method.test_use_method import a_cluster

pytestmark = pytest.mark.django_db


def _opened(page: str) -> list[str]:
    return [each.attributes["data-panel"] or "" for each in elements(page, "[data-panel]:not([data-closed])")]


def test_the_address_opens_a_tab_without_a_script(client: Client) -> None:
    address = f"/runs/{a_sealed_run().pk}/"
    page = client.get(address).content.decode()
    assert _opened(page) == ["counters"]
    for tab in data(page, "tab"):
        link = element(page, f"[data-tab={tab}]").attributes["href"] or ""
        opened = client.get(f"{address}{link}").content.decode()
        assert _opened(opened) == [tab]
        assert element(opened, "[data-tab][aria-current]").attributes["data-tab"] == tab


def test_a_link_to_a_value_opens_the_limits(client: Client) -> None:
    page = client.get(f"/runs/{a_cluster(g1=99.0).pk}/?use=cpu.busy@g1").content.decode()
    assert _opened(page) == ["limits"]
    assert "use=cpu.busy%40g1" in (element(page, "[data-tab=checks]").attributes["href"] or "")


def test_links_between_tabs_keep_the_zoom_without_a_script(client: Client) -> None:
    page = client.get(f"/runs/{a_sealed_run().pk}/?from=2&to=9").content.decode()
    assert element(page, ".run-limits [data-to-tab=limits]").attributes["href"] == "?from=2&to=9&tab=limits"


def test_an_unknown_parameter_is_refused(client: Client) -> None:
    response = client.get(f"/runs/{a_sealed_run().pk}/?colour=blue")
    assert response.status_code == 400
    assert data(response.content.decode(), "field") == ["colour"]


def test_an_unknown_tab_is_refused_with_those_that_are_known(client: Client) -> None:
    response = client.get(f"/runs/{a_sealed_run().pk}/?tab=nope")
    assert response.status_code == 400
    (problem,) = elements(response.content.decode(), "[data-field=tab]")
    assert "'nope'" in problem.text()
    assert "configuration" in problem.text()


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_figures_charts_and_limits_stand_on_the_first_screen(browser_page: Page) -> None:
    run = a_cluster(g1=20.0, g2=99.0, seconds=140)
    browser_page.set_viewport_size({"width": 1440, "height": 900})
    browser_page.goto(f"/runs/{run.pk}/")
    expect(browser_page.locator("#use-answer [data-use-level=saturated]")).to_be_visible()
    ends = browser_page.evaluate(
        "() => ['#headline', '#chart-throughput', '#chart-latency', '#use-answer', '#tabs']"
        ".map(id => document.querySelector(id)?.getBoundingClientRect().bottom ?? 0)"
    )
    assert max(ends) <= 900


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_value_of_the_answer_opens_its_series_in_its_tab_and_back_returns(browser_page: Page) -> None:
    run = a_cluster(g1=20.0, g2=99.0, seconds=140)
    browser_page.goto(f"/runs/{run.pk}/")
    browser_page.locator("#use-answer [data-use='cpu.busy@g2']").click()
    expect(browser_page.locator("#use-opened-title")).to_be_focused()
    expect(browser_page.locator("[data-panel=limits]")).to_be_visible()
    assert "tab=limits" in browser_page.url
    browser_page.go_back()
    expect(browser_page.locator("[data-panel=counters]")).to_be_visible()
    expect(browser_page.locator("[data-panel=limits]")).to_be_hidden()


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_charts_of_a_tab_that_is_opened_later_fill_their_place(browser_page: Page) -> None:
    run = a_sealed_run()

    def fits(selector: str) -> None:
        expect(browser_page.locator(f"{selector} .main-svg").first).to_be_visible()
        browser_page.wait_for_function(
            "place => [...document.querySelectorAll(`${place} .chart__plot[data-drawn]`)].every(plot => "
            "plot.clientWidth === 0 || Math.abs(plot.clientWidth - plot._fullLayout.width) < 2)",
            arg=selector,
        )

    browser_page.goto(f"/runs/{run.pk}/?tab=limits")
    expect(browser_page.locator("#chart-throughput .main-svg").first).to_be_visible()
    assert browser_page.locator("#counters .main-svg").count() == 0
    browser_page.locator("[data-tab=counters]").click()
    fits("#counters")
    # What was drawn before the window became narrow, too.
    browser_page.locator("[data-tab=limits]").click()
    browser_page.set_viewport_size({"width": 700, "height": 900})
    browser_page.locator("[data-tab=counters]").click()
    fits("#counters")
