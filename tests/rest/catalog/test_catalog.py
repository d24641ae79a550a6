"""Catalog lists: what they hold, how they are paged, and that their cost does not grow with them."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from apps.catalog.models import HardwareClass, Metric, Platform, Release
from apps.core.canonical import canonical_hash
from tests.support.builders import a_metric, a_system, a_workload

LISTS = ("platforms", "releases", "hardware-classes", "systems", "workloads", "metrics")


def grow() -> None:
    number = Platform.objects.count()
    platform = Platform.objects.create(slug=f"platform-{number}", name=f"Platform {number}")
    Release.objects.create(platform=platform, version="8.0.36", version_key=[8, 0, 36])
    HardwareClass.objects.create(slug=f"box-{number}", name=f"box {number}", vcpu=4)
    a_system(settings={"innodb_flush_log_at_trx_commit": "2"})
    a_workload(tables=number + 1)
    a_metric(f"mysql.status.Com_{number}")


def queries_of(ask: Callable[[], object]) -> int:
    with CaptureQueriesContext(connection) as queries:
        ask()
    return len(queries)


@pytest.mark.parametrize("name", LISTS)
def test_a_list_costs_the_same_whatever_its_length(anyone: APIClient, name: str) -> None:
    lengths = []

    def ask() -> None:
        answer = anyone.get(f"/api/v1/{name}/")
        assert answer.status_code == 200
        lengths.append(len(answer.json()["results"]))

    grow()
    few = queries_of(ask)
    for _ in range(4):
        grow()
    assert queries_of(ask) == few
    assert lengths[0] < lengths[1]


def test_a_hardware_class_says_what_it_costs_and_null_where_nothing_is_stated(anyone: APIClient) -> None:
    HardwareClass.objects.create(slug="m4-large", name="m4.large", price_per_hour="0.10000")
    (entry,) = anyone.get("/api/v1/hardware-classes/").json()["results"]
    assert (entry["usd_per_hour"], entry["vcpu"]) == ("0.10000", None)


def test_releases_come_in_the_order_of_their_versions(anyone: APIClient) -> None:
    platform = Platform.objects.create(slug="pxc", name="PXC")
    for key in ([8, 0, 4], [5, 7, 44], [8, 0, 36]):
        Release.objects.create(platform=platform, version=".".join(map(str, key)), version_key=key)
    other = Platform.objects.create(slug="aurora", name="Aurora")
    Release.objects.create(platform=other, version="3.04", version_key=[3, 4])
    results = anyone.get("/api/v1/releases/?platform=pxc").json()["results"]
    assert [entry["version"] for entry in results] == ["5.7.44", "8.0.4", "8.0.36"]


def test_pages_follow_each_other_without_gap_or_repeat(anyone: APIClient) -> None:
    keys = sorted(a_metric(f"mysql.status.Com_{number:02}").key for number in range(7))
    seen, address = [], "/api/v1/metrics/?limit=3"
    while address:
        page = anyone.get(address).json()
        seen.append([entry["key"] for entry in page["results"]])
        address = page["next"]
    assert [len(page) for page in seen] == [3, 3, 1]
    assert [key for page in seen for key in page] == keys


def test_metrics_can_be_narrowed_to_those_described(anyone: APIClient) -> None:
    Metric.objects.create(key="a", name="a", kind="gauge", direction="neutral", curated=True)
    Metric.objects.create(key="b", name="b", kind="gauge", direction="neutral", curated=False)
    found = {
        query: [entry["key"] for entry in anyone.get(f"/api/v1/metrics/{query}").json()["results"]]
        for query in ("", "?curated=true", "?curated=false")
    }
    assert found == {"": ["a", "b"], "?curated=true": ["a"], "?curated=false": ["b"]}


@pytest.mark.parametrize(
    ("address", "field"),
    [
        ("platforms/?nmae=x", "nmae"),
        ("releases/?platform=%00", "platform"),
        ("releases/?platform=maraidb", "platform"),
        ("metrics/?limit=0", "limit"),
        ("metrics/?limit=1000000000000000000000000", "limit"),
        ("metrics/?cursor=xyz", "cursor"),
        ("metrics/?cursor=cD0lMDA%3D", "cursor"),  # p=%00
        ("workloads/?cursor=cD1hYmM%3D", "cursor"),  # p=abc: no number
        ("systems/?cursor=%ff%fe", "cursor"),
        ("metrics/?resource=%ff%00", "resource"),
    ],
)
def test_a_parameter_that_is_wrong_is_named(anyone: APIClient, address: str, field: str) -> None:
    answer = anyone.get(f"/api/v1/{address}")
    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"
    assert {error["field"] for error in answer.json()["errors"]} == {field}


def test_a_system_carries_its_release_hardware_and_nodes(anyone: APIClient) -> None:
    system = a_system("galera-small", settings={"wsrep_slave_threads": "4"})
    (entry,) = anyone.get("/api/v1/systems/").json()["results"]
    assert entry["slug"] == system.slug
    assert (entry["platform"], entry["version"], entry["hardware_class"]) == ("mariadb", "10.11.19", "small")
    assert entry["nodes"] == [{"name": "db1", "role": "writer", "zone": "", "hardware_class": "small"}]
    assert canonical_hash(entry["settings"]) == system.settings_hash
