"""A system at AWS: an agent drives its endpoint as any MySQL (here a MariaDB), the server asks AWS (moto) about it, and
the run ends with what both said."""

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from apps.aws import collection, measurements
from apps.aws.models import Collection, Observation
from apps.catalog.models import HardwareClass
from apps.runs import queries
from apps.runs.models import Event, Run
from lab.mariadb import MariaDB
from tests.e2e.stack import Stack, held_load, progress
from tests.paths import ROOT
from tests.support.builders import a_campaign, a_workload
from tests.support.cloud import CLUSTER, REGION, a_cluster, lead_to, measured
from tests.support.waiting import eventually
from workers.protocol import wire

pytestmark = pytest.mark.mariadb

AURORA = """
[[systems]]
slug = "aurora-1"
platform = "aurora"
hardware_class = "db.r6g.large"
host = "127.0.0.1"
port = {port}
user = "splashboard"
password_file = "{password_file}"

[systems.aws]
region = "{region}"
cluster = "{cluster}"
"""


@pytest.fixture
def stack(seeded: Stack, mariadb: MariaDB, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    lead_to(os.environ["AWS_ENDPOINT_URL"], monkeypatch)
    a_cluster("one", "two")
    mariadb.sql("DROP DATABASE IF EXISTS splashboard_bench")
    fields = {"port": mariadb.port, "password_file": mariadb.password_file}
    with seeded.agents(local=AURORA.format(**fields, region=REGION, cluster=CLUSTER)) as running:
        yield running


def test_a_run_at_aws_ends_with_what_agent_and_aws_said_of_it(stack: Stack, mariadb: MariaDB) -> None:
    (system,) = stack.wait_for_systems("aurora-1")
    a_campaign(system, threads=(1,), workloads=[a_workload(tables=1)], warmup=0.0, duration=4)
    run = eventually(Run.objects.filter(state="open").first, what="the run is open", seen=progress)
    command = [sys.executable, "-m", "workers.agent", "failover", "--config", str(stack.config_of("local"))]
    with held_load(mariadb):
        asked = subprocess.run([*command, "aurora-1", "--target", "two"], cwd=ROOT, capture_output=True, check=False)
    assert asked.returncode == 0, asked.stderr
    assert wire.from_json(wire.FailoverAnswer, asked.stdout).writer == "one"
    eventually(Collection.objects.filter(run=run, run__state="ended").exists, what="the run has ended", seen=progress)
    run.refresh_from_db()

    # Whoever would wait for CloudWatch's minutes sees that they are over.
    began = datetime.fromtimestamp(run.started_at.timestamp() // 60 * 60, UTC)
    measured("two", "CPUUtilization", {began + timedelta(minutes=minute): 42.0 for minute in range(3)})
    assert run.ended_at is not None
    assert collection.collect(run_id=run.pk, now=measurements.give_up_at(run.ended_at))
    eventually(Run.objects.filter(state="sealed").exists, what="the sweep has sealed the run", seen=progress)
    run.refresh_from_db()
    assert (run.outcome, run.reason) == ("succeeded", "")
    metrics = {(info.node, info.metric) for info in queries.series_index(run.pk)}
    assert {("db1", "mysql.status.Questions"), ("cloudwatch:two", "aws.rds.CPUUtilization")} <= metrics
    assert run.nodes.get(name="cloudwatch:two").role == "writer", "since the failover"
    (accepted,) = Event.objects.filter(run=run, kind="aws_event")
    assert accepted.label == "AWS accepted a failover of cluster blast in eu-west-1, from one to two"
    seconds = (run.ended_at - run.started_at).total_seconds()
    assert 0 < accepted.starts_at < seconds

    # Meanwhile the beat has looked at the system, and at its hardware class.
    eventually(Observation.objects.exclude(seen_at=None).exists, what="the system was looked at")
    assert HardwareClass.objects.get(slug="db.r6g.large").vcpu == 2
