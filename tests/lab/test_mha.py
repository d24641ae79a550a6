"""A real source with two replicas, MHA and HAProxy; its faults by the commands that the agent is given."""

import json
import subprocess
import time
from pathlib import Path

import pytest

from lab.mha import MHA
from lab.ports import free_port
from lab.replication import has_parted
from lab.sshd import Sshd
from tests.lab.talk import await_writer, controls, kill, run, through_proxy
from tests.support.waiting import LIMIT
from workers.agent.runtime import config

HAVE_PARTED = [
    ("0-1-17", "0-1-17", False),
    ("0-1-17", "0-1-17,0-2-20", False),
    ("0-1-18", "0-1-17,0-2-20", True),
    ("0-3-1", "0-1-17", True),
    ("", "0-1-17", False),
    ("", "", False),
]


@pytest.mark.parametrize(("replica", "source", "parted"), HAVE_PARTED)
def test_a_replica_that_wrote_what_the_source_never_saw_has_parted(replica: str, source: str, parted: bool) -> None:
    assert has_parted(replica, source) is parted


@pytest.mark.mha
def test_the_agents_file_says_where_to_listen_to_the_manager(mha: MHA, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("x")
    file = tmp_path / "agent.toml"
    include = f'include = ["{mha.var}/agent.d/lab-mha.toml"]\n'
    file.write_text(include + '[server]\nurl = "http://127.0.0.1:1"\ntoken_file = "token"\n')
    system = config.load(file).systems["mha"]
    assert [node.role for node in system.nodes] == ["writer", "reader", "reader"]
    assert set(system.controls[""]) == {"restart", "switch", "watch", "check"}
    assert str(mha.events) in system.controls[""]["watch"]


@pytest.mark.mha
def test_killed_source_is_replaced_without_a_loss_and_comes_back_as_a_replica(mha: MHA) -> None:
    through_proxy(mha, "CREATE DATABASE IF NOT EXISTS claims; CREATE OR REPLACE TABLE claims.k (id INT PRIMARY KEY)")
    source = await_writer(mha)
    through_proxy(mha, "INSERT INTO claims.k VALUES (1), (2), (3)")
    said_before = mha.events.read_text().count("\n")
    log = mha.servers[source].log
    size = log.stat().st_size
    killed_at = time.time()
    kill(mha, source)
    successor = await_writer(mha, other_than=source)
    taken_over_at = time.time()
    assert through_proxy(mha, "SELECT COUNT(*) FROM claims.k") == "3"
    through_proxy(mha, "INSERT INTO claims.k VALUES (4)")

    assert b"Normal shutdown" not in log.read_bytes()[size:]

    events = [json.loads(line) for line in mha.events.read_text().splitlines()[said_before:]]
    reported = [(event["event"], event["node"]) for event in events]
    assert reported == [("suspected", source), ("detected", source), ("promoted", successor), ("repointed", successor)]
    moments = [killed_at, *(event["t"] for event in events), taken_over_at]
    assert moments == sorted(moments)

    run(controls(mha)[source]["start"])
    assert mha.servers[source].sql("SELECT COUNT(*) FROM claims.k; SELECT @@read_only").split() == ["4", "1"]
    assert mha.status(source) == "replicates"
    assert mha.manager.is_watching()
    assert await_writer(mha) == successor


@pytest.mark.mha
def test_planned_switch_makes_the_old_source_a_replica_and_the_manager_watches_the_new_one(mha: MHA) -> None:
    source = await_writer(mha)
    run(controls(mha)["switch"])
    assert await_writer(mha) != source
    assert mha.status(source) == "replicates"
    assert mha.manager.is_watching()


@pytest.mark.mha
def test_a_replica_with_writes_of_its_own_is_copied_anew(mha: MHA) -> None:
    through_proxy(mha, "CREATE DATABASE IF NOT EXISTS claims; CREATE OR REPLACE TABLE claims.p (id INT PRIMARY KEY)")
    replica = next(node for node in mha.servers if node != await_writer(mha))
    mha.servers[replica].sql("CREATE DATABASE astray")
    run(controls(mha)[replica]["stop"])
    through_proxy(mha, "INSERT INTO claims.p VALUES (1)")
    run(controls(mha)[replica]["start"])
    assert "astray" not in mha.servers[replica].sql("SHOW DATABASES")
    assert mha.servers[replica].sql("SELECT id FROM claims.p") == "1\n"


@pytest.mark.mha
def test_writes_of_its_own_are_found_after_later_ones_of_the_source_and_while_it_replicates(mha: MHA) -> None:
    through_proxy(mha, "CREATE DATABASE IF NOT EXISTS claims; CREATE OR REPLACE TABLE claims.q (id INT PRIMARY KEY)")
    replica = next(node for node in mha.servers if node != await_writer(mha))
    mha.servers[replica].sql("CREATE DATABASE astray")
    through_proxy(mha, "INSERT INTO claims.q VALUES (1)")
    at = through_proxy(mha, "SELECT @@gtid_binlog_pos")
    assert mha.servers[replica].sql(f"SELECT MASTER_GTID_WAIT('{at}', {LIMIT})") == "0\n"
    assert mha.status(replica) == "replicates"
    run(controls(mha)[replica]["start"])
    assert "astray" not in mha.servers[replica].sql("SHOW DATABASES")
    assert mha.status(replica) == "replicates"


def semi_sync(system: MHA, node: str) -> dict[str, str]:
    rows = system.servers[node].sql("SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_%'").splitlines()
    return dict(row.removeprefix("Rpl_semi_sync_").split("\t") for row in rows)


@pytest.mark.mha
def test_a_source_alone_waits_for_a_replica_and_so_does_its_successor(semisync: MHA) -> None:
    assert semisync.registration().settings["rpl_semi_sync_master_wait_point"] == "AFTER_SYNC"
    source = await_writer(semisync)
    before = semi_sync(semisync, source)
    through_proxy(semisync, "CREATE OR REPLACE DATABASE claims; CREATE TABLE claims.s (id INT PRIMARY KEY)")
    through_proxy(semisync, "INSERT INTO claims.s VALUES (1)")
    assert {node: semi_sync(semisync, node)["master_status"] for node in semisync.servers} == {
        node: "ON" if node == source else "OFF" for node in semisync.servers
    }
    waited = {
        name: int(semi_sync(semisync, source)[name]) - int(before[name]) for name in ("master_yes_tx", "master_no_tx")
    }
    assert (waited["master_yes_tx"] >= 3, waited["master_no_tx"]) == (True, 0)
    kill(semisync, source)
    successor = await_writer(semisync, other_than=source)
    through_proxy(semisync, "INSERT INTO claims.s VALUES (2)")
    found = semi_sync(semisync, successor)
    assert (found["master_status"], found["master_no_tx"]) == ("ON", "0")
    run(controls(semisync)[source]["start"])
    assert semisync.status(source) == "replicates"
    assert semi_sync(semisync, source)["master_status"] == "OFF"
    assert semi_sync(semisync, successor)["master_clients"] == "2"


@pytest.mark.needs("sshd", "ssh", "bash")
def test_commands_by_ssh_do_not_wait_for_what_the_users_shell_does_at_its_start(tmp_path: Path) -> None:
    sshd = Sshd(tmp_path, port=free_port(tmp_path), environment={"WHERE": "here"})
    sshd.start()
    try:
        command = f"ssh {sshd.options} -p {sshd.port} {sshd.user}@127.0.0.1"
        # bash reads .bashrc for a command by ssh where SHLVL is not yet set: the command itself then sees 1.
        said = subprocess.check_output([*command.split(), "bash -c 'echo $WHERE $SHLVL'"], text=True)
    finally:
        sshd.stop()
    assert said.split()[0] == "here"
    assert int(said.split()[1]) > 1
