"""A real three-node cluster behind HAProxy, its faults by the commands that the agent is given."""

import json
import socket
import subprocess
from pathlib import Path

import pytest

from lab import haproxy
from lab.galera import Galera
from lab.galera_node import NODES
from lab.packages import LabError
from tests.lab.talk import await_writer, controls, kill, run, through_proxy
from tests.support.waiting import eventually
from workers.agent.runtime import config

pytestmark = pytest.mark.galera


def test_the_agents_file_has_writer_readers_proxy_and_controls(galera: Galera, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("x")
    file = tmp_path / "agent.toml"
    include = f'include = ["{galera.var}/agent.d/lab-galera.toml"]\n'
    file.write_text(include + '[server]\nurl = "http://127.0.0.1:1"\ntoken_file = "token"\n')
    system = config.load(file).systems["galera"]
    assert [(node.name, node.role) for node in system.nodes] == [
        ("node1", "writer"),
        ("node2", "reader"),
        ("node3", "reader"),
    ]
    assert system.address.port not in [node.address.port for node in system.nodes]
    assert system.settings["evs.suspect_timeout"] == "PT1S"
    assert system.proxy is not None
    assert Path(system.proxy.address.socket).is_socket()
    assert system.proxy.settings == {"inter": "500ms", "fall": "2", "rise": "3"}
    assert set(system.controls) == {"", *NODES}


def test_a_write_reaches_every_node(galera: Galera) -> None:
    through_proxy(galera, "CREATE DATABASE IF NOT EXISTS claims; CREATE OR REPLACE TABLE claims.t (id INT PRIMARY KEY)")
    through_proxy(galera, "INSERT INTO claims.t VALUES (1)")
    answers = [server.sql("SET wsrep_sync_wait = 1; SELECT id FROM claims.t") for server in galera.servers.values()]
    assert answers == ["1\n"] * 3


def test_killed_writer_is_replaced_and_comes_back_with_what_it_missed(galera: Galera) -> None:
    through_proxy(galera, "CREATE DATABASE IF NOT EXISTS claims; CREATE OR REPLACE TABLE claims.k (id INT PRIMARY KEY)")
    writer = await_writer(galera)
    log = galera.servers[writer].log
    size = log.stat().st_size
    kill(galera, writer)
    successor = await_writer(galera, other_than=writer)
    assert b"Normal shutdown" not in log.read_bytes()[size:]
    through_proxy(galera, "INSERT INTO claims.k VALUES (7)")
    size = log.stat().st_size
    run(controls(galera)[writer]["start"])
    assert galera.status(writer) == "Synced"
    assert galera.servers[writer].sql("SELECT id FROM claims.k") == "7\n"
    # By what it missed, not by a copy of everything; and nobody is moved back.
    assert b"IST received" in log.read_bytes()[size:]
    assert await_writer(galera) == successor


def test_a_node_that_ends_while_it_joins_is_started_again(galera: Galera) -> None:
    reader = next(node for node in NODES if node != await_writer(galera))
    server = galera.servers[reader]
    kill(galera, reader)
    starting = subprocess.Popen(controls(galera)[reader]["start"], cwd="/", stderr=subprocess.PIPE)
    eventually(lambda: server.pid is not None, what="it runs", seen=galera.state)
    first = server.pid
    server.kill()
    assert (starting.communicate()[1], starting.returncode) == (b"", 0)
    assert galera.status(reader) == "Synced"
    assert server.pid != first


def test_why_a_node_did_not_join_is_in_the_error(galera: Galera, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = next(node for node in NODES if node != await_writer(galera))
    kill(galera, reader)
    monkeypatch.setattr("lab.galera.STARTS", 1)
    monkeypatch.setitem(galera.servers[reader].settings, "no_such_setting", "1")
    with pytest.raises(LabError, match=rf"galera: {reader} ended: .*unknown variable 'no-such-setting=1'"):
        galera.start(reader)


@pytest.mark.parametrize("kind", ["ist", "sst"])
def test_a_node_comes_back_though_somebody_took_the_port_of_its_transfers(galera: Galera, kind: str) -> None:
    reader = next(node for node in NODES if node != await_writer(galera))
    kill(galera, reader)
    if kind == "sst":
        (galera.servers[reader].data / "grastate.dat").unlink()  # it has to take everything anew
    table = f"claims.taken_{kind}"
    through_proxy(galera, f"CREATE DATABASE IF NOT EXISTS claims; CREATE OR REPLACE TABLE {table} (id INT PRIMARY KEY)")
    known = json.loads((galera.directory / "ports.json").read_text())
    with socket.create_server(("127.0.0.1", known[f"{reader}.{kind}"])):
        run(controls(galera)[reader]["start"])
    assert galera.status(reader) == "Synced"
    assert "taken_" in galera.servers[reader].sql(f"SHOW TABLES FROM claims LIKE 'taken_{kind}'")


def test_frozen_node_is_left_out_until_it_is_thawed(galera: Galera) -> None:
    reader = next(node for node in NODES if node != await_writer(galera))
    run(controls(galera)[reader]["freeze"])
    eventually(
        lambda: reader not in haproxy.servers_up(galera.proxy.socket), what="HAProxy leaves it out", seen=galera.state
    )
    run(controls(galera)[reader]["thaw"])
    run(controls(galera)[reader]["start"])
    assert galera.status(reader) == "Synced"


def test_planned_switch_moves_the_writer_and_closes_what_stands_elsewhere(galera: Galera) -> None:
    writer = await_writer(galera)
    run(controls(galera)["switch"])
    assert await_writer(galera) != writer


def test_a_cluster_of_which_everything_was_killed_begins_again_with_its_data(galera: Galera) -> None:
    through_proxy(galera, "CREATE DATABASE IF NOT EXISTS survived")
    for server in galera.servers.values():
        server.kill()
    assert "node1 is stopped" in galera.state()
    galera.up(lambda _: None)
    assert [galera.status(node) for node in NODES] == ["Synced"] * 3
    assert "survived" in through_proxy(galera, "SHOW DATABASES")
