"""Long parts of Compare are folded: what stands above the fold, what the fold says of its content, and how it opens."""

from datetime import timedelta

import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from apps.catalog.models import System, Workload
from apps.runs.models import Run
from tests.comparison.sections.test_steadiness import noisy, runs_of
from tests.support.builders import START, a_load_level, a_measured_run, a_system, a_workload
from tests.support.pages import element, elements
from tests.web.compare.compared import TPS, address, page

pytestmark = pytest.mark.django_db
THREADS = (1, 4, 8, 16)


@pytest.fixture
def workload() -> Workload:
    return a_workload()


@pytest.fixture
def sides(workload: Workload) -> tuple[System, System]:
    """Five runs a side at each of four load levels."""
    made = a_system("a", name="Alpha"), a_system("b", name="Beta")
    for system in made:
        for threads in THREADS:
            for number in range(5):
                a_measured_run(
                    {TPS: 1000.0 + threads + number},
                    system=system,
                    load_level=a_load_level(threads),
                    repetition=number + 1,
                    started_at=START + timedelta(minutes=number),
                )
    return made


def test_runs_at_the_chosen_load_stand_above_the_fold_that_says_what_it_holds(
    client: Client, workload: Workload, sides: object
) -> None:
    left_out = Run.objects.filter(load_level__threads=4).earliest("pk")
    Run.objects.filter(pk=left_out.pk).update(is_excluded=True)
    html = page(client, address(workload, level="8", tab="runs"))
    assert len(elements(html, "#runs tr[data-run]")) == 40
    assert len(elements(html, "#runs details tr[data-run]")) == 30
    words = " ".join(element(html, "#runs summary").text().split())
    assert words == "30 more runs, at 1 thread, 4 threads and 16 threads, 1 left out"


def test_few_runs_are_not_folded(client: Client, workload: Workload, sides: object) -> None:
    Run.objects.filter(load_level__threads__in=(1, 16)).update(workload=a_workload("oltp_insert"))
    html = page(client, address(workload, level="8", tab="runs"))
    assert (len(elements(html, "#runs tr[data-run]")), elements(html, "#runs details")) == (20, [])


def test_steadiness_at_other_loads_is_folded_below_the_picture(client: Client, db: None) -> None:
    for slug in ("a", "b"):
        system = a_system(slug)
        for place, threads in enumerate((1, 2, 4, 8, 16)):
            runs_of(system, [noisy(20, 10 * place + seed) for seed in range(3)], threads=threads)
    html = page(client, address(a_workload(), level="4", tab="steadiness"))
    shown = {row.attributes["data-level"] for row in elements(html, "#steadiness > * > * tr[data-level]")}
    folded = {row.attributes["data-level"] for row in elements(html, "#steadiness details tr[data-level]")}
    assert shown - folded == {"4"}
    assert folded == {"1", "2", "8", "16"}
    (words,) = [each.text().strip() for each in elements(html, "[data-fold=steadiness-loads] > summary")]
    assert words == "4 other load levels: 1 thread, 2 threads, 8 threads and 16 threads"
    assert html.index("chart-steadiness") < html.index('data-level="4"', html.index('id="steadiness"'))


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_link_to_what_is_folded_opens_the_fold_and_paper_shows_it(
    browser_page: Page, workload: Workload, sides: object
) -> None:
    run = Run.objects.filter(load_level__threads=16).earliest("pk")
    row = browser_page.locator(f"#run-{run.pk}")
    url = address(workload, level="8", tab="runs")
    browser_page.goto(url)
    expect(row).to_be_hidden()
    browser_page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    expect(row).to_be_visible()
    browser_page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    expect(row).to_be_hidden()
    browser_page.evaluate(f"window.location.hash = '#run-{run.pk}'")
    expect(row).to_be_in_viewport()
    browser_page.goto("about:blank")
    browser_page.goto(f"{url}#run-{run.pk}")
    expect(row).to_be_in_viewport()
