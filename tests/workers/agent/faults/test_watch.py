"""Whether a polled server could take a write."""

from pathlib import Path
from typing import Any

import pymysql
import pytest
from pymysql.cursors import Cursor

from lab import clustercheck
from lab.galera import Galera
from lab.mariadb import MariaDB
from tests.support.waiting import eventually
from tests.workers.agent.faults.probing import SCHEMA, answer_as_percona
from tests.workers.agents import ConfigFile
from workers.agent.faults import system as faults_system
from workers.agent.faults import watch
from workers.agent.faults.lanes import LoadClock
from workers.agent.faults.phases import State
from workers.agent.runtime import config as configuration
from workers.agent.tools.failover import Failover

pytestmark = pytest.mark.mariadb


class OtherMode(Cursor):
    """Answers as a server with another value of read_only: a number, or a name as in MariaDB since 12.0.1."""

    mode = "0"

    def execute(self, query: str, args: Any = None) -> int:
        return super().execute(query.replace("@@global.read_only", self.mode), args)


@pytest.mark.parametrize(
    ("mode", "writable"), [("0", True), ("1", False), ("'OFF'", True), ("'ON'", False), ("'NO_LOCK_NO_ADMIN'", False)]
)
def test_a_replica_is_not_taken_for_writable_where_read_only_has_a_name(
    mariadb: MariaDB, mode: str, writable: bool
) -> None:
    user, password = "splashboard", mariadb.password
    shown: type[OtherMode] = type("Mode", (OtherMode,), {"mode": mode})
    with (
        pymysql.connect(host="127.0.0.1", port=mariadb.port, user=user, password=password) as connection,
        connection.cursor(shown) as cursor,
    ):
        assert watch.look(cursor, galera=False) == (True, writable, "", False)


@pytest.mark.parametrize(("mode", "answer"), [("0", "0"), ("1", "1"), ("'OFF'", "0"), ("'NO_LOCK'", "1")])
def test_the_check_of_a_cluster_understands_numbers_and_names(mariadb: MariaDB, mode: str, answer: str) -> None:
    question = clustercheck.QUESTION.decode().replace("@@global.read_only", mode)
    assert mariadb.sql(question).splitlines()[-1].split() == ["read_only", answer]


@pytest.mark.galera
def test_a_node_is_watched_as_one_of_a_cluster_where_wsrep_on_is_no_global_variable(
    galera: Galera, lab_directory: Path, config: ConfigFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.include(lab_directory)
    secrets = tmp_path / "secrets"
    secrets.write_text(Failover().secrets(configuration.load(config.file).systems["galera"], SCHEMA))
    answer_as_percona(monkeypatch)
    states: list[State] = []
    watched = watch.NodeWatch(faults_system.read(secrets), "node1", LoadClock(), states.append)
    watched.start()
    try:
        eventually(lambda: states, what="the node was looked at")
    finally:
        watched.stop()
    assert (states[0].answers, states[0].writable) == (True, True)
    assert "Primary" in states[0].cluster
