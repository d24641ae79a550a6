"""The catalog: platforms, hardware with prices, workloads, metrics with their direction."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.catalog import services
from apps.catalog.models import HardwareClass, Node, Platform, Workload
from tests.support.builders import a_system
from tests.support.pages import data, element, elements, states, text
from workers.protocol.workloads import WORKLOADS

pytestmark = pytest.mark.django_db


def page(client: Client, address: str = "/catalog/") -> str:
    response = client.get(address)
    assert response.status_code == 200
    content: str = response.content.decode()
    return content


def cells(html: str, row: str) -> list[str]:
    return [" ".join(cell.text().split()) for cell in element(html, row).css("th, td")]


def test_an_empty_catalog_says_how_to_fill_it(client: Client) -> None:
    assert text(page(client), "[data-state=empty] code") == "manage.py seed_catalog"


def test_it_shows_what_the_seed_loads(client: Client) -> None:
    services.seed()
    html = page(client)
    aurora = Platform.objects.get(slug="aurora")
    assert aurora.replication
    assert aurora.replication in cells(html, "tr[data-platform=aurora]")
    hardware = HardwareClass.objects.get(name="i3.4xlarge")
    machine = cells(html, f"tr[data-hardware='{hardware.slug}']")
    assert machine[2:8] == ["16", "122 GiB", "2 x 1900 GB NVMe", "not stated", "not stated", "0.857"]
    assert machine[8].startswith("Percona, 2018-08-20")
    workload = Workload.objects.get(parameters={"test": "oltp_read_write", "tables": 4, "table_size": 10_000})
    name, parameters, *_ = cells(html, f"tr[data-workload='{workload.pk}']")
    assert (name, set(parameters.split())) == (
        workload.name,
        {"test=oltp_read_write", "tables=4", "table_size=10000"},
    )
    p95 = "tr[data-metric='client.latency.p95']"
    assert cells(html, p95)[:4] == ["client.latency.p95", "latency, 95th percentile", "ms", "distribution"]
    assert states(html, f"{p95} [data-direction]", "direction") == [("lower",)]
    # A counter is shown in the unit of its rate.
    sent = "tr[data-metric='mysql.status.Bytes_sent']"
    assert cells(html, sent)[1:4] == ["bytes sent", "bytes/s", "counter"]
    assert cells(html, sent)[5] == "utilization"
    assert states(html, f"{sent} [data-direction]", "direction") == [("neutral",)]


def test_systems_stand_beside_their_release(client: Client) -> None:
    services.seed()
    a_system("galera-small")
    html = page(client)
    assert states(html, "[data-platform=mariadb] [data-system]", "release", "system") == [
        ("10.11.19", "galera-small"),
    ]
    assert elements(html, "[data-system=galera-small] a[href='/runs/?system=galera-small']")


def test_metrics_are_filtered_by_the_address(client: Client) -> None:
    services.seed()
    shown = data(page(client, "/catalog/?resource=row+locks&aspect=errors"), "metric")
    assert "mysql.status.Innodb_deadlocks" in shown
    assert "mysql.status.Innodb_row_lock_waits" not in shown
    assert elements(page(client, "/catalog/?text=nothing+like+it"), "[data-state=no-metric]")


def test_undescribed_counters_are_counted_and_shown_on_request(client: Client) -> None:
    services.seed()
    services.metrics_for(["mysql.status.Brand_new_thing"])
    new = "mysql.status.Brand_new_thing"
    html = page(client)
    assert data(html, "undescribed") == ["1"]
    assert new not in data(html, "metric")
    html = page(client, "/catalog/?undescribed=1")
    assert cells(html, f"tr[data-metric='{new}']")[:4] == [new, "Brand_new_thing", "1/s", "counter"]


def test_the_number_of_queries_does_not_grow_with_the_systems(client: Client) -> None:
    services.seed()
    a_system("first")
    with CaptureQueriesContext(connection) as few:
        client.get("/catalog/")
    for number in range(5):
        a_system(f"system-of-{number}")
    with CaptureQueriesContext(connection) as many:
        client.get("/catalog/")
    assert len(many) == len(few)


def test_each_kind_of_workload_says_what_it_does_and_what_it_takes(client: Client) -> None:
    html = page(client)
    assert set(data(html, "tool")) == set(WORKLOADS)
    for spec in WORKLOADS.values():
        kind = f"tr[data-tool='{spec.tool}']"
        assert " ".join(element(html, f"{kind} > th").text().split()) == spec.title
        assert spec.description in text(html, f"{kind} > td.small:not(.mono)")
        for each in spec.parameters:
            stated = [each.name, each.usual(), each.allowed(), each.description]
            assert cells(html, f"{kind} tr[data-parameter='{each.name}']") == [" ".join(one.split()) for one in stated]


def test_a_proxy_is_not_counted_as_a_database_node(client: Client) -> None:
    cluster, single = a_system("cluster"), a_system("alone")
    for name, role in (("db2", "reader"), ("db3", "reader"), ("haproxy", "proxy")):
        Node.objects.create(system=cluster, name=name, role=role, hardware_class=cluster.hardware_class)
    html = page(client)
    assert text(html, f"[data-system={cluster.slug}] [data-nodes]") == "3 database nodes and 1 proxy"
    assert text(html, f"[data-system={single.slug}] [data-nodes]") == "1 database node"
