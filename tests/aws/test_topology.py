"""Topology and failover, by moto's RDS."""

from pathlib import Path

import pytest
from pytest_django import Settings

from apps.aws import failover, topology
from apps.aws.clients import AwsTrouble
from apps.aws.places import AwsPlace
from tests.support.cloud import CLUSTER, REGION, a_cluster, an_instance

PLACE = AwsPlace(region=REGION, identifier=CLUSTER, is_cluster=True)
pytestmark = pytest.mark.usefixtures("aws")


def test_a_cluster_is_its_writer_and_its_readers_with_zone_class_and_engine() -> None:
    a_cluster("one", "two", "three")
    found = topology.describe(PLACE)
    assert (found.engine, found.engine_version) == ("aurora-mysql", "8.0.mysql_aurora.3.05.2")
    assert [(each.name, each.role, each.zone) for each in found.instances] == [
        ("one", "writer", "eu-west-1a"),
        ("three", "reader", "eu-west-1c"),
        ("two", "reader", "eu-west-1b"),
    ]
    assert {each.hardware_class for each in found.instances} == {"db.r6g.large"}
    assert found.endpoint.startswith("blast.cluster-")


def test_an_rds_instance_is_a_writer_alone() -> None:
    an_instance("plain")
    found = topology.describe(AwsPlace(region=REGION, identifier="plain", is_cluster=False))
    assert [(each.name, each.role, each.hardware_class) for each in found.instances] == [
        ("plain", "writer", "db.m5.xlarge")
    ]
    assert not found.is_aurora
    assert not found.multi_az


def test_a_cluster_that_is_not_there_is_said_with_the_remedy() -> None:
    with pytest.raises(AwsTrouble, match=r"blast.*look at region and identifier under \[systems.aws\]") as trouble:
        topology.describe(PLACE)
    assert not trouble.value.passes


def test_missing_credentials_are_said_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(AwsTrouble, match=r"has no credentials for AWS.*AWS_ACCESS_KEY_ID.*or a role"):
        topology.describe(PLACE)


def test_a_profile_is_used_where_the_environment_s_credentials_are_another_store_s(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_cluster("one")
    file = tmp_path / "credentials"
    file.write_text("[aurora]\naws_access_key_id = mine\naws_secret_access_key = mine\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    settings.AWS_PROFILE = "aurora"
    assert topology.describe(PLACE).writer
    settings.AWS_PROFILE = "forgotten"
    with pytest.raises(AwsTrouble, match=r"has no credentials for AWS \(.*forgotten.*SPLASHBOARD_AWS_PROFILE"):
        topology.describe(PLACE)


def test_an_aws_that_does_not_answer_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(AwsTrouble, match=r"cannot be reached.*network") as trouble:
        topology.describe(PLACE)
    assert trouble.value.passes


def test_a_failover_makes_the_chosen_reader_the_writer() -> None:
    a_cluster("one", "two", "three")
    accepted = failover.ask(PLACE, target="three")
    assert (accepted.writer, accepted.target) == ("one", "three")
    writer = topology.describe(PLACE).writer
    assert writer is not None
    assert writer.name == "three"


def test_without_a_target_aurora_chooses_one_of_the_readers() -> None:
    a_cluster("one", "two")
    failover.ask(PLACE)
    writer = topology.describe(PLACE).writer
    assert writer is not None
    assert writer.name == "two"


@pytest.mark.parametrize(
    ("instances", "target", "words"),
    [
        (("one",), "", "has no reader to fail over to"),
        (("one", "two"), "one", "'one' is not a reader of cluster"),
    ],
)
def test_a_failover_that_cannot_be_is_refused_before_aws_is_asked(
    instances: tuple[str, ...], target: str, words: str
) -> None:
    a_cluster(*instances)
    with pytest.raises(AwsTrouble, match=words):
        failover.ask(PLACE, target=target)


def test_an_instance_without_a_standby_cannot_fail_over_and_one_with_it_can() -> None:
    an_instance("plain")
    an_instance("double", multi_az=True)
    with pytest.raises(AwsTrouble, match="has no standby: make it Multi-AZ"):
        failover.ask(AwsPlace(region=REGION, identifier="plain", is_cluster=False))
    place = AwsPlace(region=REGION, identifier="double", is_cluster=False)
    assert failover.ask(place).writer == "double"
    with pytest.raises(AwsTrouble, match="name no target"):
        failover.ask(place, target="plain")
