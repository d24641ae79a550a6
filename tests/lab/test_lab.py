"""The lab on real servers."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import __main__ as lab
from lab import packages
from lab.mariadb import MariaDB
from lab.mha import MHA
from lab.packages import LabError, program
from tests.support.databases import StartMariaDB
from workers.agent.runtime import config as configuration


@pytest.fixture
def directory() -> Iterator[Path]:
    """A directory that the server's user can reach."""
    path = Path(tempfile.mkdtemp(prefix="splashboard-lab-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


def command(*arguments: str, var: Path) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "SPLASHBOARD_VAR": str(var)}
    argv = [sys.executable, "-m", "lab", *arguments]
    return subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.mariadb
def test_up_starts_two_systems_that_differ_in_one_setting_and_tells_the_agent(directory: Path) -> None:
    try:
        first = command("up", "mariadb-flush1", "mariadb-flush2", var=directory)
        assert first.returncode == 0, first.stderr
        again = command("up", "mariadb-flush1", var=directory)
        # The same process on the same port.
        assert again.stdout.splitlines()[-1].partition(" (")[0] in first.stdout
        (directory / "token").write_text("x")
        file = directory / "agent.toml"
        file.write_text('[server]\nurl = "http://127.0.0.1:1"\ntoken_file = "token"\n')
        config = configuration.load(file)
        assert list(config.systems) == ["mariadb-flush1", "mariadb-flush2"]
        one, two = (system.settings for system in config.systems.values())
        assert {name for name in one if one[name] != two[name]} == {"innodb_flush_log_at_trx_commit"}
        assert config.hardware[0].slug.startswith(f"local-{os.cpu_count()}vcpu-")
        assert config.hardware[0].vcpu == os.cpu_count()
        for name, system in config.systems.items():
            server = MariaDB(directory / "lab" / name)
            flush = server.sql("SELECT @@innodb_flush_log_at_trx_commit").strip()
            assert flush == system.settings["innodb_flush_log_at_trx_commit"] == name[-1]
            assert system.password == server.password
    finally:
        down = command("down", var=directory)
    assert "mariadb-flush1: is stopped" in down.stdout
    assert "mariadb-flush2: is stopped" in down.stdout
    assert list((directory / "agent.d").iterdir()) == []


@pytest.mark.mariadb
def test_a_server_comes_back_with_its_data_and_its_port(start_mariadb: StartMariaDB) -> None:
    server = start_mariadb()
    port = server.port
    server.sql("CREATE DATABASE kept")
    server.stop()
    assert server.pid is None
    server.start()
    assert server.port == port
    assert "kept" in server.sql("SHOW DATABASES")
    server.stop()


@pytest.mark.mariadb
def test_each_server_keeps_its_temporary_tables_in_a_folder_of_its_own(start_mariadb: StartMariaDB) -> None:
    """In one that they share, the start of one deletes the tables of another, also while that is being installed."""
    folders = {server.sql("SELECT @@tmpdir").strip() for server in (start_mariadb(), start_mariadb())}
    assert len(folders) == 2
    assert not any(Path(folder) == Path(tempfile.gettempdir()) for folder in folders)


@pytest.mark.mariadb
def test_nobody_gets_in_without_the_password(mariadb: MariaDB) -> None:
    client = program("mariadb")
    for user in ("root", "splashboard", "nobody"):
        argv = [client, "--no-defaults", "-h127.0.0.1", f"-P{mariadb.port}", f"-u{user}", "-e", "SELECT 1"]
        assert subprocess.run(argv, capture_output=True, check=False).returncode != 0, user
    assert mariadb.password_file.stat().st_mode & 0o777 == 0o600


@pytest.mark.mariadb
def test_a_setting_that_the_server_does_not_know_is_reported_in_its_own_words(directory: Path) -> None:
    with pytest.raises(LabError, match=r"mariadbd ended with code .*unknown variable 'no-such-setting=1'"):
        MariaDB(directory / "bad", settings={"no_such_setting": "1"}).start()


@pytest.mark.mariadb
def test_a_port_in_use_is_named(directory: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(LabError, match=f"port {port} of clash is in use; stop its program"):
            MariaDB(directory / "clash", port=port).start()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server as somebody else")
@pytest.mark.mariadb
def test_a_directory_that_the_servers_user_cannot_enter_is_named(directory: Path) -> None:
    directory.chmod(0o700)
    with pytest.raises(LabError, match=rf"user mysql cannot enter {directory}; chmod o\+x it"):
        MariaDB(directory / "closed").start()


def test_a_missing_program_is_one_sentence_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "FOLDERS", ())
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(LabError, match=r"haproxy is not installed; install it: apt-get install .* haproxy$"):
        program("haproxy")


def test_an_unknown_system_is_named_with_those_there_are(tmp_path: Path) -> None:
    answer = command("up", "oracle", var=tmp_path)
    assert answer.returncode == 2
    assert answer.stderr.startswith("the lab has no system oracle; it has single, ")


@pytest.mark.mariadb
def test_the_rds_like_server_flushes_both_logs_at_each_commit(directory: Path) -> None:
    try:
        assert command("up", "rds-like", var=directory).returncode == 0
        server = MariaDB(directory / "lab" / "rds-like")
        asked = "SELECT @@log_bin, @@sync_binlog, @@innodb_flush_log_at_trx_commit, @@performance_schema"
        assert server.sql(asked).split() == ["1", "1", "1", "1"]
    finally:
        assert command("down", "rds-like", var=directory).stdout == "rds-like: is stopped\n"


def test_the_server_offers_the_lab_as_a_command_of_its_own(tmp_path: Path) -> None:
    environment = {**os.environ, "SPLASHBOARD_VAR": str(tmp_path)}
    argv = [sys.executable, "manage.py", "lab", "--install", "status", "galera", "mha"]
    answer = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout) == (0, "galera: is stopped\nmha: is stopped\n")
    assert list(tmp_path.iterdir()) == []


