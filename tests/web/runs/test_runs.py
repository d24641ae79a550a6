"""The list of runs."""

from datetime import timedelta

import pytest
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import DjangoAssertNumQueries

from apps.catalog.models import Metric, Platform, Workload
from apps.web.runs import filters
from apps.web.runs import runs as runs_page
from tests.runs.queries.test_runs import many_runs
from tests.support.builders import START, a_load_level, a_measured_run, a_run, a_system, a_workload
from tests.support.pages import element, elements, states, text

pytestmark = pytest.mark.django_db


def _ids(page: str) -> list[int]:
    return [int(node.attributes["value"] or "") for node in elements(page, "input[name=run]")]


def test_runs_are_listed_newest_first_with_their_numbers(client: Client) -> None:
    first, second = a_measured_run({"client.throughput": 1234.567}), a_run()
    page = client.get("/runs/").content.decode()
    assert _ids(page) == [second.pk, first.pk]
    assert element(page, f"[data-run='{first.pk}'] [title='1,234.567']").text() == "1,230"
    assert len(elements(page, f"[data-run='{second.pk}'] [data-state=not-observed]")) == 2


def test_a_run_about_something_else_shows_that_before_its_latency(client: Client) -> None:
    run = a_measured_run({"failover.outage": 8.47, "client.latency.p95": 3.18})
    Workload.objects.update(primary_metric=Metric.objects.get(key="failover.outage"))
    page = client.get("/runs/").content.decode()
    shown = text(page, f"[data-run='{run.pk}'] [data-primary='failover.outage']")
    assert shown.startswith("8.47")
    assert shown.endswith("p95 3.18 ms")


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
    address = f"/runs/?outcome=succeeded&before={runs[3].pk}"
    assert element(first, "[rel=next]").attributes["href"] == address
    second = client.get(address).content.decode()
    assert _ids(first) + _ids(second) == [run.pk for run in reversed(runs)]
    assert not elements(second, "[rel=next]")


def test_a_heading_orders_by_its_column_then_turns_the_order_around(client: Client) -> None:
    low, high = a_measured_run({"client.throughput": 9.0}), a_measured_run({"client.throughput": 10.0})
    without = a_run()
    for order, expected, heading in (
        ("", [without, high, low], ""),
        ("-throughput", [high, low, without], "descending"),
        ("throughput", [low, high, without], "ascending"),
    ):
        page = client.get(f"/runs/?sort={order}").content.decode()
        assert _ids(page) == [run.pk for run in expected]
        assert [th.attributes["aria-sort"] for th in elements(page, "th[aria-sort]")] == [heading or "descending"]
        link = next(each for each in elements(page, "th a.sort") if each.text(strip=True) == "Throughput")
        assert link.attributes["href"] == f"/runs/?sort={'throughput' if order == '-throughput' else '-throughput'}"
        assert bool(elements(page, f"input[name=sort][value='{order}'][form=run-filters]")) is bool(order)


def test_pages_of_an_ordered_list_follow_each_other_with_its_filters(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs_page, "PAGE", 2)
    made = [a_measured_run({"client.throughput": value}) for value in (3.0, 1.0, 2.0)]
    failed = a_run(outcome="failed", reason="lost connection")
    first = client.get("/runs/?outcome=succeeded&sort=throughput").content.decode()
    address = f"/runs/?outcome=succeeded&sort=throughput&before={made[2].pk}"
    assert element(first, "[rel=next]").attributes["href"] == address
    second = client.get(address).content.decode()
    assert _ids(first) + _ids(second) == [made[1].pk, made[2].pk, made[0].pk]
    assert failed.pk not in _ids(second)
    heading = next(each for each in elements(second, "th a.sort") if each.text(strip=True) == "Load")
    assert heading.attributes["href"] == "/runs/?outcome=succeeded&sort=load"  # from the beginning


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("platform=pxc", [1]),
        ("system=small", [0]),
        ("outcome=failed", [1]),
        ("threads=16", [1]),
        ("threads=16&threads=4", [1, 0]),
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
    first = a_run(system=a_system("small"), tags=["nightly"], provenance="submitted", load_level=a_load_level(4))
    failed = {"outcome": "failed", "reason": "lost connection", "load_level": a_load_level(16, 100.0)}
    second = a_run(system=pxc, started_at="2026-01-02T12:00:00Z", **failed)
    runs = [first, second]
    assert _ids(client.get(f"/runs/?{query}").content.decode()) == [runs[place].pk for place in found]


