"""The Overview."""

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import DjangoAssertNumQueries

from apps.catalog.models import Platform
from apps.runs.models import Run
from apps.web.overview.platforms import load_matrix
from tests.support.builders import a_job, a_load_level, a_measured_run, a_system, a_workload
from tests.support.pages import element, elements, states, text

pytestmark = pytest.mark.django_db


def _a_measured_run(value: float, **fields: object) -> Run:
    return a_measured_run({"client.throughput": value}, **fields)


def test_an_empty_warehouse_says_how_to_fill_it(client: Client) -> None:
    page = client.get("/").content.decode()
    assert len(elements(page, "[data-state=empty]")) == 4  # throughput, campaigns, published figures, runs
    assert elements(page, f"#now a[href='{reverse('web:agents')}']")
    assert elements(page, f"[data-state=empty] a[href='{reverse('web:campaign-new')}']")
    assert text(page, "[data-state=empty] code") == "manage.py load_published"


def test_the_matrix_holds_median_range_and_number_of_runs() -> None:
    system, level = a_system(), a_load_level(4)
    for value in (100.0, 120.0, 110.0, 90.0):
        _a_measured_run(value, system=system, load_level=level)
    (row,) = load_matrix().rows
    (cell,) = row.cells
    assert cell is not None
    assert (cell.median, cell.lowest, cell.highest, str(cell.runs), cell.systems) == (105.0, 90.0, 120.0, "4", 1)
    assert row.load_level == "4 threads"
    assert row.unit == "transactions/s"


def test_the_matrix_shows_the_load_that_most_platforms_have() -> None:
    one, other = a_system("one"), a_system("other", platform=Platform.objects.create(slug="pxc", name="PXC"))
    for level, system in ((4, one), (4, one), (8, one), (8, other)):
        _a_measured_run(100.0, system=system, load_level=a_load_level(level))
    (row,) = load_matrix().rows
    assert row.load_level == "8 threads"
    assert [str(cell.runs) for cell in row.cells if cell] == ["1", "1"]


def test_only_complete_runs_count_in_the_matrix() -> None:
    _a_measured_run(100.0, outcome="failed", reason="lost connection")
    _a_measured_run(100.0, state="ended", sealed_at=None)
    assert load_matrix().rows == ()


def test_examples_make_room_for_any_other_run_of_the_workload() -> None:
    system, level, insert = a_system(), a_load_level(4), a_workload("oltp_insert")
    pxc = a_system(platform=Platform.objects.create(slug="pxc", name="PXC"))
    for side in (system, pxc):
        for workload in (None, insert):
            _a_measured_run(900.0, system=side, load_level=level, workload=workload, provenance="example")
    assert [[cell.origin for cell in row.cells if cell] for row in load_matrix().rows] == [["example"] * 2] * 2
    _a_measured_run(100.0, system=system, load_level=a_load_level(8))
    examples, (cell, nothing) = (row.cells for row in load_matrix().rows)
    assert [each.origin for each in examples if each] == ["example", "example"]
    assert cell is not None
    assert (str(cell.runs), cell.median, cell.origin) == ("1", 100.0, "agent")
    assert nothing is None


def test_runs_that_count_nowhere_leave_the_examples_standing() -> None:
    system = a_system()
    _a_measured_run(900.0, system=system, provenance="example")
    _a_measured_run(100.0, system=system, outcome="failed", reason="lost connection")
    (row,) = load_matrix().rows
    assert [cell.origin for cell in row.cells if cell] == ["example"]


def test_the_matrix_says_which_numbers_agents_did_not_measure(client: Client) -> None:
    cell = "[aria-labelledby=matrix-heading] td.num"

    def shown() -> tuple[object, ...]:
        """Number of runs, how many of them were submitted where that is said, and the mark of the origin."""
        page = client.get("/").content.decode()
        marks = [mark.attributes["class"] for mark in elements(page, f"{cell} .mark")]
        return element(page, cell).attributes["data-runs"], states(page, f"{cell} [data-submitted]", "submitted"), marks

    system = a_system()
    _a_measured_run(900.0, system=system, provenance="example")
    assert shown() == ("1", [], ["mark mark--example"])
    for _ in range(3):
        _a_measured_run(100.0, system=system, provenance="submitted")
    assert shown() == ("3", [], ["mark mark--submitted"])
    _a_measured_run(120.0, system=system)
    assert shown() == ("4", [("3",)], [])
    page = client.get("/").content.decode()
    assert text(page, f"{cell} a").startswith("4 ")
    assert elements(page, f"{cell} a[href*='provenance=agent&provenance=submitted']")
    Run.objects.filter(provenance="submitted").update(provenance="agent")
    assert shown() == ("4", [], [])


def test_a_platform_without_runs_of_a_workload_says_so(client: Client) -> None:
    _a_measured_run(1.0, system=a_system(), workload=a_workload("oltp_insert"))
    pxc = a_system(platform=Platform.objects.create(slug="pxc", name="PXC"))
    _a_measured_run(1.0, system=pxc, workload=a_workload("oltp_read_only"))
    page = client.get("/").content.decode()
    assert len(elements(page, "td.num[data-runs='0'] [data-state=not-measured]")) == 2
    assert len(elements(page, "td.num[data-runs='1']")) == 2


def test_many_runs_take_no_more_queries(client: Client, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    for _ in range(30):
        _a_measured_run(1.0, system=a_system(), workload=a_workload("oltp_insert"))
    with django_assert_max_num_queries(20):
        client.get("/")


def test_the_part_that_says_what_runs_now_comes_alone_to_htmx(client: Client) -> None:
    part = client.get("/", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part
    assert element(part, "#now-heading")


@pytest.mark.parametrize(("state", "shown"), [("succeeded", "done"), ("failed", "failed"), ("running", "running")])
def test_a_campaign_is_listed_with_its_state(client: Client, state: str, shown: str) -> None:
    a_job(state=state)
    page = client.get("/").content.decode()
    found = states(page, "[aria-label='Latest campaigns'] [data-state]", "state", "count")
    assert found == [(shown, "1" if state == "failed" else None)]
