"""Runs whose series come from real monitoring systems, beside the same run as the agent's own samplers saw it."""

import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import timedelta

import numpy as np
import pytest

from apps.runs.api import queries
from apps.runs.ingest.prometheus import payload
from apps.runs.models import Run
from apps.runs.seal import seal
from apps.use_method.api import panels
from apps.use_method.pure import Reading
from lab import packages
from lab.mariadb import ACCOUNT, MariaDB
from tests.client.conftest import Command
from tests.runs.uploads import Upload, an_open_run
from tests.support.monitoring import (
    EXPORTERS,
    PASSWORD,
    PROMETHEUS,
    USER,
    VICTORIA_METRICS,
    Monitoring,
    exported,
    scraped_by,
)
from tests.support.waiting import eventually
from tests.workers.agent.benches import Bench, Server, performed
from workers.agent.measure import database
from workers.agent.measure.clock import RunClock
from workers.agent.measure.nodes import sources
from workers.agent.measure.recorder import SampleRecorder
from workers.agent.measure.sample_loop import NodeSampler
from workers.agent.prometheus.source import Access
from workers.agent.runtime.config import SystemConfig
from workers.agent.runtime.monitors import MonitoringConfig
from workers.agent.samplers import prometheus
from workers.protocol import wire
from workers.protocol.wire import LoadLevelMessage

pytestmark = [pytest.mark.mariadb, pytest.mark.needs(*EXPORTERS), pytest.mark.django_db(transaction=True)]

NAMES = (PROMETHEUS, VICTORIA_METRICS)
SYSTEMS = [pytest.param(name, marks=pytest.mark.needs(name)) for name in NAMES]

DURATION = 13  # s under load
# Of the load: its first second has a part without, and so has its last.
MEASURED = (2.0, 12.0)
SAME_WITHIN = 0.02
# Of the server's process, which neither exporter looks at.
OUR_OWN = {
    "derived.cpu.server",
    "derived.cpu.server_share",
    "derived.cpu.server_per_statement",
    "derived.disk.written_per_transaction",
}
# Levels. Figures of single moments, as of the run queue, differ by when they were taken; rates of a load that others on
# the machine disturb differ at the ends of the phase, so that their totals are compared.
COMPARED = ("cpu.busy", "memory.used", "buffer_pool.used", "buffer_pool.dirty", "table_cache.used", "table_cache.files")
TOTALS = ("mysql.status.Com_commit", "mysql.status.Com_select", "mysql.status.Com_update")


class Kept(SampleRecorder):
    """Keeps what it is given."""

    def __init__(self) -> None:
        self._encoder = wire.BatchEncoder(run="x")
        self._encoding = threading.Lock()

    def write_batch(self, sequence: int, payload: bytes) -> None:
        raise AssertionError(sequence, len(payload))

    def batch(self) -> bytes:
        return self._encoder.flush()[1]


@dataclass(frozen=True)
class Measured:
    clock: RunClock
    zero: float
    output: bytes
    batch: bytes


def measured(bench: Bench) -> Measured:
    """One run of sysbench, sampled by what the agent samples a node with."""
    clock, kept = RunClock(), Kept()
    sampler = NodeSampler(node="db1", role="writer", sources=sources(bench.system, 0), clock=clock, recorder=kept)
    sampler.start()
    eventually(lambda: sampler.has_sampled_since(1.0), what="the node was sampled before the load")
    zero = clock.now()
    load = LoadLevelMessage(threads=4)
    invocation = bench.tool.run(bench.target, bench.parameters, load_level=load, warmup=0, duration=DURATION)
    output = performed(invocation).stdout
    ended = clock.now()
    eventually(lambda: sampler.has_sampled_since(ended), what="the node was sampled after the load")
    sampler.stop()
    return Measured(clock, zero, output, kept.batch())


def a_run(found: Measured, *, batches: list[bytes], variables: dict[str, str] | None = None) -> Run:
    started_at = found.clock.started_at
    node = wire.RunNodeMessage(name="db1", role="writer", variables=variables)
    upload = Upload(an_open_run(started_at=started_at.isoformat(), nodes=[node]), batches, found.output)
    upload.send(
        ended_at=(started_at + timedelta(seconds=found.zero + DURATION)).isoformat(),
        measured_from=found.zero + MEASURED[0],
        measured_to=found.zero + MEASURED[1],
    )
    assert seal(run_id=upload.run.pk)
    return upload.run


def readings(run: Run) -> dict[str, Reading]:
    panel = panels.judge(run_id=run.pk)
    assert panel is not None
    return {one.indicator: one for one in panel.readings if one.node == "db1"}


