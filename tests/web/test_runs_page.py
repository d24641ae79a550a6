"""The list of runs."""

import pytest
from django.test import Client
from pytest_django.fixtures import DjangoAssertNumQueries

from apps.catalog.models import Platform
from tests.builders import a_load_level, a_measured_run, a_run, a_system, a_workload

pytestmark = pytest.mark.django_db


def _ids(page: str) -> list[int]:
    return [int(part.split('"')[0]) for part in page.split('name="run" value="')[1:]]


def test_runs_are_listed_newest_first_with_their_numbers(client: Client) -> None:
    first, second = a_measured_run({"client.throughput": 1234.567}), a_run()
    page = client.get("/runs/").content.decode()
    assert _ids(page) == [second.pk, first.pk]
    assert '<span class="n" title="1,234.567">1,230</span>' in page
    assert "not observed" in page


def test_fifty_runs_take_as_many_queries_as_one(
    client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    systems, workload, level = [a_system(), a_system()], a_workload(), a_load_level()
    for number in range(50):
        fields = {"system": systems[number % 2], "workload": workload, "load_level": level, "tags": ["nightly"]}
        a_measured_run({"client.throughput": number, "client.latency.p95": 1.0}, **fields)
    with django_assert_max_num_queries(10):
        page = client.get("/runs/").content.decode()
    assert len(_ids(page)) == 50


def test_the_next_page_goes_on_where_the_first_one_ends(client: Client) -> None:
    system, workload = a_system(), a_workload()
    runs = [a_run(system=system, workload=workload) for _ in range(53)]
    first = client.get("/runs/?outcome=succeeded").content.decode()
    address = f"/runs/?outcome=succeeded&amp;before={runs[3].pk}"
    assert f'href="{address}"' in first
    second = client.get(address.replace("&amp;", "&")).content.decode()
    assert _ids(first) + _ids(second) == [run.pk for run in reversed(runs)]
    assert "Older runs" not in second


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("platform=pxc", [1]),
        ("system=small", [0]),
        ("outcome=failed", [1]),
        ("tag=nightly", [0]),
        ("provenance=submitted&outcome=succeeded", [0]),
        ("since=2026-01-02", [1]),
        ("until=2026-01-01", [0]),
        ("text=nightly", [0]),
        ("text=no-such-word", []),
    ],
)
def test_a_filter_leaves_what_it_asks_for(client: Client, query: str, found: list[int]) -> None:
    pxc = a_system("large", platform=Platform.objects.create(slug="pxc", name="PXC"))
    first = a_run(system=a_system("small"), tags=["nightly"], provenance="submitted")
    second = a_run(system=pxc, outcome="failed", reason="lost connection", started_at="2026-01-02T12:00:00Z")
    runs = [first, second]
    assert _ids(client.get(f"/runs/?{query}").content.decode()) == [runs[place].pk for place in found]


def test_a_filter_is_ticked_in_the_form_that_its_address_shows(client: Client) -> None:
    a_run(system=a_system("small"))
    page = client.get("/runs/?system=small").content.decode()
    assert '<input type="checkbox" name="system" value="small" checked>' in page


@pytest.mark.parametrize(
    ("name", "value"),
    [("platform", "nobody"), ("since", "yesterday"), ("release", "x"), ("until", "2026-13-01")],
)
def test_a_filter_that_makes_no_sense_is_named_and_left_out(client: Client, name: str, value: str) -> None:
    run = a_run()
    page = client.get("/runs/", {name: value}).content.decode()
    assert value in page
    assert "was left out" in page
    assert _ids(page) == [run.pk]


def test_htmx_gets_the_table_alone_and_caches_keep_it_apart(client: Client) -> None:
    a_run()
    answer = client.get("/runs/", headers={"HX-Request": "true"})
    assert "<html" not in answer.content.decode()
    assert "HX-Request" in answer["Vary"]
    whole = client.get("/runs/", headers={"HX-Request": "true", "HX-History-Restore-Request": "true"})
    assert "<html" in whole.content.decode()


def test_an_empty_list_says_what_would_fill_it(client: Client) -> None:
    page = client.get("/runs/").content.decode()
    assert "No runs yet" in page
    assert "campaign" in page
    a_run()
    assert "No run matches these filters" in client.get("/runs/?text=zzz").content.decode()


def test_published_figures_are_named_as_being_elsewhere(client: Client) -> None:
    page = client.get("/runs/").content.decode()
    assert 'are on <a href="/published/">Published</a>' in page
