"""A real agent process, a real MariaDB, a real sysbench; only the server is a test's own."""

import json
import os
import re
import shutil
from typing import Any

import numpy as np
import pytest

from lab.mariadb import MariaDB
from tests.support.databases import StartMariaDB
from tests.support.waiting import eventually
from tests.workers.agent.jobs import StartAgent, command_lines, ended, left_as_found, only_run, under_load
from tests.workers.agents import ConfigFile
from tests.workers.server import FakeServer, SeenRun, a_job
from workers.agent.measure.measurement import MARGIN
from workers.protocol import wire

pytestmark = pytest.mark.mariadb


def test_a_job_is_measured_uploaded_and_cleaned_up(
    server: FakeServer, single: ConfigFile, mariadb: MariaDB, start_agent: StartAgent
) -> None:
    job = a_job(threads=(1, 3), warmup=1, duration=2)
    server.jobs.append(job)
    with left_as_found(mariadb):
        agent = start_agent()
        eventually(ended(server), what="the job has ended")
    assert agent.terminate() == 0
    assert server.job_ends() == [
        {"attempt": 1, "outcome": "succeeded", "reason": "", "skipped": [], "is_permanent": False}
    ]
    assert list(server.runs) == [planned.uid for planned in job.runs]
    for planned, run in zip(job.runs, server.runs.values(), strict=True):
        assert run.opened is not None
        assert run.end is not None
        assert run.end.outcome == "succeeded", run.end.reason
        assert run.opened.load_level == planned.load_level
        assert run.opened.server_version.startswith(mariadb.sql("SELECT VERSION()").strip())
        assert run.opened.tool_version.startswith("sysbench 1.")
        (node,) = run.opened.nodes
        assert node.variables is not None
        assert node.variables["innodb_flush_log_at_trx_commit"] == "2"
        assert node.defaults is not None
        assert node.defaults["innodb_flush_log_at_trx_commit"] == "1"
        assert run.opened.data_bytes is not None
        assert run.opened.data_bytes > 10_000
        check_measured(run)
    assert mariadb.password not in everything_said(server)
    assert single.waiting() == []
    assert list((single.spool / "work").iterdir()) == []


def check_measured(run: SeenRun) -> None:
    """The samples fit the clock and sysbench's own count of what it did."""
    assert run.end is not None
    decoded = run.decoded()
    output = run.artifacts["sysbench.txt"]
    assert [(a.name, a.sha256, a.size) for a in run.end.artifacts] == [
        ("sysbench.txt", wire.checksum(output), len(output))
    ]
    assert "".join(f"{line}\n" for _, line in decoded.output).encode() == output
    start, end = run.end.measured_from, run.end.measured_to
    assert start is not None
    assert end is not None
    (load,) = [event for event in decoded.events if event.kind == "load"]
    assert load.ends_at is not None
    assert load.starts_at + 1 == pytest.approx(start, abs=0.001)
    # As planned, 2 s; less where a busy machine read late that the load had begun.
    assert end == pytest.approx(min(start + 2, load.ends_at), abs=0.001)
    node = run.node("db1")
    # A second of sampling on either side of the load.
    assert load.starts_at >= MARGIN
    assert node.clock[0] < load.starts_at < load.ends_at < node.clock[-1]
    # A busy machine may skip a second, never make up for it.
    assert all(np.diff(node.clock) > 0)
    assert len(node.clock) <= node.clock[-1] + 1
    names = {*node.changing, *node.constants}
    assert len([name for name in names if name.startswith("mysql.status.")]) > 450
    assert {"host.cpu.user", "host.pressure.cpu.some", "process.rss", "process.cpu.user"} <= names
    commits = node.changing["mysql.status.Com_commit"]
    observed = node.clock[commits.observed]
    assert observed[0] < load.starts_at < load.ends_at < observed[-1]
    counted = int(np.ptp(commits.values[commits.observed]))
    transactions = sum(int(n) for n in re.findall(rb"transactions: +(\d+)", output))
    assert counted == pytest.approx(transactions, rel=0.02, abs=10)


