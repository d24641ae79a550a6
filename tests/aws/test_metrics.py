"""CloudWatch's metrics: by moto, and by the Stubber what moto does not do (pages, throttling, trouble of AWS's own)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.stub import ANY

from apps.aws import metrics, topology
from apps.aws.clients import AwsTrouble
from apps.aws.metrics import Observed
from apps.aws.places import AwsPlace
from apps.aws.topology import Instance, Topology
from apps.catalog.metrics.cloudwatch import PUBLISHED
from tests.support.cloud import CLUSTER, REGION, a_cluster, an_instance, measured, stubbed

PLACE = AwsPlace(region=REGION, identifier=CLUSTER, is_cluster=True)
MINUTE = timedelta(minutes=1)
# CloudWatch's minute begins 20 s before the run does.
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
BEGAN, ENDED = NOON + timedelta(seconds=20), NOON + timedelta(seconds=200)
pytestmark = pytest.mark.usefixtures("aws")


def observed() -> dict[str, Observed]:
    found = metrics.observe(PLACE, topology.describe(PLACE), since=BEGAN, until=ENDED)
    return {node.name: node for node in found}


def test_each_instance_and_the_cluster_are_nodes_of_their_own() -> None:
    a_cluster("one", "two")
    found = observed()
    assert {name: node.role for name, node in found.items()} == {
        "cloudwatch:cluster": "cluster",
        "cloudwatch:one": "writer",
        "cloudwatch:two": "reader",
    }
    assert "aws.rds.VolumeWriteIOPs" in found["cloudwatch:cluster"].values
    assert "aws.rds.CommitLatency" in found["cloudwatch:one"].values


def test_a_value_is_placed_at_the_end_of_its_period_and_only_periods_of_the_run_are_taken() -> None:
    a_cluster("one")
    measured("one", "CPUUtilization", {NOON + number * MINUTE: 10.0 * number for number in range(-2, 8)})
    points = observed()["cloudwatch:one"].values["aws.rds.CPUUtilization"]
    assert {at - NOON.timestamp(): value for at, value in points.items()} == {60: 0, 120: 10, 180: 20, 240: 30}


def test_values_of_five_minutes_are_asked_as_such() -> None:
    a_cluster("one")
    measured(CLUSTER, "VolumeReadIOPs", {NOON: 13_686.0}, dimension="DBClusterIdentifier")
    points = observed()["cloudwatch:cluster"].values["aws.rds.VolumeReadIOPs"]
    assert points == {(NOON + 5 * MINUTE).timestamp(): 13_686.0}


def test_what_cloudwatch_does_not_give_is_unknown_and_not_zero() -> None:
    a_cluster("one")
    measured("one", "CPUUtilization", {NOON + MINUTE: 50.0})
    node = observed()["cloudwatch:one"]
    assert node.values["aws.rds.Deadlocks"] == {}
    assert "aws.rds.Deadlocks" in node.missing()
    assert list(node.values["aws.rds.CPUUtilization"].values()) == [50.0], "no zero before or after it"
    assert node.awaited(until=ENDED.timestamp()) == ["aws.rds.CPUUtilization"]


def test_an_rds_instance_is_not_asked_for_aurora_s_metrics() -> None:
    an_instance("plain")
    place = AwsPlace(region=REGION, identifier="plain", is_cluster=False)
    (node,) = metrics.observe(place, topology.describe(place), since=BEGAN, until=ENDED)
    assert node.name == "cloudwatch:plain"
    assert "aws.rds.CommitLatency" not in node.values
    assert {"aws.rds.ReplicaLag", "aws.rds.ReadIOPS"} <= node.values.keys()


# ---------------------------------------------------------------- by the Stubber

ALONE = Topology(
    engine="mysql",
    engine_version="8.0.35",
    status="available",
    endpoint="",
    storage="gp3",
    multi_az=False,
    instances=(Instance("plain", "writer", "eu-west-1a", "db.m5.xlarge", "available"),),
)
PLAIN = AwsPlace(region=REGION, identifier="plain", is_cluster=False)
OF_RDS = [each for each in PUBLISHED.values() if each.of in ("instance", "rds") and "Credit" not in each.name]
ASKED = {"MetricDataQueries": ANY, "StartTime": ANY, "EndTime": ANY, "ScanBy": ANY}


def a_page(key: str, points: dict[datetime, float], status: str = "Complete", **more: Any) -> dict[str, Any]:
    number = [each.key for each in OF_RDS].index(key)
    result = {"Id": f"m{number}", "Timestamps": [*points], "Values": [*points.values()], "StatusCode": status}
    return {"MetricDataResults": [result], **more}


def ask() -> Observed:
    (node,) = metrics.observe(PLAIN, ALONE, since=BEGAN, until=ENDED)
    return node


def test_all_pages_of_an_answer_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    key = "aws.rds.CPUUtilization"
    with stubbed("cloudwatch", monkeypatch) as stub:
        stub.add_response("get_metric_data", a_page(key, {NOON: 1.0}, "PartialData", NextToken="more"), ASKED)
        stub.add_response("get_metric_data", a_page(key, {NOON + MINUTE: 2.0}), {**ASKED, "NextToken": "more"})
        assert list(ask().values[key].values()) == [1.0, 2.0]


@pytest.mark.parametrize(
    ("status", "passes"),
    [("InternalError", True), ("Forbidden", False)],
)
def test_a_metric_that_cloudwatch_could_not_read_is_trouble_and_no_gap(
    status: str, passes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with stubbed("cloudwatch", monkeypatch) as stub:
        stub.add_response("get_metric_data", a_page("aws.rds.ReadIOPS", {}, status), ASKED)
        with pytest.raises(AwsTrouble, match=f"did not give ReadIOPS of plain \\({status}") as trouble:
            ask()
    assert trouble.value.passes is passes


@pytest.mark.parametrize(
    ("code", "status", "passes", "words"),
    [
        ("Throttling", 400, True, r"throttled \(Throttling\); retried later"),
        ("InternalFailure", 500, True, "AWS-side error"),
        ("AccessDenied", 403, False, "allow it for the server's user or role in IAM"),
        ("ExpiredToken", 403, False, "renew the credentials"),
        ("InvalidClientTokenId", 403, False, "does not know the server's credentials"),
        ("InvalidParameterValue", 400, False, "refused GetMetricData: what AWS says$"),
    ],
)
def test_every_refusal_is_a_sentence_that_says_whether_to_ask_again(
    code: str, status: int, passes: bool, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with stubbed("cloudwatch", monkeypatch) as stub:
        stub.add_client_error("get_metric_data", code, "what AWS says.", http_status_code=status)
        with pytest.raises(AwsTrouble, match=words) as trouble:
            ask()
    assert trouble.value.passes is passes
