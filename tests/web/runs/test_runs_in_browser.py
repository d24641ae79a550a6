"""The list of runs, in Chromium."""

import pytest
from playwright.sync_api import Page, expect

from tests.support.builders import a_load_level, a_measured_run, a_run, a_system, a_workload

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_filter_changes_the_table_and_the_address_and_back_undoes_it(browser_page: Page) -> None:
    workload = a_workload()
    a_run(system=a_system("small-box"), workload=workload)
    a_run(system=a_system("large-box"), workload=workload)
    browser_page.goto("/runs/")
    rows = browser_page.locator("#results tbody tr")
    expect(rows).to_have_count(2)
    browser_page.locator("#label-system + details summary").click()
    browser_page.get_by_label("large-box", exact=True).check()
    expect(rows).to_have_count(1)
    assert browser_page.url.endswith("/runs/?system=large-box")
    browser_page.go_back()
    expect(rows).to_have_count(2)


def test_ticked_runs_of_two_systems_lead_to_their_comparison(browser_page: Page) -> None:
    workload, level = a_workload(), a_load_level()
    small, large = a_system("small-box"), a_system("large-box")
    runs = [
        a_measured_run({"client.throughput": 100}, system=system, workload=workload, load_level=level)
        for system in (small, large)
    ]
    browser_page.goto("/runs/")
    browser_page.get_by_label(f"Tick run {runs[0].pk}").check()
    compare = browser_page.locator("[data-compare]")
    expect(compare).to_have_attribute("aria-disabled", "true")
    browser_page.get_by_label(f"Tick run {runs[1].pk}").check()
    expect(compare).to_have_attribute("aria-disabled", "false")
    compare.click()
    ids = f"{runs[0].pk},{runs[1].pk}"
    browser_page.wait_for_url(f"**/compare/?side=small-box&side=large-box&workload={workload.pk}&runs={ids}")
    expect(browser_page.locator("h1")).to_be_visible()


def test_a_heading_orders_all_runs_keeps_the_filters_and_turns_the_order_around(browser_page: Page) -> None:
    system, workload, level = a_system("small-box"), a_workload(), a_load_level()
    low, high, middle = (
        a_measured_run({"client.throughput": value}, system=system, workload=workload, load_level=level)
        for value in (30, 1200, 200)
    )
    a_run(system=system, workload=workload)
    browser_page.goto("/runs/?outcome=succeeded")
    for order, now in (((high, middle, low), "-throughput"), ((low, middle, high), "throughput")):
        browser_page.get_by_role("link", name="Throughput").click()
        browser_page.wait_for_url(f"**/runs/?outcome=succeeded&sort={now}")
        shown = browser_page.locator("#results tbody tr").evaluate_all("rows => rows.map(row => row.dataset.run)")
        assert shown[:3] == [str(run.pk) for run in order]
    browser_page.locator("#text").fill("small")
    browser_page.wait_for_url("**/runs/?*text=small*")
    assert "sort=throughput" in browser_page.url


def test_a_phone_shows_the_headings_that_sort_above_the_cards(browser_page: Page) -> None:
    low, high = (a_measured_run({"client.throughput": value}) for value in (30, 1200))
    browser_page.set_viewport_size({"width": 390, "height": 844})
    browser_page.goto("/runs/")
    cards = browser_page.locator("#results tbody tr")
    browser_page.get_by_role("link", name="Throughput").click()
    browser_page.wait_for_url("**/runs/?sort=-throughput")
    assert cards.evaluate_all("rows => rows.map(row => row.dataset.run)") == [str(high.pk), str(low.pk)]


def test_ticked_runs_survive_a_change_of_filter(browser_page: Page) -> None:
    first, second = a_run(system=a_system("small-box")), a_run(system=a_system("large-box"), workload=a_workload())
    browser_page.goto("/runs/")
    browser_page.get_by_label(f"Tick run {first.pk}").check()
    browser_page.locator("#text").fill("large")
    expect(browser_page.locator("#results tbody tr")).to_have_count(1)
    browser_page.get_by_label(f"Tick run {second.pk}").check()
    expect(browser_page.locator("#selection")).to_contain_text("2 runs of 2 systems")
