"""A run whose series come from a real Prometheus, beside the same run as the agent's own samplers saw it."""

import json
import threading
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from apps.runs.api import queries
from apps.runs.models import Run
from apps.runs.seal import seal
from apps.use_method.api import panels
from apps.use_method.pure import Reading
from lab.mariadb import ACCOUNT, MariaDB
from tests.client.conftest import Command
from tests.runs.uploads import Upload, an_open_run
from tests.support.monitoring import PASSWORD, PROGRAMS, USER, Monitoring, monitored
from tests.workers.agent.benches import Bench, Server, performed
from workers.agent.measure import database
from workers.agent.measure.clock import RunClock
from workers.agent.measure.nodes import sources
from workers.agent.measure.recorder import SampleRecorder
from workers.agent.measure.sample_loop import NodeSampler
from workers.protocol import wire
from workers.protocol.wire import LoadLevelMessage

pytestmark = [pytest.mark.mariadb, pytest.mark.needs(*PROGRAMS), pytest.mark.django_db(transaction=True)]

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
    time.sleep(1.2)
    zero = clock.now()
    load = LoadLevelMessage(threads=4)
    invocation = bench.tool.run(bench.target, bench.parameters, load_level=load, warmup=0, duration=DURATION)
    output = performed(invocation).stdout
    time.sleep(1.2)
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


def test_its_use_panel_equals_that_of_the_agents_own_samplers(
    engineer: Command, mariadb: MariaDB, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parameters = {"test": "oltp_read_write", "tables": 2, "table_size": 20_000}
    bench = Bench(Server(mariadb.port, mariadb.password), "sysbench", parameters, tmp_path)
    bench.prepare()
    with monitored(mariadb.port, ACCOUNT, mariadb.password, tmp_path) as prometheus:
        found = measured(bench)
        bench.clean_up()
        variables = database.variables(bench.system, bench.target.address)
        own, theirs = a_run(found, batches=[found.batch], variables=variables), a_run(found, batches=[])
        monkeypatch.setenv("SPLASHBOARD_PROMETHEUS_PASSWORD", PASSWORD)
        said = engineer(*command(theirs, prometheus), "--user", USER, "--ca", prometheus.ca, "--json")
    assert said.code == 0, said.err
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


def command(run: Run, prometheus: Monitoring) -> tuple[str, ...]:
    nodes = ",".join(prometheus.instances)
    return "attach", str(run.pk), "--prometheus", prometheus.url, "--node", f"db1={nodes}"


def totals(run: Run) -> dict[str, float]:
    """What counters gained in all of the run."""
    index = queries.series_index(run.pk)
    return {one.metric: one.whole.increase or 0.0 for one in index if one.metric in TOTALS}
