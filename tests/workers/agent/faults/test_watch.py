"""Whether a polled server could take a write."""

from typing import Any

import pymysql
import pytest
from pymysql.cursors import Cursor

from lab import clustercheck
from lab.mariadb import MariaDB
from workers.agent.faults import watch

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