def everything_said(server: FakeServer) -> str:
    bodies = [r.body for r in server.received]
    for run in server.runs.values():
        bodies += [b"\n".join(wire.read_lines(batch)) for batch in run.batches.values()]
    return b"\n".join(bodies).decode(errors="replace")


def test_the_password_is_not_in_the_process_list_either(
    server: FakeServer, single: ConfigFile, mariadb: MariaDB, start_agent: StartAgent
) -> None:
    server.jobs.append(a_job(duration=60))
    start_agent()
    eventually(under_load(server), what="sysbench runs")
    commands = command_lines()
    assert any(b"oltp_write_only" in command for command in commands)
    assert not any(mariadb.password.encode() in command for command in commands)
    secrets = single.spool / "work" / "sysbench.secrets"
    assert secrets.stat().st_mode & 0o777 == 0o600
    server.cancel = True
    eventually(ended(server), what="the job has ended")
    assert not secrets.exists()


def test_hello_names_what_can_be_reached_and_what_cannot(
    server: FakeServer, single: ConfigFile, start_agent: StartAgent
) -> None:
    single.add_system("gone", port=1, password="x")
    start_agent()
    eventually(server.hellos, what="a hello")
    hello = server.hellos()[0]
    (system,) = hello["systems"]
    assert (system["slug"], system["platform"], system["hardware_class"]) == ("single", "mariadb", "box")
    assert hello["labels"] == ["system:single"]
    assert hello["hardware"][0]["memory_bytes"] == 4096 * 2**20
    assert "system gone at 127.0.0.1:1" in hello["health"]["unreachable"]["gone"]
    assert hello["health"]["spool_messages"] == 0
    assert hello["health"]["tools"]["sysbench"].startswith("sysbench 1.")


def test_a_system_added_to_the_configuration_is_greeted_without_a_restart(
    server: FakeServer, config: ConfigFile, mariadb: MariaDB, start_agent: StartAgent
) -> None:
    agent = start_agent()
    eventually(server.hellos, what="a hello without systems")
    config.file.write_text(config.file.read_text() + "\n[[broken")
    eventually(lambda: "is not TOML" in agent.log.read_text(), what="the bad file is complained of")
    config.file.write_text(config.file.read_text().replace("\n[[broken", ""))
    config.add_system("single", port=mariadb.port, password=mariadb.password)
    eventually(lambda: server.hellos()[-1]["systems"], what="a hello with the new system")


def test_a_whole_job_survives_the_servers_absence(
    server: FakeServer, single: ConfigFile, mariadb: MariaDB, start_agent: StartAgent
) -> None:
    server.jobs.append(a_job(duration=2))
    with left_as_found(mariadb):
        start_agent()
        eventually(lambda: not server.jobs, what="the job is claimed")
        with server.away():
            eventually(single.holds_end_of_run, what="the run's end waits in the spool")
        eventually(ended(server), what="the job's end has arrived")
    assert server.job_ends()[0]["outcome"] == "succeeded"
    assert len(only_run(server).node("db1").clock)


def test_a_schema_in_use_fails_the_job_and_is_not_touched(
    server: FakeServer, single: ConfigFile, mariadb: MariaDB, start_agent: StartAgent
) -> None:
    mariadb.sql("CREATE DATABASE splashboard_bench; CREATE TABLE splashboard_bench.sbtest1 AS SELECT 7 AS precious")
    try:
        server.jobs.append(a_job())
        with left_as_found(mariadb):
            start_agent()
            eventually(ended(server), what="the job has ended")
        assert mariadb.sql("SELECT precious FROM splashboard_bench.sbtest1") == "7\n"
    finally:
        mariadb.sql("DROP DATABASE splashboard_bench")
    (end,) = server.job_ends()
    assert end["outcome"] == "failed"
    assert "schema splashboard_bench of system single already holds 1 tables" in end["reason"]
    assert server.runs == {}


