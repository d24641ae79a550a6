"""One agent drives the load, another samples a node on the same run's clock: real processes against the real server."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from django.utils import timezone

from apps.catalog.models import System
from apps.dispatch.models import Job
from apps.runs import ingest, queries
from apps.runs.models import Event, Run, RunNode, Stream
from lab.mariadb import MariaDB
from tests.builders import a_campaign, a_workload
from tests.e2e.stack import Stack, everything
from tests.waiting import eventually

pytestmark = [pytest.mark.mariadb, pytest.mark.django_db(transaction=True)]

DRIVER, SAMPLER = "load-host", "db-host"
DRIVEN = """
[[hardware]]
slug = "test-machine"
vcpu = 2
memory_mb = 4096

[[systems]]
slug = "split"
name = "Split"
platform = "mariadb"
hardware_class = "test-machine"
host = "127.0.0.1"
port = {port}
user = "splashboard"
password_file = "{password_file}"

[[systems.nodes]]
name = "db1"
host = "127.0.0.1"
port = {port}
sampled = false
"""
SAMPLED = """
[[systems]]
slug = "split"
role = "sampler"
user = "splashboard"
password_file = "{password_file}"

[[systems.nodes]]
name = "db1"
host = "127.0.0.1"
port = {port}
"""


@pytest.fixture
def stack(tmp_path: Path, var_folder: Path, mariadb: MariaDB) -> Iterator[Stack]:
    fields = {"port": mariadb.port, "password_file": mariadb.password_file}
    mariadb.sql("DROP DATABASE IF EXISTS splashboard_bench")
    systems = {DRIVER: DRIVEN.format(**fields), SAMPLER: SAMPLED.format(**fields)}
    with everything(tmp_path, var_folder, **systems) as running:
        yield running


def planned_runs(*, threads: tuple[int, ...], duration: float) -> None:
    """Queued as soon as the driving agent has said which system it reaches."""
    eventually(System.objects.filter(slug="split").exists, what="the driving agent has said hello", timeout=40)
    a_campaign(
        System.objects.get(slug="split"),
        threads=threads,
        workloads=[a_workload(tables=1)],
        warmup=1.0,
        duration=duration,
    )


def run_with(threads: int, state: str) -> Run:
    """Of so many threads, once it is in that state."""
    wanted = Run.objects.filter(load_level__threads=threads, state=state)
    eventually(wanted.exists, what=f"the run with {threads} threads is {state}", timeout=90)
    return wanted.get()


def test_a_node_is_sampled_by_its_own_agent_on_the_clock_of_a_run_that_another_drives(stack: Stack) -> None:
    planned_runs(threads=(1, 2), duration=3)
    run = run_with(1, "sealed")
    assert (run.outcome, run.reason) == ("succeeded", "")
    assert Stream.objects.get(run=run).agent == SAMPLER
    nodes = {node.name: node for node in run.nodes.all()}
    assert {"db1", "agent", "agent-1"} <= nodes.keys()
    assert nodes["db1"].samples >= 4
    keys = {info.metric for info in queries.series_index(run.pk) if info.node == "db1"}
    assert {"mysql.status.Com_insert", "host.cpu.user", "process.cpu.user", "derived.cpu.server_per_statement"} <= keys
    # Two hosts are one here: their clocks agree but for the ways to the server.
    assert abs(run.host["clock_ahead_seconds"]) < 0.1
    told = Event.objects.get(run=run, kind="sampler")
    assert told.detail["agent"] == SAMPLER
    assert 0 < told.detail["uncertainty_seconds"] < 0.1
    assert abs(told.detail["moved_seconds"]) < 0.1
    (inserts,) = queries.load_series(run_ids=[run.pk], metrics=["mysql.status.Com_insert"], nodes=["db1"])
    load = Event.objects.get(run=run, kind="load")
    assert load.ends_at is not None
    busy = inserts.at[inserts.values > 1]
    assert load.starts_at < busy.min() < busy.max() < load.ends_at + 1.1
    quiet = inserts.values[(inserts.at < load.starts_at) | (inserts.at > load.ends_at + 1.1)]
    assert not np.any(quiet > 1)

    # The sampler dies in the middle of the next run.
    eventually(Stream.objects.filter(run__load_level__threads=2, batches__isnull=False).exists, what="it is sampled")
    stack.kill(SAMPLER)
    second = run_with(2, "ended")
    Stream.objects.filter(run=second).update(wait_until=timezone.now())
    assert ingest.seal(run_id=second.pk)
    second.refresh_from_db()
    assert (second.state, second.outcome) == ("sealed", "succeeded")
    # A busy machine may have been late at reading something as well.
    lost = f"sampler {SAMPLER} of db1: it never ended its stream"
    assert Event.objects.get(run=second, kind="sampler_error", node="db1", label__startswith=lost)
    assert RunNode.objects.get(run=second, name="db1").samples > 0
    assert Job.objects.filter(system__slug="split").count() == 1