def test_what_is_missing_is_named_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(packages, "missing", lambda names: [name for name in names if name in ("haproxy", "sshd")])
    assert lab.up([MHA(tmp_path)], tmp_path, install=False) == 1
    assert capsys.readouterr().err == (
        "mha: haproxy, sshd not installed; install: apt-get install --no-install-recommends haproxy openssh-server\n"
    )


def test_tools_that_measure_more_are_offered_and_nothing_fails_without_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(packages, "missing", list)
    lab.offer_extras(tmp_path, install=False)
    assert capsys.readouterr().out == (
        "without pt-query-digest no statement times where performance_schema is OFF; without perf no profiles of a "
        "server's CPU; if you want them: apt-get install --no-install-recommends percona-toolkit linux-perf\n"
    )

    def fails(names: list[str], log: Path) -> None:
        raise LabError(f"{', '.join(names)} could not be installed: see {log.name}")

    monkeypatch.setattr(packages, "may_install", lambda: True)
    monkeypatch.setattr(packages, "install", fails)
    lab.offer_extras(tmp_path, install=True)
    assert "pt-query-digest, perf could not be installed: see lab-apt.log; the systems" in capsys.readouterr().err


def test_too_little_memory_is_said_before_anything_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lab, "available_memory", lambda: 400)
    assert lab.up([MHA(tmp_path)], tmp_path, install=False) == 1
    assert "mha: it needs about 900 MiB of memory, 400 are free" in capsys.readouterr().err


@pytest.mark.mariadb
def test_a_newer_release_of_the_server_runs_beside_the_machines_own_with_equal_settings(directory: Path) -> None:
    try:
        for slug in ("release-old", "release-new"):
            answer = command("up", slug, var=directory)
            assert answer.returncode == 0, answer.stderr
        (directory / "token").write_text("x")
        (directory / "agent.toml").write_text('[server]\nurl = "http://127.0.0.1:1"\ntoken_file = "token"\n')
        systems = configuration.load(directory / "agent.toml").systems
        old, new = systems["release-old"], systems["release-new"]
        assert old.settings == new.settings
        servers = [lab.system_named(slug, directory).server for slug in ("release-old", "release-new")]  # type: ignore[attr-defined]
        versions = [tuple(map(int, server.sql("SELECT VERSION()").split("-")[0].split("."))) for server in servers]
        assert versions[0] < versions[1]
        # The agent recognises a server's process by this name.
        assert {Path(f"/proc/{server.pid}/comm").read_text().strip() for server in servers} == {"mariadbd"}
    finally:
        command("down", "release-old", "release-new", var=directory)
