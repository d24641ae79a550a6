"""What CloudWatch and RDS tell of a run becomes its samples and events, on its clock, before it is sealed."""

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from apps.aws import collection, events, measurements
from apps.aws.measurements import AwsReport
from apps.aws.models import Collection
from apps.aws.places import AwsPlace
from apps.aws.topology import Topology
from apps.catalog.models import Metric
from apps.runs import queries
from apps.runs.ingest import accept, seal_queue
from apps.runs.models import Event, Run, RunNode
from apps.runs.samples import batches
from tests.aws.test_failover_asked_by_agents import a_system_at_aws
from tests.rest.talk import Talk, a_run_message, an_end, the_agent
from tests.support.builders import a_campaign
from tests.support.cloud import CLUSTER, REGION, a_cluster, measured, stubbed
from workers.protocol import wire

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("aws")]
MINUTE = timedelta(minutes=1)
PLACE = AwsPlace(region=REGION, identifier=CLUSTER, is_cluster=True)
EMPTY = Topology(
    engine="aurora-mysql",
    engine_version="",
    status="",
    endpoint="",
    storage="",
    multi_az=False,
    instances=(),
)
BUSY, COMMIT, READS = "aws.rds.CPUUtilization", "aws.rds.CommitLatency", "aws.rds.VolumeReadIOPs"


def an_ended_run(web: Client, *, began: datetime, lasted: timedelta = timedelta(seconds=200)) -> Run:
    """Measured by an agent on the cluster, all of it here but what AWS tells."""
    system = a_system_at_aws()
    the_agent(system)
    a_campaign(system, threads=[4])
    talk = Talk(web)
    job = talk.claim()
    uid = job.runs[0].uid
    message = {**_fields(a_run_message(job)), "started_at": began.isoformat()}
    talk.say("PUT", f"runs/{uid}", wire.RunMessage(**message))
    output = b"no totals"
    talk.put_bytes(f"runs/{uid}/artifacts/sysbench.txt", output)
    end = {
        **_fields(an_end("failed", batches=0, reason="a test")),
        "ended_at": (began + lasted).isoformat(),
        "measured_from": 0.0,
        "measured_to": lasted.total_seconds(),
        "artifacts": [wire.ArtifactMessage(name="sysbench.txt", sha256=wire.checksum(output), size=len(output))],
    }
    answer = talk.say("POST", f"runs/{uid}/end", wire.RunEndMessage(**end))
    assert answer.status_code == 200, answer.content
    return Run.objects.get(uid=uid)


def _fields(message: Any) -> dict[str, Any]:
    return {name: getattr(message, name) for name in message.__struct_fields__}


def values(run: Run, key: str, node: str) -> dict[float, float]:
    """Observed values by time on the run's clock."""
    found = queries.load_series(run_ids=[run.pk], metrics=[key], nodes=[node], raw=True)
    pairs = [pair for each in found for pair in zip(each.at.tolist(), each.values.tolist(), strict=True)]
    return {at: value for at, value in pairs if not math.isnan(value)}


