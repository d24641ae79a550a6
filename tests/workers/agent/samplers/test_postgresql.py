"""A real PostgreSQL and its own client: counters, sessions that wait, processes, a restart, a role of few rights."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import psycopg
import pytest

from config.launch import postgres
from config.launch.console import Screen
from config.launch.postgres import Cluster
from tests.launch.conftest import some_places
from tests.support.waiting import LIMIT, eventually
from workers.agent.samplers import SourceFailed, SourceReading
from workers.agent.samplers.postgresql import PostgreSQLStatistics, numbers, parent_of
from workers.agent.samplers.process import ProcessFamily, memory

pytestmark = pytest.mark.needs("psql")


@dataclass
class OwnServer:
    """A server that a test may stop and start."""

    cluster: Cluster
    process: "subprocess.Popen[bytes] | None" = None

    def start(self) -> None:
        self.process = process = postgres.start(self.cluster)
        eventually(lambda: postgres.is_ready(self.cluster, process.pid), what="PostgreSQL is ready")

    def stop(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(timeout=LIMIT)
        self.process = None

    def connect(self, **more: Any) -> "psycopg.Connection[tuple[Any, ...]]":
        return psycopg.connect(self.cluster.url, autocommit=True, **more)

    def statistics(self, user: str = postgres.NAME) -> PostgreSQLStatistics:
        """As psql finds it by options; the password is given apart."""
        arguments = ["-h", str(self.cluster.sockets), "-U", user, "-d", postgres.NAME]
        return PostgreSQLStatistics(arguments, self.cluster.password)


@pytest.fixture(scope="module")
def server() -> Iterator[OwnServer]:
    folder = Path(tempfile.mkdtemp(prefix="sb-"))  # pytest's own folders are closed to other users
    folder.chmod(0o711)
    own = OwnServer(postgres.prepare(places=some_places(folder), screen=Screen()))
    own.start()
    yield own
    own.stop()
    shutil.rmtree(folder)


def changed(before: SourceReading, after: SourceReading, key: str) -> float:
    return float(after.values[key] or 0) - float(before.values[key] or 0)


def test_counts_of_the_database_and_of_the_server_rise_with_the_work(server: OwnServer) -> None:
    source = server.statistics()
    before = source.read()
    with server.connect() as connection:
        connection.execute("CREATE TABLE counted (n int)")
        for n in range(50):
            connection.execute("INSERT INTO counted VALUES (%s)", [n])
        connection.execute("SELECT sum(n) FROM counted")
    after = eventually(
        lambda: found if changed(before, found := source.read(), "postgresql.database.tup_inserted") >= 50 else None,
        what="the session's counts are reported",
    )
    source.close()
    assert changed(before, after, "postgresql.database.xact_commit") >= 52
    assert changed(before, after, "postgresql.database.blks_hit") > 0
    assert changed(before, after, "postgresql.wal.position") > 50 * 50
    assert changed(before, after, "postgresql.uptime") > 0
    assert after.states == {"recovery": "primary"}
    assert (before.statements, after.statements) == (2, 1)
    promised = ("checkpointer.num_timed", "checkpointer.buffers_written", "bgwriter.buffers_clean", "waiting.lock")
    assert {f"postgresql.{name}" for name in promised} <= set(after.values)
    assert [hidden.what for hidden in after.hidden] == ["times of reads and writes"]
    assert "postgresql.database.blk_read_time" not in after.values, "nobody measured these: no zero"


def test_columns_of_older_versions_have_the_keys_of_the_newest() -> None:
    common = {"uptime": 1.5, "position": 10**15, "standbys": 0, "unreplayed": None, "sessions": None}
    database = {"datid": 5, "datname": "x", "xact_commit": 7, "checksum_failures": None, "stats_reset": "2026-11-20"}
    old = {
        **common,
        "database": database,
        "bgwriter": {"checkpoints_req": 3, "buffers_checkpoint": 4, "buffers_alloc": 5},
    }
    new = {
        **common,
        "database": database,
        "bgwriter": {"buffers_alloc": 5},
        "checkpointer": {"num_requested": 3, "buffers_written": 4},
    }
    assert numbers(old) == numbers(new)
    assert numbers(new)["postgresql.checkpointer.num_requested"] == 3
    assert numbers(new)["postgresql.wal.position"] == 10**15
    assert not {key for key in numbers(new) if key.endswith(("datid", "unreplayed_bytes", "checksum_failures"))}


def test_a_session_that_waits_for_a_row_is_seen_waiting(server: OwnServer) -> None:
    source = server.statistics()
    with server.connect() as first, server.connect() as second:
        first.execute("CREATE TABLE locked AS SELECT 1 AS n")
        with first.transaction():
            first.execute("UPDATE locked SET n = 2")
            waiting = Thread(target=second.execute, args=("UPDATE locked SET n = 3",))
            waiting.start()
            seen = eventually(
                lambda: found if (found := source.read().values)["postgresql.waiting.lock"] else None,
                what="the second session waits",
            )
        waiting.join(timeout=LIMIT)
    source.close()
    assert seen["postgresql.waiting.lock"] == 1
    assert seen["postgresql.sessions.active"] == 1
    assert seen["postgresql.sessions.idle_in_transaction"] == 1
    assert seen["postgresql.sessions.total"] == 2, "without the sampler's own"


def test_a_role_of_few_rights_sees_what_it_may_and_says_what_it_may_not(server: OwnServer) -> None:
    with server.connect() as connection:
        connection.execute(f"CREATE ROLE few LOGIN PASSWORD '{server.cluster.password}'")
        source = server.statistics("few")
        with connection.transaction():
            found = source.read()
        connection.execute("GRANT pg_monitor TO few")
        source.close()
        with connection.transaction():
            after = source.read()
        source.close()
    assert found.values["postgresql.database.xact_commit"]
    assert found.values["postgresql.sessions.total"] == 1
    assert not [key for key in found.values if key.startswith(("postgresql.waiting.", "postgresql.sessions.idle"))]
    assert "GRANT pg_monitor TO few" in {hidden.remedy for hidden in found.hidden}
    assert after.values["postgresql.sessions.idle_in_transaction"] == 1
    assert "GRANT pg_monitor TO few" not in {hidden.remedy for hidden in after.hidden}


def test_a_restarted_server_is_found_again_with_its_processes(server: OwnServer) -> None:
    source = server.statistics()
    processes = ProcessFamily(source.server_pid)
    with pytest.raises(SourceFailed, match="not found"):
        processes.read()
    before = source.read()
    assert server.process is not None
    processes.read()
    assert processes.pid == server.process.pid
    server.stop()
    with pytest.raises(SourceFailed, match=r"connection|terminating"):
        source.read()
    with pytest.raises(SourceFailed, match=r"refused|No such file"):
        source.read()
    with pytest.raises(SourceFailed):
        processes.read()
    server.start()
    after = source.read()
    source.close()
    assert changed(before, after, "postgresql.uptime") < 0
    assert server.process is not None
    assert parent_of(server.process.pid) is None, "its own parent is no PostgreSQL"


def test_work_of_sessions_that_ended_stays_counted(server: OwnServer) -> None:
    source = server.statistics()
    source.read()
    processes = ProcessFamily(source.server_pid)
    before = processes.read()
    with server.connect() as connection:
        during = eventually(
            lambda: _worked(connection, processes, before), what="the session took CPU time of 0.2 s or more"
        )
        assert (during.values["process.threads"] or 0) > (before.values["process.threads"] or 0)
    after = eventually(lambda: _fewer(processes, during), what="the session's process has ended")
    source.close()
    assert changed(during, after, "process.cpu.user") >= 0
    assert changed(before, after, "process.cpu.user") >= 0.2
    pids = [Path("/proc") / str(processes.pid)]
    assert memory(pids) > 1_000_000
    if os.geteuid() == 0:
        assert changed(before, after, "process.io.read_calls") > 0


def _worked(connection: Any, processes: ProcessFamily, before: SourceReading) -> SourceReading | None:
    connection.execute("SELECT count(*) FROM generate_series(1, 1000000)")
    found = processes.read()
    return found if changed(before, found, "process.cpu.user") >= 0.2 else None


def _fewer(processes: ProcessFamily, during: SourceReading) -> SourceReading | None:
    found = processes.read()
    return found if changed(during, found, "process.threads") < 0 else None


def test_the_password_is_on_no_command_line(server: OwnServer) -> None:
    source = server.statistics()
    source.read()
    lines = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                lines.append((entry / "cmdline").read_bytes())
            except OSError:
                continue  # it has ended
    source.close()
    assert any(b"psql" in line and str(server.cluster.sockets).encode() in line for line in lines)
    assert not any(server.cluster.password.encode() in line for line in lines)


def test_a_server_that_is_not_there_and_a_missing_client_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SourceFailed, match=r'host "127.0.0.1", port 1|127\.0\.0\.1.*refused'):
        PostgreSQLStatistics(["-h", "127.0.0.1", "-p", "1"]).read()
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SourceFailed, match="postgresql-client"):
        PostgreSQLStatistics(["-h", "127.0.0.1"]).read()
