"""A real Galera cluster under the real probe: every figure is worked out again from the raw log and from the table."""

import re
import shlex
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lab import haproxy
from lab.galera import Galera
from lab.galera_node import NODES
from lab.haproxy import current
from tests.support.waiting import eventually
from tests.workers.agent.faults.probing import (
    INTERVAL,
    figures_of,
    inserts_of,
    lines_of,
    longest_gap,
    longest_gap_of_return,
    probed,
)
from tests.workers.agents import AgentProcess, ConfigFile
from tests.workers.server import FakeServer, a_job
from workers.agent.runtime import config as configuration

pytestmark = pytest.mark.galera


def test_the_writer_stalls_when_a_reader_is_killed_and_the_counts_are_those_of_the_table(
    galera: Galera, lab_directory: Path, config: ConfigFile, tmp_path: Path
) -> None:
    config.include(lab_directory)
    # A client of little patience, which sends again what may have been done.
    asked = {"fault": "kill_reader", "fault_at": 1.5, "timeout": 0.5, "retries": 6, "rejoin_timeout": 60}
    system = configuration.load(config.file).systems["galera"]
    lines, figures, tables = probed(system, galera.servers.values(), asked, folder=tmp_path, duration=7)
    inserts = inserts_of(lines)

    length, recovered = longest_gap(inserts)
    assert length > 1  # the cluster suspects a silent node after a second, and commits nothing until it is out
    assert figures["failover.outage"] == pytest.approx(length, abs=INTERVAL)
    (fault,) = (line["from"] for line in lines if line.get("event") == "fault")
    assert figures["failover.client_recovered"] == pytest.approx(recovered - fault, abs=INTERVAL)
    assert 1 <= figures["failover.detect"] <= figures["failover.promote"] <= figures["failover.client_recovered"]
    assert figures["failover.rejoin"] > 0

    (transfer,) = (line for line in lines if line.get("event") == "state_transfer")
    assert transfer["detail"]["transfer"] == "incremental"
    assert transfer["detail"]["file_bytes"] is None
    assert transfer["detail"]["received_bytes"] > 0
    # Writes go on while the killed node comes back, and what that costs them is a figure of its own.
    assert figures["failover.rejoin_outage"] == pytest.approx(longest_gap_of_return(lines), abs=0.001)
    assert len(set(tables)) == 1  # the killed node too
    found = Counter({int(seq): int(count) for seq, count in (line.split("\t") for line in tables[0].splitlines())})
    acknowledged = {insert["seq"] for insert in inserts if insert["ok"]}
    assert figures["failover.acknowledged_missing"] == len(acknowledged - found.keys())
    assert figures["failover.failed_present"] == len(found.keys() - acknowledged)
    assert figures["failover.duplicated"] == found.total() - len(found) > 0


def test_the_bytes_of_a_whole_transfer_are_those_that_rsync_received_but_for_its_own_words(
    galera: Galera, lab_directory: Path, config: ConfigFile, tmp_path: Path
) -> None:
    config.include(lab_directory)
    known = configuration.load(config.file).systems["galera"]
    logs = galera.directory / "rsync"  # of the joiner's rsync, which its script has write there
    logs.mkdir(exist_ok=True)
    logs.chmod(0o777)

    def start(node: str, argv: tuple[str, ...]) -> tuple[str, ...]:
        """Without its position a node takes everything."""
        state = shlex.quote(str(galera.servers[node].data / "grastate.dat"))
        return ("sh", "-c", f"rm -f {state}; MYSQL_TMP_DIR={shlex.quote(str(logs))} exec {shlex.join(argv)}")

    controls = {
        node: {name: start(node, argv) if name == "start" else argv for name, argv in own.items()}
        for node, own in known.controls.items()
    }
    asked = {"fault": "kill_reader", "fault_at": 1, "rejoin_timeout": 120}
    system = replace(known, controls=controls)
    lines, _, _ = probed(system, galera.servers.values(), asked, folder=tmp_path, duration=6)
    (transfer,) = (line for line in lines if line.get("event") == "state_transfer")
    assert (transfer["detail"]["transfer"], transfer["detail"]["method"]) == ("whole", "rsync")
    log = (logs / "rsyncd.log").read_text()
    received = sum(int(count) for count in re.findall(r"received (\d+) bytes", log))
    assert transfer["detail"]["file_bytes"] == pytest.approx(received, rel=0.01)
    assert f"{transfer['detail']['file_bytes']:,} bytes by the size of the files" in transfer["label"]


def test_a_job_that_kills_the_writer_ends_well_and_leaves_the_cluster_whole(
    galera: Galera, lab_directory: Path, config: ConfigFile, server: FakeServer, start_agent: Callable[[], AgentProcess]
) -> None:
    config.include(lab_directory)
    writer = current(galera.proxy.socket)
    asked = {"fault": "kill_writer", "fault_at": 1.5, "rejoin_timeout": 60}
    job = a_job(system="galera", tool="failover", parameters=asked, threads=(1,), warmup=1, duration=7)
    server.jobs.append(job)
    agent = start_agent()
    eventually(server.job_ends, what="the job has ended")
    assert agent.terminate() == 0
    assert server.job_ends() == [
        {"attempt": 1, "outcome": "succeeded", "reason": "", "skipped": [], "is_permanent": False}
    ]
    (run,) = server.runs.values()
    output = run.artifacts["failover.jsonl"]
    lines, figures = lines_of(output), figures_of(output)

    length, _ = longest_gap(inserts_of(lines))
    assert figures["failover.outage"] == pytest.approx(length, abs=INTERVAL)
    by_name = {line["event"]: line for line in lines if line["kind"] == "event"}
    assert by_name["fault"]["node"] == writer
    assert by_name["outage"]["detail"] == {"recovered": True, "interrupted": True}
    # How the proxy checks, and when it gave up the dead writer: what explains part of the outage.
    assert by_name["node_state"]["detail"]["proxy"] == haproxy.CHECKS
    assert f"/{writer} is DOWN" in by_name["proxy"]["label"]
    assert by_name["proxy"]["from"] < by_name["proxy"]["to"] < by_name["outage"]["to"]
    assert by_name["recovered"]["node"] == by_name["promotion"]["node"] != writer
    assert figures["failover.acknowledged_missing"] == 0

    assert all(galera.servers[node].is_ready() for node in NODES)
    events = {(event.kind, event.node) for event in run.decoded().events}
    assert ("sampler_error", writer) in events  # nobody answered for it while it was dead
    left = galera.servers[NODES[0]].sql("SHOW DATABASES LIKE 'splashboard_bench'")
    assert left == ""
