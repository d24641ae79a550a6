"""A real MySQL group under the real agent: who the primary is, what the members report, and a kill of the primary."""

from collections.abc import Callable
from pathlib import Path

import pytest

from apps.runs.samples.nodes import role_spans
from lab.galera_node import NODES
from lab.group_replication import GroupReplication
from tests.lab.talk import await_writer, controls, run
from tests.support.waiting import eventually
from tests.workers.agent.faults.probing import INTERVAL, figures_of, inserts_of, lines_of, longest_gap
from tests.workers.agent.faults.trials import CHOSEN, EVERY, TWICE, tried
from tests.workers.agents import AgentProcess, ConfigFile
from tests.workers.server import FakeServer, a_job
from workers.agent.measure.wholeness import NotWhole, require_whole
from workers.agent.runtime import config as configuration
from workers.agent.runtime.config import SystemConfig
from workers.agent.samplers.group import GroupMembership

pytestmark = pytest.mark.group
SLUG = "group-expel0"
# s that a member is silent before it is suspected, less than the time since its last message; no setting changes it.
DETECTION = 4.0
HELD = 15  # s for which a member stays frozen: it is expelled meanwhile


@pytest.fixture
def system(group: GroupReplication, lab_directory: Path, config: ConfigFile) -> SystemConfig:
    config.include(lab_directory)
    return configuration.load(config.file).systems[SLUG]


def test_a_switch_moves_the_primary_and_members_report_state_and_role(
    group: GroupReplication, system: SystemConfig
) -> None:
    before = await_writer(group)
    run(controls(group)["switch"])
    assert await_writer(group, other_than=before) == group.primary()
    roles = {}
    for node in system.nodes:
        source = GroupMembership(system, node.address)
        reading = source.read()
        source.close()
        roles[node.name] = reading.states["group role"]
        assert (reading.states["group state"], reading.states["group members"]) == ("ONLINE", "3 of 3 ONLINE")
        assert (reading.values["mysql.group.state"], reading.values["mysql.group.online"]) == (4, 3)
        assert {"mysql.group.certification_queue", "mysql.group.applier_queue"} <= reading.values.keys()
    assert [node for node, role in roles.items() if role == "PRIMARY"] == [group.primary()]


def test_a_job_that_kills_the_primary_shows_the_suspicion_the_election_and_the_return(
    group: GroupReplication,
    config: ConfigFile,
    system: SystemConfig,
    server: FakeServer,
    start_agent: Callable[[], AgentProcess],
) -> None:
    primary = group.primary()
    asked = {"fault": "kill_writer", "fault_at": 1.5, "rejoin_timeout": 90}
    server.jobs.append(a_job(system=SLUG, tool="failover", parameters=asked, threads=(1,), warmup=1, duration=12))
    agent = start_agent()
    eventually(lambda: group.servers[primary].pid is None, what="the primary is dead", seen=server.job_ends)
    with pytest.raises(NotWhole, match=r"node \w+ (does not answer|reports of its group: .* is UNREACHABLE)"):
        require_whole(system)
    eventually(server.job_ends, what="the job has ended")
    require_whole(system)
    assert agent.terminate() == 0
    assert server.job_ends() == [
        {"attempt": 1, "outcome": "succeeded", "reason": "", "skipped": [], "is_permanent": False}
    ]
    (measured,) = server.runs.values()
    output = measured.artifacts["failover.jsonl"]
    lines, figures = lines_of(output), figures_of(output)
    length, _ = longest_gap(inserts_of(lines))
    assert figures["failover.outage"] == pytest.approx(length, abs=INTERVAL)
    assert DETECTION <= figures["failover.detect"] <= figures["failover.promote"]
    assert figures["failover.promote"] <= figures["failover.client_recovered"]
    by_name = {line["event"]: line for line in lines if line["kind"] == "event"}
    assert by_name["fault"]["node"] == primary
    assert "reports ONLINE SECONDARY, 2 of 3 members ONLINE" in by_name["detect"]["label"]
    assert by_name["recovered"]["node"] == by_name["promotion"]["node"] != primary
    assert by_name["promotion"]["label"].endswith(
        f"primary 127.0.0.1:{group.ports[by_name['promotion']['node'] + '.sql']}"
    )
    assert by_name["state_transfer"]["detail"]["transfer"] == "incremental"
    assert figures["failover.acknowledged_missing"] == 0
    assert figures["failover.rejoin"] > 0
    assert [group.status(node) for node in NODES] == ["ONLINE"] * 3
    # Second by second, from what the members reported.
    successor = by_name["promotion"]["node"]
    spans = role_spans([measured.node(node) for node in NODES])
    roles = {node: [span.role for span in spans if span.node == node] for node in NODES}
    assert roles[primary][:2] == ["writer", "not observed"]
    assert roles[successor] == ["reader", "writer"]


@pytest.mark.parametrize("fault", CHOSEN)
def test_the_group_is_whole_after_each_of_two_trials(
    fault: str, group: GroupReplication, system: SystemConfig, tmp_path: Path
) -> None:
    for trial in TWICE:
        tried(system, group.servers.values(), fault, tmp_path / trial, duration=HELD + 10 if EVERY else 5, hold=HELD)
        assert [group.status(node) for node in NODES] == ["ONLINE"] * 3
