"""A session begins with a new start of its system's server: a real agent, a real MariaDB of the lab."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from lab import systems
from lab.single import Single
from tests.support.waiting import eventually
from tests.workers.agent.jobs import StartAgent, ended
from tests.workers.agents import ConfigFile
from tests.workers.server import FakeServer, SeenRun, a_job

pytestmark = pytest.mark.mariadb


@pytest.fixture
def lone(lab_directory: Path) -> Iterator[Single]:
    """A system of the lab, described in `lab_directory`/agent.d with its command."""
    system = Single(lab_directory, "single", "one server", {})
    system.up(lambda _: None)
    systems.register(lab_directory, system)
    try:
        yield system
    finally:
        system.server.kill()
        systems.register(lab_directory, system)


def _server_start(run: SeenRun) -> datetime:
    """As the server knows it: by the last Uptime."""
    assert run.opened is not None
    node = run.node("db1")
    uptimes = node.changing["mysql.status.Uptime"]
    t, uptime = next((t, value) for t, value in zip(node.clock, uptimes.values, strict=True) if value == value)
    return datetime.fromisoformat(run.opened.started_at) + timedelta(seconds=float(t - uptime))


def test_a_session_begins_with_a_new_start_of_the_server_and_its_runs_show_it(
    server: FakeServer, config: ConfigFile, lone: Single, lab_directory: Path, start_agent: StartAgent
) -> None:
    config.include(lab_directory)
    server.jobs += [a_job(), a_job(repetition=2, restart=True), a_job(repetition=3)]
    before = lone.server.pid
    start_agent()
    eventually(ended(server, 3), what="the jobs have ended")
    assert [end["outcome"] for end in server.job_ends()] == ["succeeded"] * 3, server.job_ends()
    assert server.hellos()[0]["health"]["restarts"].count("single") == 1
    assert lone.server.pid not in (None, before)
    runs = list(server.runs.values())
    took = [run.opened.restart_seconds for run in runs if run.opened]
    assert took[0] is None
    assert took[1] is not None
    assert took[1] > 0.1
    assert took[2] is None
    first, second, third = map(_server_start, runs)
    assert second - first > timedelta(seconds=3)
    assert abs(third - second) < timedelta(seconds=3)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ('["sh", "-c", "echo no such unit; exit 3"]', "restart: sh failed: no such unit"),
        ('["/nowhere/restart"]', "restart: /nowhere/restart cannot be started: No such file or directory"),
    ],
)
def test_a_restart_that_fails_is_the_jobs_reason_and_the_next_job_is_measured(
    server: FakeServer, single: ConfigFile, start_agent: StartAgent, command: str, reason: str
) -> None:
    with single.file.open("a") as stream:
        stream.write(f"[systems.controls]\nrestart = {command}\n")
    server.jobs += [a_job(restart=True), a_job()]
    start_agent()
    eventually(ended(server, 2), what="both jobs have ended")
    failed, measured = server.job_ends()
    assert (failed["outcome"], failed["reason"]) == ("failed", reason)
    assert measured["outcome"] == "succeeded"
    assert len(server.runs) == 1


def test_an_agent_without_the_command_says_so(server: FakeServer, single: ConfigFile, start_agent: StartAgent) -> None:
    server.jobs.append(a_job(restart=True))
    start_agent()
    eventually(ended(server), what="the job has ended")
    assert server.hellos()[0]["health"]["restarts"] == []
    assert "add `restart` to [systems.controls]" in server.job_ends()[0]["reason"]
    assert not server.runs
