"""Releases, workloads, load levels and systems: created once, checked by field."""

from typing import Any

import pytest

from apps.catalog import services
from apps.catalog.models import HardwareClass, LoadLevel, Platform, System, Workload
from apps.catalog.services import InvalidField
from apps.core.canonical import canonical_hash
from workers.protocol.wire import AwsMessage, HardwareMessage, NodeMessage, SystemMessage

pytestmark = pytest.mark.django_db
PARAMETERS: dict[str, Any] = {"test": "oltp_insert", "tables": 2, "table_size": 1000}
SMALL = HardwareMessage(slug="box", name="Box", vcpu=2, memory_bytes=2**33)


def a_message(**fields: Any) -> SystemMessage:
    defaults: dict[str, Any] = {
        "slug": "one",
        "name": "One",
        "platform": "mariadb",
        "version": "10.11.19-MariaDB",
        "hardware_class": "box",
        "endpoint": "127.0.0.1:3306",
        "settings": {"innodb_flush_log_at_trx_commit": "1"},
        "nodes": [NodeMessage(name="db1", zone="a")],
    }
    return SystemMessage(**{**defaults, **fields})


def test_a_version_key_is_the_numbers_in_order() -> None:
    assert services.version_key("10.11.19-MariaDB-log") == [10, 11, 19]
    assert services.version_key("8.0.36-28.1") < services.version_key("8.0.100")
    assert services.version_key("no numbers") == []
    assert services.version_key("9" * 40) == [2**63 - 1]


def test_a_release_is_created_once() -> None:
    platform = Platform.objects.create(slug="mariadb", name="MariaDB")
    first = services.release_for(platform=platform, version="10.11.19")
    assert services.release_for(platform=platform, version=" 10.11.19 ") == first
    with pytest.raises(InvalidField, match="version"):
        services.release_for(platform=platform, version=" ")


def test_equal_parameters_are_one_workload() -> None:
    first = services.workload_for(tool="sysbench", parameters=PARAMETERS)
    other_order = dict(reversed(PARAMETERS.items()))
    assert services.workload_for(tool="sysbench", parameters=other_order, name="another") == first
    assert first.content_hash == canonical_hash({"tool": "sysbench", "parameters": PARAMETERS})
    assert first.name == "oltp_insert 2 × 1,000 rows"
    assert first.primary_metric.key == "client.throughput"


def test_one_option_in_two_spellings_is_one_workload() -> None:
    dashed = services.workload_for(tool="sysbench", parameters={**PARAMETERS, "auto-inc": False})
    assert services.workload_for(tool="sysbench", parameters={**PARAMETERS, "auto_inc": "off"}) == dashed
    assert dashed.parameters["auto_inc"] == "off"


@pytest.mark.parametrize(
    ("tool", "change", "field"),
    [
        ("wrk", {}, "tool"),
        ("sysbench", {"test": "oltp_everything"}, "parameters.test"),
        ("sysbench", {"test": None}, "parameters.test"),
        ("sysbench", {"tables": 0}, "parameters.tables"),
        ("sysbench", {"tables": "2"}, "parameters.tables"),
        ("sysbench", {"tables": True}, "parameters.tables"),
        ("sysbench", {"table_size": 1.5}, "parameters.table_size"),
        ("sysbench", {"threads": 4}, "parameters.threads"),
        ("sysbench", {"mysql-password": "x"}, "parameters.mysql-password"),
        ("sysbench", {"config-file": "/etc/passwd"}, "parameters.config-file"),
        ("sysbench", {"rand_type": "a b; c"}, "parameters.rand_type"),
        ("sysbench", {"rand_seed": float("inf")}, "parameters.rand_seed"),
        ("sysbench", {"--rand": "x"}, "parameters.--rand"),
        ("sysbench", {"auto-inc": "on", "auto_inc": "off"}, "parameters.auto_inc"),
    ],
)
def test_a_bad_workload_names_its_field(tool: str, change: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidField) as refused:
        services.workload_for(tool=tool, parameters={**PARAMETERS, **change})
    assert refused.value.field == field
    assert not Workload.objects.exists()


def test_a_load_level_is_created_once_per_threads_and_rate() -> None:
    assert services.load_level_for(threads=4) == services.load_level_for(threads=4)
    assert services.load_level_for(threads=4, rate=100) == services.load_level_for(threads=4, rate=100.0)
    assert LoadLevel.objects.count() == 2


@pytest.mark.parametrize(
    ("level", "field"),
    [
        ({"threads": 0}, "threads"),
        ({"threads": 2.0}, "threads"),
        ({"threads": True}, "threads"),
        ({"threads": 10**9}, "threads"),
        ({"threads": 1, "rate": 0}, "rate"),
        ({"threads": 1, "rate": float("nan")}, "rate"),
        ({"threads": 1, "rate": float("inf")}, "rate"),
    ],
)
def test_a_bad_load_level_names_its_field(level: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidField) as refused:
        services.load_level_for(**level)
    assert refused.value.field == field


def test_a_system_is_registered_with_all_it_needs() -> None:
    services.seed()
    system, differences, notes = services.register_system(message=a_message(), hardware=[SMALL])
    assert (differences, notes) == ([], [])
    assert (system.release.platform.slug, system.release.version_key) == ("mariadb", [10, 11, 19])
    assert system.hardware_class.memory_bytes == 2**33
    assert system.labels == ["system:one"]
    (node,) = system.nodes.all()
    assert (node.name, node.role, node.zone, node.hardware_class.slug) == ("db1", "writer", "a", "box")


