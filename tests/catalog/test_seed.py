"""The seed fills a catalog, renews what it curates, and deletes nothing."""

from decimal import Decimal

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.catalog import services
from apps.catalog.metrics.derived_metrics import DERIVED
from apps.catalog.metrics.standard import CURATED
from apps.catalog.models import HardwareClass, Metric, Platform, Workload
from apps.comparison.tables.scorecard import FAMILIES
from workers.protocol.workloads import sysbench

pytestmark = pytest.mark.django_db


def test_it_fills_an_empty_catalog() -> None:
    call_command("seed_catalog", stdout=None)
    assert set(Platform.objects.values_list("slug", flat=True)) == {
        "aurora",
        "pxc",
        "mha",
        "galera",
        "group-replication",
        "mysql",
        "mariadb",
        "postgresql",
        "rds-mysql",
    }
    named = {"m4.xlarge", "db.r3.xlarge", "c3.8xlarge", "db.r3.8xlarge", "m2.4xlarge", "c4.4xlarge", "r4.4xlarge"}
    named |= {"i3.4xlarge", "i3.8xlarge", "t3.xlarge", "m5.xlarge"}
    assert named <= set(HardwareClass.objects.values_list("slug", flat=True))
    assert Metric.objects.filter(curated=True).count() == len(CURATED) + len(DERIVED) >= 80
    workloads = Workload.objects.filter(tool="sysbench")
    assert {workload.parameters["test"] for workload in workloads} == set(sysbench.SEEDED)
    assert all((w.parameters["tables"], w.parameters["table_size"]) == (4, 10_000) for w in workloads)


def test_platforms_of_one_architecture_share_a_colour_that_no_other_has() -> None:
    services.seed()
    colors = dict(Platform.objects.values_list("slug", "color"))
    shown = [{colors[slug] for slug in family.platforms} for family in FAMILIES]
    assert shown == [{family.color} for family in FAMILIES]
    assert colors["rds-mysql"] not in {family.color for family in FAMILIES}


def test_prices_follow_from_what_a_source_states() -> None:
    services.seed()
    for slug, monthly in (("r4.4xlarge", "490.56"), ("i3.4xlarge", "625.61"), ("i3.8xlarge", "1251.22")):
        hardware = HardwareClass.objects.get(slug=slug)
        assert hardware.price_per_hour is not None
        assert hardware.price_per_hour * 730 == Decimal(monthly)
        assert monthly in hardware.price_source
    assert not HardwareClass.objects.filter(price_source="", price_per_hour__isnull=False).exists()


def test_a_second_run_renews_what_is_curated_and_deletes_nothing() -> None:
    services.seed()
    services.metrics_for(["mysql.status.Brand_new_thing"])
    Metric.objects.filter(key="client.throughput").update(name="old name")
    HardwareClass.objects.filter(slug="m4.xlarge").update(price_per_hour=Decimal("0.2"), price_source="our contract")
    HardwareClass.objects.create(slug="own", name="Own machine")
    before = {model: set(model.objects.values_list("pk", flat=True)) for model in (Platform, Metric, Workload)}
    services.seed()
    assert Metric.objects.get(key="client.throughput").name == "throughput"
    assert HardwareClass.objects.filter(slug="own").exists()
    # Prices belong to those who run the installation.
    assert HardwareClass.objects.get(slug="m4.xlarge").price_source == "our contract"
    assert {model: set(model.objects.values_list("pk", flat=True)) for model in before} == before


def test_a_counter_that_came_before_its_description_is_described_by_the_seed() -> None:
    Metric.objects.create(key="mysql.status.Com_select", name="x", kind="counter", direction="neutral")
    services.seed()
    assert Metric.objects.get(key="mysql.status.Com_select").curated


def test_a_derived_metric_of_a_device_is_described_and_renewed() -> None:
    services.metrics_for(["derived.disk.nvme0n1.await"])
    Metric.objects.update(name="old name")
    services.seed()
    renewed = Metric.objects.get(key="derived.disk.nvme0n1.await")
    assert (renewed.name, renewed.unit, renewed.curated) == ("disk response time (nvme0n1)", "ms", True)


def test_a_second_run_asks_little() -> None:
    services.seed()
    with CaptureQueriesContext(connection) as asked:
        services.seed()
    assert len(asked) <= 20
