"""A real agent process whose job is cancelled, lost, stopped or killed."""

import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from lab.mariadb import MariaDB
from tests.support.waiting import eventually
from tests.workers.agent.jobs import StartAgent, command_lines, ended, left_as_found, only_run, under_load
from tests.workers.agents import ConfigFile
from tests.workers.server import FakeServer, a_job

pytestmark = pytest.mark.mariadb


def test_cancelling_stops_the_load_cleans_up_and_says_so(
    server: FakeServer, single: ConfigFile, mariadb: MariaDB, start_agent: StartAgent
) -> None:
    server.jobs.append(a_job(threads=(2, 4), duration=60))
    with left_as_found(mariadb):
        start_agent()
        eventually(under_load(server), what="sysbench runs")
        server.cancel = True
        eventually(ended(server), what="the job has ended")
    assert server.job_ends() == [
        {"attempt": 1, "outcome": "cancelled", "reason": "cancelled by request", "skipped": [], "is_permanent": False}
    ]
    run = only_run(server)
    assert run.end is not None
    assert (run.end.outcome, run.end.reason) == ("cancelled", "cancelled by request")
    assert len(run.node("db1").clock)
    assert b"[ 1s ]" in run.artifacts["sysbench.txt"]


def test_a_lost_lease_stops_the_load_and_leaves_the_jobs_end_to_its_new_holder(
    server: FakeServer, single: ConfigFile, mariadb: MariaDB, start_agent: StartAgent
) -> None:
    server.jobs.append(a_job(duration=60))
    with left_as_found(mariadb):
        agent = start_agent()
        eventually(under_load(server), what="sysbench runs")
        server.script = lambda _method, path: 409 if path.endswith("/renew") else None
        eventually(lambda: only_run(server).end, what="the run has ended")
        server.script = lambda _method, _path: None
        eventually(lambda: not (single.spool / "journal.json").exists(), what="the agent has cleaned up")
    run = only_run(server)
    assert run.end is not None
    assert run.end.outcome == "cancelled"
    assert run.end.reason.startswith("lease lost: 409 scripted")
    assert server.job_ends() == []
    server.jobs.append(a_job())
    eventually(ended(server), what="the next job is done")
    assert agent.terminate() == 0


def test_sigterm_ends_the_job_in_good_order(
    server: FakeServer, single: ConfigFile, mariadb: MariaDB, start_agent: StartAgent
) -> None:
    server.jobs.append(a_job(duration=60))
    with left_as_found(mariadb):
        agent = start_agent()
        eventually(under_load(server), what="sysbench runs")
        assert agent.terminate() == 0
    run = only_run(server)
    assert run.end is not None
    assert (run.end.outcome, run.end.reason) == ("cancelled", "the agent was stopped")
    assert server.job_ends() == [
        {"attempt": 1, "outcome": "failed", "reason": "the agent was stopped", "skipped": [], "is_permanent": False}
    ]
    assert single.waiting() == []


def test_what_could_not_be_sent_before_sigterm_is_sent_at_the_next_start(
    server: FakeServer, single: ConfigFile, start_agent: StartAgent
) -> None:
    server.jobs.append(a_job(duration=60))
    agent = start_agent()
    eventually(under_load(server), what="sysbench runs")
    with server.away():
        assert agent.terminate() == 0
        assert single.waiting() != []
    start_agent()
    eventually(ended(server), what="the job's end has arrived")
    assert len(only_run(server).node("db1").clock)


def test_kill_9_loses_nothing_that_was_spooled_and_the_next_start_tidies_up(
    server: FakeServer, single: ConfigFile, mariadb: MariaDB, start_agent: StartAgent
) -> None:
    server.jobs.append(a_job(duration=60))
    with left_as_found(mariadb):
        agent = start_agent()
        eventually(under_load(server), what="sysbench runs")
        server.stop()
        sent = len(only_run(server).batches)
        eventually(lambda: len(single.waiting()) >= 3, what="batches wait in the spool")
        agent.kill()
        server.start()
        again = start_agent()
        eventually(ended(server), what="the job's end has arrived")
        eventually(lambda: "dropped leftovers of an earlier job" in again.log.read_text(), what="tables are dropped")
    reason = "the agent stopped without notice"
    assert server.job_ends() == [
        {"attempt": 1, "outcome": "failed", "reason": reason, "skipped": [], "is_permanent": False}
    ]
    run = only_run(server)
    assert run.end is not None
    assert (run.end.outcome, run.end.reason) == ("failed", reason)
    assert run.end.batches >= sent + 2  # one of those that waited may have been sent and not been confirmed
    assert len(run.node("db1").clock)  # every batch from the first to the last that was announced
    assert b"[ 1s ]" in run.artifacts["sysbench.txt"]
    assert not sysbench_processes(mariadb)
    server.jobs.append(a_job())
    eventually(ended(server, 2), what="the next job is done")
    assert server.job_ends()[1]["outcome"] == "succeeded"


@pytest.mark.parametrize("survives", [True, False], ids=["the agent survives", "the agent dies too"])
def test_a_server_left_frozen_by_a_probe_that_died_is_thawed(
    survives: bool, server: FakeServer, single: ConfigFile, mariadb: MariaDB, start_agent: StartAgent
) -> None:
    pid = mariadb.pid
    assert pid is not None
    freeze, thaw = (f'["sh", "-c", "kill -{name} {pid}"]' for name in ("STOP", "CONT"))
    with single.file.open("a") as stream:
        stream.write(f"[systems.controls.db1]\nfreeze = {freeze}\nthaw = {thaw}\n")
    fault = {"fault": "freeze_writer", "fault_at": 1, "hold": 600}
    server.jobs.append(a_job(tool="failover", parameters=fault, duration=700))
    try:
        agent = start_agent()
        eventually(lambda: is_frozen(pid), what="the server is frozen")
        if not survives:
            agent.kill()
        for probe in probes(single):
            os.kill(probe, signal.SIGKILL)
        if not survives:
            start_agent()
        eventually(lambda: not is_frozen(pid), what="the server is thawed")
    finally:
        os.kill(pid, signal.SIGCONT)
    eventually(ended(server), what="the job's end has arrived")
    assert server.job_ends()[0]["outcome"] == "failed"
    eventually(lambda: "splashboard_bench" not in mariadb.sql("SHOW DATABASES"), what="its schema is dropped")


def is_frozen(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def probes(config: ConfigFile) -> list[int]:
    """Process ids of its agent's failover probe."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # ended meanwhile
            if f"workers.agent.faults\0run\0--secrets\0{config.spool}".encode() in file.read_bytes():
                found.append(int(file.parent.name))
    return found


def sysbench_processes(mariadb: MariaDB) -> list[bytes]:
    return [command for command in command_lines() if f"--mysql-port={mariadb.port}".encode() in command]
