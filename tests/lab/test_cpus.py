"""Systems of the lab on some of the machine's CPUs."""

import os
from pathlib import Path

import pytest

from lab import __main__ as lab
from lab import cpus
from lab.packages import LabError
from tests.lab.test_lab import command, directory
from workers.agent.measure import nodes
from workers.agent.runtime import config as configuration
from workers.agent.samplers.host import HostCounters

__all__ = ["directory"]
needs_two = pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="this machine has one CPU")


def _affinity(pid: int) -> set[int]:
    return os.sched_getaffinity(pid)


@needs_two
@pytest.mark.mariadb
def test_a_server_runs_on_the_cpus_given_also_after_a_restart_by_a_control(directory: Path) -> None:
    try:
        answer = command("up", "--cpus", "1", "mariadb-flush2", var=directory)
        assert answer.returncode == 0, answer.stderr
        server = lab.system_named("mariadb-flush2", directory).server  # type: ignore[attr-defined]
        assert _affinity(server.pid) == {1}
        assert command("fault", "mariadb-flush2", "db1", "stop", var=directory).returncode == 0
        assert command("fault", "mariadb-flush2", "db1", "start", var=directory).returncode == 0
        assert _affinity(server.pid) == {1}

        (directory / "token").write_text("x")
        (directory / "agent.toml").write_text('[server]\nurl = "http://127.0.0.1:1"\ntoken_file = "token"\n')
        known = configuration.load(directory / "agent.toml")
        system, count = known.systems["mariadb-flush2"], os.cpu_count()
        assert system.cpus == {1}
        assert [machine.vcpu for machine in known.hardware] == [1]
        assert f"1 of {count} vCPU" in known.hardware[0].name

        refused = command("up", "--cpus", "all", "mariadb-flush2", var=directory)
        assert refused.returncode == 1
        assert "it runs on other CPUs; first: python -m lab down mariadb-flush2" in refused.stderr
    finally:
        command("down", "mariadb-flush2", var=directory)


@pytest.mark.parametrize("text", ["x", "1-", "0,", "4096"])
def test_cpus_that_are_no_list_or_not_there_are_refused(text: str) -> None:
    with pytest.raises(LabError, match=f"--cpus {text}: "):
        cpus.numbers(text)


@needs_two
def test_a_load_generator_on_cpus_of_its_own_has_its_own_cpu_counters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text("x")
    (tmp_path / "agent.toml").write_text(
        '[server]\nurl = "http://127.0.0.1:1"\ntoken_file = "token"\n'
        '[[systems]]\nslug = "s"\nplatform = "mariadb"\nhardware_class = "h"\nport = 3306\nuser = "u"\ncpus = [0]\n'
    )
    system = configuration.load(tmp_path / "agent.toml").systems["s"]
    for own, expected in (({1}, [1]), ({0, 1}, [])):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _pid, own=own: own)
        found = [each for each in nodes.own_host(system) if isinstance(each, HostCounters)]
        assert [each.read().values["host.cpus"] for each in found] == expected
