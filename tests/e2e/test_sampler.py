"""One agent drives the load, another samples a node on the same run's clock: real processes against the real server."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from django.utils import timezone

from apps.dispatch.models import Job
from apps.runs import queries
from apps.runs.models import Event, Run, RunNode, Stream
from lab.mariadb import MariaDB
from tests.e2e.stack import Stack, held_load, progress
from tests.support.builders import a_campaign, a_workload
from tests.support.waiting import eventually
from workers.agent.measure.sample_loop import TIMEOUT

pytestmark = pytest.mark.mariadb

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
def stack(seeded: Stack, mariadb: MariaDB) -> Iterator[Stack]:
    fields = {"port": mariadb.port, "password_file": mariadb.password_file}
    mariadb.sql("DROP DATABASE IF EXISTS splashboard_bench")
    with seeded.agents(**{DRIVER: DRIVEN.format(**fields), SAMPLER: SAMPLED.format(**fields)}) as running:
        yield running


def run_with(threads: int, *states: str) -> Run:
    """Of so many threads, once it is in one of these states."""
    wanted = Run.objects.filter(load_level__threads=threads, state__in=states)
    return eventually(wanted.first, what=f"the run with {threads} threads is {states}", seen=progress)


def test_a_node_is_sampled_by_its_own_agent_on_the_clock_of_a_run_that_another_drives(
    stack: Stack, mariadb: MariaDB
) -> None:
    (system,) = stack.wait_for_systems("split")
    a_campaign(system, threads=(1, 2), workloads=[a_workload(tables=1)], warmup=1.0, duration=3)

    # The sampler dies in the middle of the second run.
    second = run_with(2, "open")
    with held_load(mariadb):
        first = run_with(1, "sealed")
        eventually(
            lambda: any(info.node == "db1" for info in queries.series_index(second.pk)),
            what="samples of the second run have come",
            seen=progress,
        )
        stack.kill(SAMPLER)
    _check_sampled(first)
    second = run_with(2, "ended")
    Stream.objects.filter(run=second).update(wait_until=timezone.now())
    second = run_with(2, "sealed")  # by the sweep
    assert second.outcome == "succeeded"
    # A busy machine may have been late at reading something as well.
    lost = f"sampler {SAMPLER} of db1: its stream did not end"
    assert Event.objects.get(run=second, kind="sampler_error", node="db1", label__startswith=lost)
    assert RunNode.objects.get(run=second, name="db1").samples > 0
    assert Job.objects.filter(system__slug="split").count() == 1


def _check_sampled(run: Run) -> None:
    assert (run.outcome, run.reason) == ("succeeded", "")
    assert Stream.objects.get(run=run).agent == SAMPLER
    nodes = {node.name: node for node in run.nodes.all()}
    assert {"db1", "agent", "agent-1"} <= nodes.keys()
    keys = {info.metric for info in queries.series_index(run.pk) if info.node == "db1"}
    assert {"mysql.status.Com_insert", "host.cpu.user", "process.cpu.user", "derived.cpu.server_per_statement"} <= keys
    event = Event.objects.get(run=run, kind="sampler")
    assert event.detail["agent"] == SAMPLER
    within = event.detail["uncertainty_seconds"]
    assert within > 0
    assert {"clock_ahead_seconds", "clock_uncertainty_seconds", "canary"} <= run.host.keys()
    assert run.host["canary"]["cpu_ms"] > 0
    assert "moved_seconds" in event.detail
    # What one agent read of the server, and when the other drove load, agree as well as their clocks are known to.
    (inserts,) = queries.load_series(run_ids=[run.pk], metrics=["mysql.status.Com_insert"], nodes=["db1"])
    load = Event.objects.get(run=run, kind="load")
    assert load.ends_at is not None
    seen = ~np.isnan(inserts.values)
    at, rates = inserts.at[seen], inserts.values[seen]
    busy = [(since, to) for (since, to), rate in zip(pairwise(at), rates[1:], strict=True) if rate > 1]
    assert busy
    for since, to in busy:
        assert since < load.ends_at + within
        assert to + TIMEOUT > load.starts_at - within