@dataclass(frozen=True)
class MonitoredLoad:
    """`variables` of the server."""

    found: Measured
    system: SystemConfig
    variables: dict[str, str]
    monitors: dict[str, Monitoring]

    @property
    def end(self) -> float:
        """s since 1970."""
        return self.found.clock.started_at.timestamp() + self.found.zero + DURATION


@pytest.fixture(scope="module")
def monitored_load(mariadb: MariaDB, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MonitoredLoad]:
    """One load that all monitoring systems on this machine have scraped at once."""
    folder = tmp_path_factory.mktemp("load")
    parameters = {"test": "oltp_read_write", "tables": 2, "table_size": 20_000}
    bench = Bench(Server(mariadb.port, mariadb.password), "sysbench", parameters, folder)
    bench.prepare()
    with ExitStack() as running:
        instances = running.enter_context(exported(mariadb.port, ACCOUNT, mariadb.password, folder))
        monitors = {
            name: running.enter_context(scraped_by(name, instances, folder))
            for name in NAMES
            if not packages.missing([name])
        }
        found = measured(bench)
        bench.clean_up()
        variables = database.variables(bench.system, bench.target.address)
        made = MonitoredLoad(found, bench.system, variables, monitors)
        for one in monitors.values():
            one.await_scrapes(after=made.end)
        if VICTORIA_METRICS in monitors:
            monitors[VICTORIA_METRICS].flush()
        yield made


@pytest.mark.parametrize("name", SYSTEMS)
def test_its_use_panel_equals_that_of_the_agents_own_samplers(
    engineer: Command, monitored_load: MonitoredLoad, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, monitor = monitored_load.found, monitored_load.monitors[name]
    own, theirs = a_run(found, batches=[found.batch], variables=monitored_load.variables), a_run(found, batches=[])
    monkeypatch.setenv("SPLASHBOARD_PROMETHEUS_PASSWORD", PASSWORD)
    said = engineer(*command(theirs, monitor), "--user", USER, "--ca", monitor.ca, "--json")
    assert said.code == 0, said.err
    assert "clock" not in said.err
    (node,) = json.loads(said.out)["nodes"]
    assert node["interval"] == pytest.approx(1.0, abs=0.02)
    expected, seen = readings(own), readings(theirs)
    ours, others = ({one.metric for one in queries.series_index(run.pk)} for run in (own, theirs))
    unread = {key for key in ours - others if key.startswith(("mysql.status.", "derived.")) and key not in OUR_OWN}
    assert not unread, "names of the exporters that are not ours"
    different = {
        key: (expected[key], seen[key])
        for key in COMPARED
        if expected[key].value is None or seen[key].value != pytest.approx(expected[key].value, rel=SAME_WITHIN)
    }
    assert not different
    gained = totals(own)
    assert totals(theirs) == pytest.approx(gained, rel=SAME_WITHIN)
    assert gained["mysql.status.Com_commit"] > 100


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("step", [None, 2.0])
def test_an_agent_reads_the_run_whole(monitored_load: MonitoredLoad, name: str, step: float | None) -> None:
    monitor = monitored_load.monitors[name]
    access = Access(monitor.url, user=USER, password=PASSWORD, ca=str(monitor.ca))
    nodes = tuple(replace(node, instances=monitor.instances) for node in monitored_load.system.nodes)
    system = replace(monitored_load.system, nodes=nodes, monitoring=MonitoringConfig(access, step=step))
    end = monitored_load.end
    read = prometheus.read(system, begin=end - DURATION, end=end, goes_on=lambda: True)
    assert read is not None
    assert read.hidden is None
    sent = payload.read(read.content)
    questions = next(one for one in sent.series if one.labels["__name__"] == "mysql_global_status_questions")
    at = sent.clocks[questions.clock]
    assert at[0] <= end - DURATION
    assert at[-1] >= end
    under_load = (at >= end - DURATION + MEASURED[0]) & (at <= end - DURATION + MEASURED[1])
    gained = np.diff(questions.values[under_load])
    assert len(gained) > 2
    assert (gained > 0).all(), "a value that is not of its time"


def command(run: Run, monitor: Monitoring) -> tuple[str, ...]:
    nodes = ",".join(monitor.instances)
    return "attach", str(run.pk), "--prometheus", monitor.url, "--node", f"db1={nodes}"


def totals(run: Run) -> dict[str, float]:
    """What counters gained in all of the run."""
    index = queries.series_index(run.pk)
    return {one.metric: one.whole.increase or 0.0 for one in index if one.metric in TOTALS}
