"""The real failover probe on a real system, and its raw log read a second time."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pymysql
import pytest
from pymysql.cursors import Cursor

from apps.runs.tool_output import report_values
from lab.mariadb import MariaDB
from tests.paths import ROOT
from workers.agent.faults.system import TABLE
from workers.agent.measure.database import AgentConnection
from workers.agent.measure.wholeness import NotWhole, require_whole
from workers.agent.programs.order import Order, arguments
from workers.agent.runtime.config import SystemConfig
from workers.agent.tools.failover import Failover
from workers.protocol.workloads import failover
from workers.protocol.workloads.declaration import check

INTERVAL = 0.05  # s between inserts
SCHEMA = "probed"
CLIENT = ("mariadb", "--no-defaults", "-h127.0.0.1")


class PerconaCursor(Cursor):
    """Answers as XtraDB Cluster, where wsrep_on is a variable of sessions alone."""

    def execute(self, query: str, args: Any = None) -> int:
        if "@@global.wsrep_on" in query:
            raise pymysql.OperationalError(1238, "Variable 'wsrep_on' is a SESSION variable")
        return super().execute(query.replace("GLOBAL VARIABLES LIKE 'wsrep_on'", "GLOBAL VARIABLES LIKE ''"), args)


def answer_as_percona(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the agent's connections, those of the failover probe included."""
    monkeypatch.setattr(AgentConnection, "cursor", lambda connection, kind=None: (kind or PerconaCursor)(connection))


def lines_of(output: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


def inserts_of(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [line for line in lines if line["kind"] == "probe" and line["what"] == "insert"]


def longest_gap(inserts: list[dict[str, Any]], *, since: float = 0.0) -> tuple[float, float]:
    """Of those of the load that were open at `since` or began later: length, and when it ended."""
    found = _gaps(insert for insert in inserts if "after_load" not in insert)
    return max((length, ended) for length, ended in found if ended > since)


def longest_gap_of_return(lines: list[dict[str, Any]]) -> float:
    """The longest time without a write from when the repair began on, of the writes of the load or of those after."""
    began: float
    (began,) = (line["from"] for line in lines if line.get("event") == "rejoin")
    inserts = inserts_of(lines)
    loads = [[one for one in inserts if ("after_load" in one) == after] for after in (False, True)]
    return max(min(length, ended - began) for load in loads for length, ended in _gaps(load) if ended > began)


def _gaps(inserts: Iterable[dict[str, Any]]) -> list[tuple[float, float]]:
    ends = sorted(insert["end"] for insert in inserts if insert["ok"])
    return [(later - earlier, later) for earlier, later in pairwise(ends)]


def figures_of(output: bytes) -> dict[str, float]:
    """As the server reads them."""
    found = report_values.read(output)
    assert found.complete, found.fatal
    assert not found.unparsed
    assert not found.failures
    return {headline.metric: headline.value for headline in found.headlines}


def probed(
    system: SystemConfig, servers: Iterable[MariaDB], asked: dict[str, Any], *, folder: Path, duration: float
) -> tuple[list[dict[str, Any]], dict[str, float], list[str]]:
    """The raw log, the figures, and of each server how often it holds each insert: lines `seq<tab>count`."""
    through = system.address
    say = [*CLIENT, f"-P{through.port}", f"-u{system.user}", f"-p{system.password}", "-e"]
    subprocess.run([*say, f"DROP DATABASE IF EXISTS {SCHEMA}; CREATE DATABASE {SCHEMA}"], check=True)
    secrets = folder / "secrets"
    secrets.write_text(Failover().secrets(system, SCHEMA))
    order = Order(secrets, check(failover.SPEC, asked), threads=1, rate=None, warmup=1, duration=duration)

    def program(step: str) -> bytes:
        argv = [sys.executable, "-m", "workers.agent.faults", *arguments(step, order)]
        done = subprocess.run(argv, cwd=ROOT, env=os.environ, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr
        return done.stdout

    try:
        program("prepare")
        output = program("run")
        lines = lines_of(output)
        (run,) = (line["detail"]["run"] for line in lines if line.get("event") == "node_state")
        rows = f"SELECT seq, COUNT(*) FROM {SCHEMA}.{TABLE} WHERE run = '{run}' GROUP BY seq"
        tables = [server.sql(rows) for server in servers]
        program("clean_up")
    finally:
        subprocess.run([*say, f"DROP DATABASE {SCHEMA}"], check=True)
    return lines, figures_of(output), tables


def is_whole(system: SystemConfig) -> bool:
    try:
        require_whole(system)
    except NotWhole:
        return False
    return True