def test_registering_again_changes_nothing() -> None:
    services.seed()
    first = services.register_system(message=a_message(), hardware=[SMALL]).system
    second, differences, notes = services.register_system(message=a_message(), hardware=[SMALL])
    assert (second.pk, differences, notes, second.nodes.count()) == (first.pk, [], [], 1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": "11.4.2"}, "release"),
        ({"endpoint": "127.0.0.1:3307"}, "endpoint"),
        ({"settings": {}}, "settings"),
        ({"name": "Other"}, "name"),
        ({"nodes": [NodeMessage(name="db1", zone="b")]}, "nodes"),
        ({"hardware_class": "m4.xlarge"}, "hardware class"),
    ],
)
def test_a_system_that_differs_is_kept_and_reported(change: dict[str, Any], words: str) -> None:
    services.seed()
    first = services.register_system(message=a_message(), hardware=[SMALL]).system
    before = System.objects.values().get()
    _, differences, notes = services.register_system(message=a_message(**change), hardware=[SMALL])
    assert any(f"keeps {words} " in difference for difference in differences)
    assert notes == []
    assert System.objects.values().get(pk=first.pk) == before


def test_hardware_that_differs_is_kept_and_reported() -> None:
    services.seed()
    services.register_system(message=a_message(), hardware=[SMALL])
    bigger = HardwareMessage(slug="box", name="Box", vcpu=4, memory_bytes=2**33)
    _, differences, _ = services.register_system(message=a_message(), hardware=[bigger])
    assert differences == ["hardware class box: the catalog keeps vcpu 2; this message has 4"]
    assert HardwareClass.objects.get(slug="box").vcpu == 2


def test_a_platform_that_is_new_is_added_and_reported() -> None:
    system, differences, notes = services.register_system(message=a_message(platform="tidb"), hardware=[SMALL])
    assert system.release.platform.slug == "tidb"
    assert differences == []
    assert notes == [
        "platform 'tidb' was not in the catalog and was added without a description; "
        "if it is misspelt, manage.py delete_systems takes it back"
    ]


@pytest.mark.parametrize("said", ["MHA", "mha", "MariaDB"])
def test_a_platform_is_known_by_slug_or_name_in_any_case(said: str) -> None:
    services.seed()
    count = Platform.objects.count()
    notes = services.register_system(message=a_message(platform=said), hardware=[SMALL]).notes
    assert (notes, Platform.objects.count()) == ([], count)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"hardware_class": "unheard-of"}, "hardware_class"),
        ({"slug": "a b"}, "slug"),
        ({"platform": ""}, "platform"),
        ({"version": ""}, "version"),
        ({"endpoint": "root:secret@db:3306"}, "endpoint"),
        ({"nodes": [NodeMessage(name="db1", role="king")]}, "nodes[db1].role"),
    ],
)
def test_a_bad_system_names_its_field_and_leaves_nothing(change: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidField) as refused:
        services.register_system(message=a_message(**change), hardware=[SMALL])
    assert refused.value.field == field
    assert not System.objects.exists()
    assert not HardwareClass.objects.exists()


AURORA = {
    "platform": "aurora",
    "hardware_class": "db.r6g.large",
    "aws": AwsMessage(region="eu-west-1", cluster="Blast"),
}


def test_a_system_at_aws_keeps_its_region_and_identifier_and_needs_no_described_hardware() -> None:
    system = services.register_system(message=a_message(**AURORA), hardware=[]).system
    assert (system.aws_region, system.aws_kind, system.aws_identifier) == ("eu-west-1", "cluster", "blast")
    assert system.hardware_class.instance_type == "db.r6g.large"
    assert system.hardware_class.vcpu is None, "what a class is, only AWS can tell"
    assert services.register_system(message=a_message(**AURORA), hardware=[]).differences == []


def test_a_known_system_learns_where_it_lies_at_aws_and_another_place_is_a_difference() -> None:
    services.register_system(message=a_message(), hardware=[SMALL])
    place = AwsMessage(region="eu-west-1", instance="one")
    learnt = services.register_system(message=a_message(aws=place), hardware=[SMALL])
    assert learnt.differences == []
    assert any("eu-west-1" in note for note in learnt.notes)
    assert System.objects.get().aws_identifier == "one"
    moved = a_message(aws=AwsMessage(region="us-east-1", instance="one"))
    assert any("AWS place" in said for said in services.register_system(message=moved, hardware=[SMALL]).differences)
    silent = services.register_system(message=a_message(), hardware=[SMALL])
    assert silent.differences == [], "another agent need not know of AWS"


@pytest.mark.parametrize(
    ("place", "field"),
    [
        (AwsMessage(region="Ireland", cluster="blast"), "aws.region"),
        (AwsMessage(region="eu-west-1"), "aws.cluster"),
        (AwsMessage(region="eu-west-1", cluster="blast", instance="one"), "aws.cluster"),
        (AwsMessage(region="eu-west-1", cluster="blast'; --"), "aws.cluster"),
    ],
)
def test_a_place_at_aws_that_cannot_be_is_refused(place: AwsMessage, field: str) -> None:
    with pytest.raises(InvalidField) as refused:
        services.register_system(message=a_message(aws=place), hardware=[SMALL])
    assert refused.value.field == field
