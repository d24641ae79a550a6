"""The catalog: platforms, hardware with prices, workloads, metrics with their direction."""

import html
import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.catalog import services
from tests.support.builders import a_system

pytestmark = pytest.mark.django_db


def text_of(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", response.content.decode())).split())


def test_an_empty_catalog_says_how_to_fill_it(client: Client) -> None:
    assert "manage.py seed_catalog" in text_of(client, "/catalog/")


def test_it_shows_what_the_seed_loads(client: Client) -> None:
    services.seed()
    page = text_of(client, "/catalog/")
    assert "shared storage: six copies in three zones, write quorum of four" in page
    assert "i3.4xlarge Amazon EC2 16 122 GiB 2 x 1900 GB NVMe not stated not stated 0.857 Percona, 2018-08-20" in page
    assert "oltp_read_write 4 × 10,000 rows test=oltp_read_write tables=4 table_size=10000" in page
    assert "client.latency.p95 latency, 95th percentile ms distribution ▼ lower is better" in page
    # A counter is shown in the unit of its rate.
    assert "mysql.status.Bytes_sent bytes sent bytes/s counter neither utilization" in page


def test_systems_stand_beside_their_release(client: Client) -> None:
    services.seed()
    a_system("galera-small")
    assert "10.11.19 galera-small 1 node on small" in text_of(client, "/catalog/")


def test_metrics_are_filtered_by_the_address(client: Client) -> None:
    services.seed()
    page = text_of(client, "/catalog/?resource=row+locks&aspect=errors")
    assert "mysql.status.Innodb_deadlocks" in page
    assert "mysql.status.Innodb_row_lock_waits" not in page
    assert "No metric fits these filters" in text_of(client, "/catalog/?text=nothing+like+it")


def test_undescribed_counters_are_counted_and_shown_on_request(client: Client) -> None:
    services.seed()
    services.metrics_for(["mysql.status.Brand_new_thing"])
    page = text_of(client, "/catalog/")
    assert "1 more that servers sent without a description" in page
    assert "mysql.status.Brand_new_thing" not in page
    assert "mysql.status.Brand_new_thing Brand_new_thing 1/s counter" in text_of(client, "/catalog/?undescribed=1")


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
    page = text_of(client, "/catalog/")
    assert "iiBench iibench Inserts batches of rows into one table" in page
    assert "secondary_indexes 3 one of 0, 3 secondary indexes of the table" in page
    assert "test must be given one of oltp_read_write" in page
    assert "foreign_keys false true or false whether the child tables refer to their parents" in page
