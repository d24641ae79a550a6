"""The failover probe on one real server that stands for one at AWS, which cannot be had here."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymysql
import pytest

from lab.mariadb import MariaDB
from lab.packages import program as program_named
from tests.workers.agent.faults.probing import inserts_of, lines_of
from workers.agent.faults import __main__ as program
from workers.agent.faults.system import TargetSystem
from workers.agent.programs.order import Order
from workers.agent.runtime.config import ServerAddress
from workers.protocol.workloads import failover
from workers.protocol.workloads.declaration import check

pytestmark = pytest.mark.mariadb
SCHEMA = "probed_alone"


@pytest.fixture
def schema(mariadb: MariaDB) -> Iterator[str]:
    mariadb.sql(f"CREATE DATABASE {SCHEMA}")
    yield SCHEMA
    mariadb.sql(f"DROP DATABASE {SCHEMA}")


def an_order(mariadb: MariaDB, folder: Path, fault: str, **more: Any) -> Order:
    address = {"host": "127.0.0.1", "port": mariadb.port, "socket": ""}
    fields = {"user": "splashboard", "password": mariadb.password, "schema": SCHEMA, "nodes": {"db1": address}}
    (folder / "secrets").write_text(json.dumps({**address, **fields, "controls": {}, **more}))
    asked = {"fault": fault, "fault_at": 1, "rejoin_timeout": 5, "baseline_seconds": 1}
    return Order(folder / "secrets", check(failover.SPEC, asked), threads=1, rate=None, warmup=1, duration=3)


def probed_alone(order: Order, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """The raw log."""
    program.prepare(order)
    program.run(order)
    return lines_of(capsys.readouterr().out.encode())


def test_a_crash_that_did_not_restart_the_server_is_a_failed_check(
    mariadb: MariaDB, schema: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = TargetSystem.ask

    def answered(system: TargetSystem, address: ServerAddress, statement: str, *values: Any, timeout: float) -> Any:
        if statement.startswith("ALTER SYSTEM"):
            raise pymysql.OperationalError(2013, "Lost connection to MySQL server during query")
        return ask(system, address, statement, *values, timeout=timeout)

    monkeypatch.setattr(TargetSystem, "ask", answered)
    lines = probed_alone(an_order(mariadb, tmp_path, "crash", platform="aurora"), capsys)
    (restarted,) = (line for line in lines if line.get("check") == "restarted")
    assert not restarted["held"]
    assert restarted["label"].startswith("the server of db1 did not restart: it has run for ")


def test_a_standby_that_takes_over_the_only_node_s_address_has_its_name(
    mariadb: MariaDB, schema: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    client = [
        program_named("mariadb"),
        "--no-defaults",
        f"--socket={mariadb.socket}",
        "-uroot",
        f"-p{mariadb.password}",
    ]
    # Another server as seen by its clients, who have to connect again.
    switch = [*client, "-e", "SET GLOBAL server_id = 4711; KILL USER splashboard"]
    before = mariadb.sql("SELECT @@server_id")
    order = an_order(mariadb, tmp_path, "rds_failover", platform="rds-mysql", controls={"": {"switch": switch}})
    try:
        lines = probed_alone(order, capsys)
        assert mariadb.sql("SELECT @@server_id").strip() == "4711"
    finally:
        mariadb.sql(f"SET GLOBAL server_id = {before}")
    assert {line["server"] for line in inserts_of(lines) if line["ok"]} == {"db1"}
    assert [line["held"] for line in lines if line.get("check") == "in_step"] == [True]