def test_a_filter_is_ticked_in_the_form_that_its_address_shows(client: Client) -> None:
    a_run(system=a_system("small"))
    page = client.get("/runs/?system=small").content.decode()
    assert elements(page, "[name=system][value=small][checked]")


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("platform=oracle", "platform: 'oracle' is not known (choose one from the list)"),
        ("tag=never", "tag: 'never' is not known (choose one from the list)"),
        ("release=x", "release: is not a number"),
        ("threads=3", "threads: '3' is not known (choose one from the list)"),
        ("since=yesterday", "since: 'yesterday' is not a date (write it as 2026-01-31)"),
        ("until=2026-13-01", "until: '2026-13-01' is not a date (write it as 2026-01-31)"),
        ("before=last", "before: is not a number"),
        ("system=%00", "system: has characters that no name has"),
        ("sort=price", "sort: 'price' is not known; choose from: run, -run, started, -started"),
        ("colour=blue", "colour: unknown parameter; known here: platform, release, hardware, system"),
    ],
)
def test_a_filter_that_is_not_known_is_refused_with_a_word(client: Client, query: str, sentence: str) -> None:
    a_run(system=a_system("small"))
    answer = client.get(f"/runs/?{query}&system=small" if "system" not in query else f"/runs/?{query}")
    page = answer.content.decode()
    assert answer.status_code == 400
    assert states(page, "[data-field]", "field") == [(query.partition("=")[0],)]
    assert text(page, "[data-field]").startswith(sentence)
    assert _ids(page) == []
    assert elements(page, "[data-state=refused] a[href='/runs/']")
    assert "system" in query or elements(page, "[name=system][value=small][checked]")  # what is known stays chosen
    part = client.get(f"/runs/?{query}", headers={"HX-Request": "true"})  # htmx shows no error responses
    assert part.status_code == 200
    assert text(part.content.decode(), "[data-field]").startswith(sentence)


def test_a_known_filter_that_no_run_has_is_no_error(client: Client) -> None:
    Platform.objects.create(slug="pxc", name="PXC")
    a_run()
    page = client.get("/runs/?platform=pxc").content.decode()
    assert elements(page, "[name=platform][value=pxc][checked]")
    assert elements(page, "[data-state=empty]")
    assert _ids(page) == []


def test_only_what_some_run_has_is_offered(client: Client) -> None:
    pxc = Platform.objects.create(slug="pxc", name="PXC")
    a_system("unused", platform=pxc)
    workload = a_workload("oltp_insert", tables=3)
    run = a_run(system=a_system("used"))
    offered = {facet.name: [choice.value for choice in facet.choices] for facet in filters.read(QueryDict()).facets}
    assert (offered["platform"], offered["system"]) == (["mariadb"], ["used"])
    assert offered["workload"] == [str(run.workload_id)] != [str(workload.pk)]
    assert (offered["release"], offered["hardware"]) == ([str(run.system.release_id)], ["small"])


def test_tags_of_the_newest_runs_are_offered_and_an_older_one_can_be_asked_for(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filters, "TAGGED_RUNS", 2)
    runs = [
        a_run(tags=tags, started_at=START + timedelta(hours=hour))
        for hour, tags in enumerate((["old"], [], ["b", "a"]))
    ]
    page = client.get("/runs/").content.decode()
    assert sorted(node.attributes["value"] or "" for node in elements(page, "[name=tag]")) == ["a", "b"]
    assert states(page, "[data-note]", "note") == [("tag",)]
    page = client.get("/runs/?tag=old").content.decode()
    assert elements(page, "[name=tag][value=old][checked]")
    assert _ids(page) == [runs[0].pk]


def test_the_filters_read_many_runs_by_indexes(
    django_assert_num_queries: DjangoAssertNumQueries, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filters, "TAGGED_RUNS", 50)
    many_runs()
    with CaptureQueriesContext(connection) as captured, django_assert_num_queries(7):
        filters.read(QueryDict())
    for query in captured.captured_queries:
        with connection.cursor() as cursor:
            cursor.execute("EXPLAIN " + query["sql"])
            plan = "\n".join(row for (row,) in cursor.fetchall())
        assert "Seq Scan on runs_run" not in plan, plan


def test_htmx_gets_the_table_alone_and_caches_keep_it_apart(client: Client) -> None:
    a_run()
    answer = client.get("/runs/", headers={"HX-Request": "true"})
    assert "<html" not in answer.content.decode()
    assert "HX-Request" in answer["Vary"]
    whole = client.get("/runs/", headers={"HX-Request": "true", "HX-History-Restore-Request": "true"})
    assert "<html" in whole.content.decode()


def test_an_empty_list_says_what_would_fill_it(client: Client) -> None:
    page = client.get("/runs/").content.decode()
    assert elements(page, "[data-state=empty] a[href='/campaigns/']")
    a_run()
    filtered = client.get("/runs/?text=zzz").content.decode()
    assert elements(filtered, "[data-state=empty] a[href='/runs/']")
    assert not elements(filtered, "[data-state=empty] a[href='/campaigns/']")


def test_published_figures_are_named_as_being_elsewhere(client: Client) -> None:
    page = client.get("/runs/").content.decode()
    assert elements(page, "main [data-state=empty] a[href='/published/']")
