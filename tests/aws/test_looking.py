"""What AWS says of a system, and what the catalog learns: RDS and EC2 by moto, the price list by the Stubber."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from botocore.stub import ANY, Stubber
from django.test import Client

from apps.aws import observations, queries
from apps.aws.models import Observation
from apps.catalog.models import HardwareClass, Node, Release, System
from tests.support.builders import a_system
from tests.support.cloud import CLUSTER, REGION, a_cluster, an_instance, stubbed
from tests.support.pages import squeezed

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("aws")]


def a_class(name: str, **fields: Any) -> HardwareClass:
    return HardwareClass.objects.create(slug=name, name=name, instance_type=name, **fields)


def an_aurora_system(**fields: Any) -> System:
    defaults = {"aws_region": REGION, "aws_kind": "cluster", "aws_identifier": CLUSTER}
    return a_system("aurora-1", **{**defaults, **fields})


def a_product(usage: str, usd: str, *, since: str = "2026-01-01T00:00:00Z", unit: str = "Hrs") -> str:
    """As the price list writes it: one JSON text a product."""
    dimension = {"unit": unit, "pricePerUnit": {"USD": usd}}
    term = {"effectiveDate": since, "priceDimensions": {"d": dimension}}
    return json.dumps({"product": {"attributes": {"usagetype": usage}}, "terms": {"OnDemand": {"t": term}}})


def price_list(stub: Stubber, *products: str, **asked: str) -> None:
    filters = [{"Type": "TERM_MATCH", "Field": name, "Value": value} for name, value in asked.items()]
    stub.add_response(
        "get_products",
        {"FormatVersion": "aws_v1", "PriceList": list(products)},
        {"ServiceCode": "AmazonRDS", "FormatVersion": "aws_v1", "Filters": filters or ANY},
    )


STANDARD, OPTIMIZED = "EU-InstanceUsage:db.r6g.large", "EU-InstanceUsageIOOptimized:db.r6g.large"


def test_a_look_keeps_topology_and_price_and_fills_in_the_hardware_class(monkeypatch: pytest.MonkeyPatch) -> None:
    a_cluster("one", "two")
    system = an_aurora_system(hardware_class=a_class("db.r6g.large"))
    with stubbed("pricing", monkeypatch) as stub:
        price_list(
            stub,
            a_product(STANDARD, "0.2860000000"),
            a_product(OPTIMIZED, "0.3718000000"),
            instanceType="db.r6g.large",
            regionCode=REGION,
            databaseEngine="Aurora MySQL",
            deploymentOption="Single-AZ",
        )
        assert observations.look(system_id=system.pk, now=NOW)
    (seen,) = queries.list_systems()
    assert (seen.engine_version, seen.seen_at) == ("8.0.mysql_aurora.3.05.2", NOW)
    assert [(each.name, each.role, each.zone) for each in seen.instances] == [
        ("one", "writer", "eu-west-1a"),
        ("two", "reader", "eu-west-1b"),
    ]
    assert seen.usd_per_hour == Decimal("0.572"), "of both instances"
    assert seen.problem == ""
    known = HardwareClass.objects.get(slug="db.r6g.large")
    assert (known.vcpu, known.memory_bytes, known.region) == (2, 16 * 2**30, REGION)
    assert known.price_per_hour == Decimal("0.286")
    assert known.price_source == (
        "AWS price list, on demand: Aurora MySQL, Single-AZ, eu-west-1, valid from 2026-01-01, read 2026-01-31"
    )


def test_a_price_that_a_person_gave_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    a_cluster("one")
    ours = a_class("db.r6g.large", price_per_hour=Decimal("0.2"), price_source="our contract", vcpu=3)
    system = an_aurora_system(hardware_class=ours)
    with stubbed("pricing", monkeypatch) as stub:
        price_list(stub, a_product(STANDARD, "0.286"))
        observations.look(system_id=system.pk, now=NOW)
    ours.refresh_from_db()
    assert (ours.price_per_hour, ours.price_source, ours.vcpu) == (Decimal("0.2"), "our contract", 3)
    (seen,) = queries.list_systems()
    assert seen.usd_per_hour == Decimal("0.286"), "what AWS asks is shown beside it"


def test_two_prices_that_fit_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    a_cluster("one")
    system = an_aurora_system()
    with stubbed("pricing", monkeypatch) as stub:
        price_list(stub, a_product(STANDARD, "0.286"), a_product(STANDARD, "0.3"), a_product(STANDARD, "9", unit="Mo"))
        observations.look(system_id=system.pk, now=NOW)
    (seen,) = queries.list_systems()
    assert seen.usd_per_hour is None


def test_the_price_list_is_asked_once_a_week_and_the_topology_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    a_cluster("one")
    system = an_aurora_system()
    with stubbed("pricing", monkeypatch) as stub:
        price_list(stub, a_product(STANDARD, "0.286"))
        assert observations.look(system_id=system.pk, now=NOW)
        assert observations.look(system_id=system.pk, now=NOW + timedelta(days=6))
        price_list(stub, a_product(STANDARD, "0.3"))
        assert observations.look(system_id=system.pk, now=NOW + timedelta(days=8))
    assert System.objects.get().aws_prices["db.r6g.large"]["usd_per_hour"] == "0.3"


def test_a_price_list_that_may_not_be_read_hides_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    a_cluster("one")
    system = an_aurora_system()
    with stubbed("pricing", monkeypatch) as stub:
        stub.add_client_error("get_products", "AccessDeniedException", "not authorized", http_status_code=400)
        assert observations.look(system_id=system.pk, now=NOW)
    (seen,) = queries.list_systems()
    assert len(seen.instances) == 1
    assert "refused GetProducts: not authorized; allow it" in seen.problem


def test_a_class_without_an_instance_type_of_ec2_stays_unstated(monkeypatch: pytest.MonkeyPatch) -> None:
    a_cluster("one", instance_class="db.r99.large")
    system = an_aurora_system(hardware_class=a_class("db.r99.large"))
    with stubbed("pricing", monkeypatch) as stub:
        price_list(stub)
        observations.look(system_id=system.pk, now=NOW)
    assert HardwareClass.objects.get(slug="db.r99.large").vcpu is None
    assert Observation.objects.get().problem == ""


def test_when_aws_gives_nothing_what_was_seen_stays_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    a_cluster("one")
    system = an_aurora_system()
    with stubbed("pricing", monkeypatch) as stub:
        price_list(stub)
        observations.look(system_id=system.pk, now=NOW)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    assert not observations.look(system_id=system.pk, now=NOW + timedelta(hours=1))
    (seen,) = queries.list_systems()
    assert (seen.seen_at, len(seen.instances)) == (NOW, 1)
    assert "cannot be reached" in seen.problem
    assert any("cannot be reached" in words for words in queries.warnings_for(["aurora-1"]))


def test_what_the_catalog_keeps_otherwise_is_said_as_of_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    a_cluster("one", "two")
    system = an_aurora_system()
    with stubbed("pricing", monkeypatch) as stub:
        price_list(stub)
        observations.look(system_id=system.pk, now=NOW)
    later = "Describe the current system under a slug of its own"
    assert queries.warnings_for(["aurora-1", "unknown"]) == [
        f"system aurora-1: the catalog keeps hardware class small; AWS reports db.r6g.large. {later}",
        f"system aurora-1: the catalog keeps instances 1; AWS reports 2. {later}",
        f"system aurora-1: the catalog keeps version 10.11.19; AWS reports 8.0.mysql_aurora.3.05.2. {later}",
    ]
    release = Release.objects.create(
        platform=system.release.platform, version="8.0.32 Aurora 3.05.2", version_key=[8, 0, 32, 3, 5, 2]
    )
    System.objects.filter(pk=system.pk).update(hardware_class=a_class("db.r6g.large"), release=release)
    Node.objects.create(system=system, name="db2", role="reader", hardware_class=system.hardware_class)
    assert queries.warnings_for(["aurora-1"]) == []


def test_another_version_of_rds_is_a_difference_and_a_standby_has_its_price(monkeypatch: pytest.MonkeyPatch) -> None:
    an_instance("plain", multi_az=True)
    system = a_system("rds", aws_region=REGION, aws_kind="instance", aws_identifier="plain")
    with stubbed("pricing", monkeypatch) as stub:
        price_list(
            stub,
            a_product("EU-Multi-AZUsage:db.m5.xl", "0.684"),
            a_product("EU-InstanceUsage:db.m5.xl", "0.342"),
            instanceType="db.m5.xlarge",
            regionCode=REGION,
            databaseEngine="MySQL",
            deploymentOption="Multi-AZ",
        )
        observations.look(system_id=system.pk, now=NOW)
    (seen,) = queries.list_systems()
    assert seen.usd_per_hour == Decimal("0.684")
    assert any("keeps version 10.11.19; AWS reports" in words for words in queries.warnings_for(["rds"]))


def test_systems_are_looked_at_in_turn_and_only_those_at_aws() -> None:
    a_system("elsewhere")
    system = an_aurora_system()
    assert observations.due(now=NOW) == [system.pk]
    observations.look(system_id=system.pk, now=NOW)
    assert observations.due(now=NOW + timedelta(minutes=9)) == []
    assert observations.due(now=NOW + timedelta(minutes=11)) == [system.pk]
    before = NOW - timedelta(days=1)
    assert observations.due(now=before) == [system.pk], "the clock was set back"
    observations.look(system_id=system.pk, now=before)
    assert observations.due(now=before) == []


def test_whoever_looks_second_does_not_ask_again(monkeypatch: pytest.MonkeyPatch) -> None:
    a_cluster("one")
    system = an_aurora_system()
    with stubbed("pricing", monkeypatch) as stub:
        price_list(stub)
        assert observations.look(system_id=system.pk, now=NOW)
        assert not observations.look(system_id=system.pk, now=NOW + timedelta(seconds=15))


def test_the_catalog_s_page_shows_where_it_is_what_it_consists_of_and_what_it_costs(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_cluster("one", "two")
    system = an_aurora_system()
    with stubbed("pricing", monkeypatch) as stub:
        price_list(stub, a_product(STANDARD, "0.286"))
        observations.look(system_id=system.pk, now=NOW)
    page = squeezed(client.get("/catalog/").content.decode())
    for words in (
        "eu-west-1",
        "Aurora cluster blast",
        "8.0.mysql_aurora.3.05.2",
        "reader, eu-west-1b, db.r6g.large",
        "0.572",
        "AWS price list, on demand: Aurora MySQL",
        "2026-01-31 12:00",
        "the catalog keeps instances 1; AWS reports 2",
    ):
        assert words in page


def test_without_a_system_at_aws_the_catalog_s_page_says_nothing_of_it(client: Client) -> None:
    a_system("elsewhere")
    assert "Systems at AWS" not in client.get("/catalog/").content.decode()