@pytest.fixture
def noon() -> datetime:
    """A full five minutes, so long ago that CloudWatch has all values."""
    now = datetime.now(UTC)
    return datetime.fromtimestamp(now.timestamp() // 300 * 300, UTC) - timedelta(hours=1)


def test_its_values_are_on_the_run_s_clock_at_the_end_of_their_periods(client: Client, noon: datetime) -> None:
    a_cluster("one", "two")
    began = noon + timedelta(seconds=20)
    measured("one", "CPUUtilization", {noon + number * MINUTE: 10.0 * number for number in range(8)})
    measured("two", "CommitLatency", {noon + number * MINUTE: 1.5 for number in range(8)})
    measured(CLUSTER, "VolumeReadIOPs", {noon: 900.0}, dimension="DBClusterIdentifier")
    run = an_ended_run(client, began=began)
    assert collection.collect(run_id=run.pk, now=noon + 20 * MINUTE)
    assert accept.seal(run_id=run.pk)
    assert values(run, BUSY, "cloudwatch:one") == {40.0: 0, 100.0: 10, 160.0: 20, 220.0: 30}
    assert values(run, READS, "cloudwatch:cluster") == {280.0: 900}
    roles = dict(RunNode.objects.filter(run=run, name__startswith="cloudwatch").values_list("name", "role"))
    assert roles == {"cloudwatch:cluster": "cluster", "cloudwatch:one": "writer", "cloudwatch:two": "reader"}
    assert Metric.objects.get(key=COMMIT).curated


def test_what_it_does_not_give_is_not_observable_and_never_zero(client: Client, noon: datetime) -> None:
    a_cluster("one")
    measured("one", "CPUUtilization", {noon + number * MINUTE: 50.0 for number in range(8)})
    run = an_ended_run(client, began=noon)
    assert collection.collect(run_id=run.pk, now=noon + 20 * MINUTE)
    assert accept.seal(run_id=run.pk)
    assert values(run, COMMIT, "cloudwatch:one") == {}
    event = Event.objects.get(run=run, kind="not_observable", node="cloudwatch:one")
    assert event.label.startswith("CloudWatch has no value of ")
    assert "CommitLatency" in event.detail["what"]
    assert "CPUUtilization" not in event.detail["what"]


def test_topology_and_journal_of_the_run_are_its_events(client: Client, noon: datetime) -> None:
    a_cluster("one", "two")
    run = an_ended_run(client, began=noon)
    collection.collect(run_id=run.pk, now=noon + 20 * MINUTE)
    accept.seal(run_id=run.pk)
    event = Event.objects.get(run=run, kind="topology")
    assert "one (writer, eu-west-1a, db.r6g.large), two (reader, eu-west-1b, db.r6g.large)" in event.label
    assert event.detail["engine_version"] == "8.0.mysql_aurora.3.05.2"


def test_a_run_waits_for_cloudwatch_and_says_for_what(client: Client, noon: datetime) -> None:
    a_cluster("one")
    run = an_ended_run(client, began=datetime.now(UTC) - timedelta(seconds=200))
    waiting = seal_queue.pending(run)
    assert waiting is not None
    assert waiting.samplers == ("AWS CloudWatch",)
    assert not accept.seal(run_id=run.pk)
    assert collection.due(now=datetime.now(UTC)) == [], "CloudWatch is minutes late"
    assert collection.due(now=datetime.now(UTC) + 5 * MINUTE) == [run.pk]


def test_an_end_by_a_clock_that_is_ahead_is_not_waited_for(client: Client) -> None:
    a_cluster("one")
    now = datetime.now(UTC)
    run = an_ended_run(client, began=now + timedelta(days=300))
    assert collection.due(now=now + 5 * MINUTE) == [run.pk]
    collection.collect(run_id=run.pk, now=now + 5 * MINUTE)
    waits_until = run.streams.get().wait_until
    assert waits_until is not None
    assert waits_until < now + 20 * MINUTE
    Run.objects.filter(pk=run.pk).update(state="sealed")
    assert collection.collect(run_id=run.pk, now=now + 20 * MINUTE)
    assert collection.due(now=now + 30 * MINUTE) == []


def test_a_time_that_a_clock_set_which_was_ahead_is_over(client: Client, noon: datetime) -> None:
    a_cluster("one")
    run = an_ended_run(client, began=noon)
    Collection.objects.update(due_at=noon + timedelta(days=1))
    assert collection.due(now=noon + 20 * MINUTE) == [run.pk]
    assert collection.collect(run_id=run.pk, now=noon + 20 * MINUTE)


def test_values_that_are_still_to_come_are_asked_for_again_until_it_is_too_late(client: Client, noon: datetime) -> None:
    a_cluster("one")
    measured("one", "CPUUtilization", {noon: 50.0, noon + MINUTE: 60.0})
    run = an_ended_run(client, began=noon)
    ended = run.started_at + timedelta(seconds=200)
    first = measurements.first_due(ended)
    assert not collection.collect(run_id=run.pk, now=first)
    assert not collection.collect(run_id=run.pk, now=first), "another worker asks at the same moment"
    assert not accept.seal(run_id=run.pk)
    assert "no data of the run" in Collection.objects.get().problem
    assert collection.due(now=first + 2 * MINUTE) == [run.pk]
    assert collection.collect(run_id=run.pk, now=measurements.give_up_at(ended))
    assert accept.seal(run_id=run.pk)
    assert values(run, BUSY, "cloudwatch:one") == {60.0: 50, 120.0: 60}
    late = Event.objects.filter(run=run, kind="not_observable", label__contains="last values in time").get()
    assert late.detail["what"] == "CPUUtilization"


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("AWS_ACCESS_KEY_ID", None, "has no credentials for AWS"),
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:9", "cannot be reached"),
    ],
)
def test_without_an_answer_of_aws_the_run_is_sealed_and_says_why(
    variable: str, value: str | None, words: str, client: Client, noon: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_cluster("one")
    run = an_ended_run(client, began=noon)
    if value is None:
        monkeypatch.delenv(variable)
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    else:
        monkeypatch.setenv(variable, value)
        early = noon + 8 * MINUTE
        assert not collection.collect(run_id=run.pk, now=early), "what passes is asked again"
        assert not accept.seal(run_id=run.pk)
    assert collection.collect(run_id=run.pk, now=noon + 20 * MINUTE)
    assert accept.seal(run_id=run.pk)
    assert words in Event.objects.get(run=run, kind="not_observable").label
    assert not RunNode.objects.filter(run=run, name__startswith="cloudwatch").exists()


def test_an_end_that_nobody_heard_of_is_found(client: Client, noon: datetime) -> None:
    a_cluster("one")
    run = an_ended_run(client, began=noon)
    Collection.objects.all().delete()
    assert collection.due(now=datetime.now(UTC)) == [run.pk]


def test_asked_twice_it_is_kept_once(client: Client, noon: datetime) -> None:
    a_cluster("one")
    run = an_ended_run(client, began=noon)
    assert collection.collect(run_id=run.pk, now=noon + 20 * MINUTE)
    assert not collection.collect(run_id=run.pk, now=noon + 30 * MINUTE)
    assert collection.due(now=noon + 30 * MINUTE) == []


def test_a_failover_that_rds_journals_is_a_promotion_on_the_run_s_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the Stubber: moto journals no failover."""
    began = datetime(2026, 1, 1, 12, 0, 20, tzinfo=UTC)
    entry = {
        "SourceIdentifier": CLUSTER,
        "SourceType": "db-cluster",
        "Message": "Completed failover to DB instance: two",
        "EventCategories": ["failover"],
        "Date": began + timedelta(seconds=42.5),
    }
    before = {**entry, "Message": "long ago", "Date": began - MINUTE}
    with stubbed("rds", monkeypatch) as stub:
        stub.add_response("describe_events", {"Events": [before, entry]})
        journal = events.during(PLACE, EMPTY, since=began, until=began + 5 * MINUTE)
    run = Run(started_at=began, ended_at=began + 5 * MINUTE)
    payload = measurements.batch_of(run, PLACE, AwsReport(journal=journal))
    (event,) = batches.decode([payload]).events
    assert (event.kind, event.label, event.starts_at) == (
        "promotion",
        "blast: Completed failover to DB instance: two",
        42.5,
    )
