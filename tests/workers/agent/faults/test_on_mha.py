"""Real MHA under the real probe: what its manager said and did, worked out again from the raw log."""

import json
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lab.mha import MHA
from lab.packages import program
from tests.paths import ROOT
from tests.support.waiting import eventually
from tests.workers.agent.faults.probing import (
    INTERVAL,
    SCHEMA,
    inserts_of,
    is_whole,
    longest_gap,
    longest_gap_of_return,
    probed,
)
from tests.workers.agents import AgentProcess, ConfigFile
from tests.workers.server import FakeServer, a_job
from workers.agent.faults import faults
from workers.agent.faults import system as faults_system
from workers.agent.faults.faults import STRUCK, Fault, Faulty
from workers.agent.faults.run import ProbeRun
from workers.agent.faults.system import TABLE
from workers.agent.programs.order import Order
from workers.agent.programs.report import Failed
from workers.agent.runtime import config as configuration
from workers.agent.runtime.config import SystemConfig
from workers.agent.tools.failover import Failover
from workers.protocol.workloads import failover
from workers.protocol.workloads.declaration import check


def written_down_before_start(system: SystemConfig, mha: MHA, folder: Path) -> SystemConfig:
    """The same system, whose `start` first writes the node's inserts to `folder`/NODE: it may replace its data."""

    def start(node: str, argv: tuple[str, ...]) -> tuple[str, ...]:
        server = mha.servers[node]
        own = [program("mariadb"), "--no-defaults", f"--socket={server.socket}", f"-u{system.user}"]
        ask = [*own, f"-p{system.password}", "-NBe", f"SELECT seq FROM {SCHEMA}.{TABLE}"]
        return ("sh", "-c", f"{shlex.join(ask)} >{shlex.quote(str(folder / node))}; exec {shlex.join(argv)}")

    controls = {
        node: {name: start(node, argv) if name == "start" else argv for name, argv in own.items()}
        for node, own in system.controls.items()
    }
    return replace(system, controls=controls)


def only_in(file: Path, table: str) -> Counter[str]:
    """Inserts of the old source, as written down, that its successor's table lacks; each was sent once."""
    return Counter(file.read_text().split()) - Counter(line.split("\t")[0] for line in table.splitlines())


@pytest.mark.mha
def test_the_manager_detects_when_it_concludes_and_promotes_by_its_script(
    mha: MHA, lab_directory: Path, config: ConfigFile, tmp_path: Path
) -> None:
    config.include(lab_directory)
    system = written_down_before_start(configuration.load(config.file).systems["mha"], mha, tmp_path)
    asked = {"fault": "kill_writer", "fault_at": 1, "rejoin_timeout": 60}
    # A failover takes 8 s; where four other loads share two cores it took more than 17 s.
    lines, figures, tables = probed(system, mha.servers.values(), asked, folder=tmp_path, duration=45)
    inserts = inserts_of(lines)
    by_name = {line["event"]: line for line in lines if line["kind"] == "event"}
    fault = by_name["fault"]["from"]

    length, recovered = longest_gap(inserts)
    assert figures["failover.outage"] == pytest.approx(length, abs=INTERVAL)
    assert figures["failover.client_recovered"] == pytest.approx(recovered - fault, abs=INTERVAL)

    said = [line for line in lines if line["kind"] == "probe" and line["what"] == "manager" and line["t"] > fault]
    (concluded,) = (line["t"] for line in said if "Master is down!" in line["text"])
    assert figures["failover.detect"] == pytest.approx(concluded - fault, abs=0.001)
    assert said[0]["t"] < concluded - 2, "three more pings, a second apart, follow the first that fails"
    assert f"its first sign {said[0]['t'] - fault:.2f} s after the fault" in by_name["detect"]["label"]
    (promoted,) = (json.loads(line["text"])["node"] for line in said if '"promoted"' in line["text"])
    assert by_name["promotion"]["node"] == by_name["recovered"]["node"] == promoted != by_name["fault"]["node"]
    assert figures["failover.detect"] < figures["failover.promote"] <= figures["failover.client_recovered"]

    assert figures["failover.rejoin_outage"] == pytest.approx(longest_gap_of_return(lines), abs=0.001)
    assert len(set(tables)) == 1  # the killed node too
    found = Counter({int(seq): int(count) for seq, count in (line.split("\t") for line in tables[0].splitlines())})
    acknowledged = {insert["seq"] for insert in inserts if insert["ok"]}
    assert figures["failover.acknowledged_missing"] == len(acknowledged - found.keys())
    only_there = only_in(tmp_path / by_name["fault"]["node"], tables[0])
    assert figures["failover.errant_rows"] == only_there.total()
    assert by_name["read_back"]["detail"]["errant"] == sorted(map(int, only_there.elements()))
    assert figures["failover.failed_present"] == len(found.keys() - acknowledged)
    assert figures["failover.duplicated"] == found.total() - len(found) == 0