def test_a_job_whose_account_may_not_create_the_schema_is_not_to_be_tried_again(
    server: FakeServer, single: ConfigFile, mariadb: MariaDB, start_agent: StartAgent
) -> None:
    mariadb.sql("CREATE USER narrow@'%' IDENTIFIED BY 'n'; GRANT ALL ON other.* TO narrow@'%'")
    try:
        text = single.file.read_text()
        single.file.write_text(text.replace('user = "splashboard"', 'user = "narrow"').replace(mariadb.password, "n"))
        server.jobs.append(a_job())
        start_agent()
        eventually(ended(server), what="the job has ended")
    finally:
        mariadb.sql("DROP USER narrow@'%'")
    (end,) = server.job_ends()
    assert (end["outcome"], end["is_permanent"]) == ("failed", True)
    assert "cannot create schema splashboard_bench: 1044 Access denied" in end["reason"]


def test_a_job_whose_load_tool_is_denied_is_not_to_be_tried_again(
    server: FakeServer, single: ConfigFile, mariadb: MariaDB, start_agent: StartAgent
) -> None:
    rights = "SELECT, INSERT, CREATE, DROP, INDEX"  # sysbench's run updates rows
    mariadb.sql(f"CREATE USER narrow@'%' IDENTIFIED BY 'n'; GRANT {rights} ON splashboard_bench.* TO narrow@'%'")
    try:
        text = single.file.read_text()
        single.file.write_text(text.replace('user = "splashboard"', 'user = "narrow"').replace(mariadb.password, "n"))
        server.jobs.append(a_job())
        start_agent()
        eventually(ended(server), what="the job has ended")
    finally:
        mariadb.sql("DROP USER narrow@'%'")
    (end,) = server.job_ends()
    assert (end["outcome"], end["is_permanent"]) == ("failed", True)
    assert "1142" in end["reason"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"system": "other"}, "the agent's configuration has no system 'other'"),
        ({"tool": "ycsb"}, "this agent has no tool 'ycsb'"),
        ({"parameters": {"test": "oltp_insert", "tables": 1}}, "parameter table_size is missing"),
    ],
)
def test_a_job_that_cannot_be_done_fails_with_its_reason(
    server: FakeServer,
    single: ConfigFile,
    mariadb: MariaDB,
    start_agent: StartAgent,
    fields: dict[str, Any],
    words: str,
) -> None:
    server.jobs.append(a_job(**fields))
    with left_as_found(mariadb):
        start_agent()
        eventually(ended(server), what="the job has ended")
    assert server.job_ends()[0]["outcome"] == "failed"
    assert words in server.job_ends()[0]["reason"]


def test_a_job_on_a_database_that_is_away_withdraws_its_label_before_it_ends(
    server: FakeServer, config: ConfigFile, start_mariadb: StartMariaDB, start_agent: StartAgent
) -> None:
    database = start_mariadb()
    config.add_system("single", port=database.port, password=database.password)
    start_agent()
    eventually(lambda: server.hellos() and server.hellos()[-1]["labels"], what="a hello with the system")
    database.kill()
    server.jobs.append(a_job())
    eventually(ended(server), what="the job has ended")
    paths = [received.path for received in server.stored()]
    (end,) = [place for place, path in enumerate(paths) if path.startswith("agent/jobs/") and path.endswith("/end")]
    before = sum(path == "agent/hello" for path in paths[:end])
    assert server.hellos()[before - 1]["labels"] == []
    database.start()
    eventually(lambda: server.hellos()[-1]["labels"], what="the label is back well before a minute is over")
    database.stop()