@pytest.mark.mha
def test_a_frozen_writer_is_replaced_and_comes_back_as_a_replica_each_time(
    mha: MHA, lab_directory: Path, config: ConfigFile, tmp_path: Path
) -> None:
    config.include(lab_directory)
    known = configuration.load(config.file).systems["mha"]
    asked = {"fault": "freeze_writer", "fault_at": 1, "hold": 30, "rejoin_timeout": 120}
    for trial in ("first", "second"):
        source, folder = mha.source, tmp_path / trial
        folder.mkdir()
        system = written_down_before_start(known, mha, folder)
        lines, figures, tables = probed(system, mha.servers.values(), asked, folder=folder, duration=45)
        assert mha.source != source
        assert mha.status(mha.source) == "is the source"
        assert mha.status(source) == "replicates"
        assert mha.manager.is_watching()
        assert len(set(tables)) == 1
        assert 0 < figures["failover.rejoin"] < 120
        assert figures["failover.rejoin_outage"] == pytest.approx(longest_gap_of_return(lines), abs=0.001)
        # Inserts that waited in the frozen server's sockets, if any, were done when it went on, and nobody has them.
        assert figures["failover.errant_rows"] == only_in(folder / source, tables[0]).total()


@pytest.mark.mha
def test_a_source_that_was_replaced_while_it_was_frozen_follows_its_successor_though_the_job_is_cancelled(
    mha: MHA, lab_directory: Path, config: ConfigFile, server: FakeServer, start_agent: Callable[[], AgentProcess]
) -> None:
    config.include(lab_directory)
    system = configuration.load(config.file).systems["mha"]
    source = mha.source
    asked = {"fault": "freeze_writer", "fault_at": 1, "hold": 120, "rejoin_timeout": 120}
    server.jobs.append(a_job(system="mha", tool="failover", parameters=asked, threads=(1,), warmup=1, duration=150))
    start_agent()
    eventually(lambda: mha.source != source, what="the frozen source was replaced", seen=server.job_ends)
    server.cancel = True
    eventually(server.job_ends, what="the job has ended")
    assert [end["outcome"] for end in server.job_ends()] == ["cancelled"]
    assert mha.status(source) == "replicates"
    eventually(lambda: is_whole(system), what="the system is whole")


@pytest.mark.mha
def test_a_second_source_that_a_killed_probe_left_frozen_is_thawed_and_follows_the_first(
    mha: MHA, lab_directory: Path, config: ConfigFile, tmp_path: Path
) -> None:
    config.include(lab_directory)
    system = configuration.load(config.file).systems["mha"]
    node = next(node for node in mha.servers if node != mha.source)
    mha.servers[node].sql("STOP SLAVE; RESET SLAVE ALL; SET GLOBAL read_only = 0")
    assert not is_whole(system)
    secrets = tmp_path / "secrets"
    secrets.write_text(Failover().secrets(system, SCHEMA))
    fault = Fault("freeze", node, "writer", system.controls[node]["freeze"], system.controls[node]["thaw"])
    Faulty(fault, faults_system.read(secrets), tmp_path / STRUCK).__enter__().strike()
    argv = [sys.executable, "-m", "workers.agent.faults", "restore", "--secrets", str(secrets)]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    assert mha.status(node) == "replicates"
    assert list(tmp_path.glob(f"{STRUCK}*")) == []
    eventually(lambda: is_whole(system), what="the system is whole")


@pytest.mark.mha
def test_no_fault_is_tried_while_the_manager_does_not_watch(
    mha: MHA, lab_directory: Path, config: ConfigFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faults, "READY_TIMEOUT", 0.0)
    config.include(lab_directory)
    system, source = configuration.load(config.file).systems["mha"], mha.source
    secrets = tmp_path / "secrets"
    secrets.write_text(Failover().secrets(system, SCHEMA))
    order = Order(secrets, check(failover.SPEC, {"fault": "kill_writer"}), threads=1, rate=None, warmup=1, duration=20)
    ProbeRun(order)
    mha.manager.stop()
    with pytest.raises(Failed, match="the system is not ready for a fault: mha: MHA's manager does not watch"):
        ProbeRun(order)
    assert mha.status(source) == "is the source"