def test_a_server_that_dies_under_load_fails_the_run_and_its_tables_go_once_it_is_back(
    server: FakeServer, config: ConfigFile, start_mariadb: StartMariaDB, start_agent: StartAgent
) -> None:
    database = start_mariadb()
    config.add_system("single", port=database.port, password=database.password)
    server.jobs.append(a_job(duration=60))
    with left_as_found(database):
        start_agent()
        eventually(under_load(server), what="sysbench runs")
        database.kill()
        eventually(lambda: only_run(server).end, what="the run has ended")
        database.start()
        eventually(ended(server), what="the job has ended")
    run = only_run(server)
    assert run.end is not None
    assert run.end.outcome == "failed"
    assert re.search(r"sysbench: .*(2013|Lost connection|gone away)|sysbench crashed", run.end.reason)
    decoded = run.decoded()
    failed = [event for event in decoded.events if event.kind == "sampler_error" and event.label.startswith("mysql: ")]
    assert {event.node for event in failed} == {"db1"}
    # The machine is still seen while its server is not.
    host, server_s = (run.node("db1").column(key) for key in ("host.cpu.user", "mysql.status.Questions"))
    assert host is not None
    assert server_s is not None
    assert any(host.observed & ~server_s.observed)
    database.stop()


def test_a_refused_run_ends_the_job_because_nothing_of_it_could_be_kept(
    server: FakeServer, single: ConfigFile, mariadb: MariaDB, start_agent: StartAgent
) -> None:
    def refuse(method: str, path: str) -> int | None:
        return 422 if method == "PUT" and re.fullmatch(r"agent/runs/[0-9a-f-]+", path) else None

    server.script = refuse
    server.jobs.append(a_job(duration=60))
    with left_as_found(mariadb):
        start_agent()
        eventually(ended(server), what="the job has ended")
    end = server.job_ends()[0]
    assert end["outcome"] == "failed"
    assert end["reason"].startswith("the server refused the run: PUT agent/runs/")
    reasons = [file.read_text() for file in (single.spool / "refused").glob("*.reason")]
    assert any("422 scripted" in reason for reason in reasons)


def test_a_disk_that_fills_up_ends_the_run_with_the_remedy_and_no_more_jobs_are_claimed(
    server: FakeServer, single: ConfigFile, mariadb: MariaDB, start_agent: StartAgent
) -> None:
    free = shutil.disk_usage(single.file.parent).free // 2**20
    # Far more than what others write and delete on this disk meanwhile; nothing is written.
    spare = min(4000, free // 4)
    text = single.file.read_text()
    single.file.write_text(text.replace("minimum_free_mb = 1\n", f"minimum_free_mb = {free - spare}\n"))
    server.jobs.append(a_job(duration=60))
    filler = single.file.parent / "filler"
    with left_as_found(mariadb):
        agent = start_agent()
        eventually(under_load(server), what="sysbench runs")
        with filler.open("wb") as stream:
            os.posix_fallocate(stream.fileno(), 0, 2 * spare * 2**20)
        eventually(ended(server), what="the job has ended")
    server.jobs.append(a_job())
    eventually(lambda: "no job is claimed" in agent.log.read_text(), what="no job is claimed any more")
    run = only_run(server)
    assert run.end is not None
    assert run.end.outcome == "failed"
    assert re.search(r"only \d+ MB are free .*; free space there or lower agent\.minimum_free_mb", run.end.reason)
    assert len(run.node("db1").clock)
    filler.unlink()
    eventually(ended(server, 2), what="the next job is done once there is room")


def test_progress_says_what_the_agent_does(server: FakeServer, single: ConfigFile, start_agent: StartAgent) -> None:
    server.jobs.append(a_job(threads=(1, 2), duration=1))
    start_agent()
    eventually(ended(server), what="the job has ended")
    said = [json.loads(r.body)["progress"] for r in server.stored("/renew")]
    assert "1 thread (1 of 2)" in said
    assert "2 threads (2 of 2)" in said
