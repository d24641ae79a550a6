"""`make backup` and `make restore` with PostgreSQL of our own, which both start where nothing runs."""

import signal
import subprocess
import sys
from pathlib import Path

import psycopg

from config.launch import programs
from config.launch.places import PYTHON, ROOT, Places
from tests.launch.conftest import pids_in, some_places, variables
from tests.launch.test_stores import running, started
from tests.support.waiting import LIMIT


def launch(places: Places, *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    argv = [sys.executable, "-m", "config.launch", *map(str, arguments)]
    return subprocess.run(argv, env=variables(places), cwd=ROOT, capture_output=True, text=True, check=False)


def users(places: Places) -> list[tuple[object, ...]]:
    with started(places) as (url, _), psycopg.connect(url) as connection:
        return connection.execute("SELECT username, password FROM accounts_user").fetchall()


def test_a_running_installation_and_one_at_rest_are_backed_up_and_restored_into_an_empty_one(places: Places) -> None:
    one, other = some_places_in(places, "one"), some_places_in(places, "other")
    with running(one) as process:
        url, redis_url = ((one.var / name).read_text().strip() for name in ("database_url", "redis_url"))
        env = programs.environ(one, database_url=url, redis_url=redis_url)
        for arguments in (["migrate", "-v0"], ["set_user", "alice", "--role", "engineer"]):
            subprocess.run([PYTHON, "manage.py", *arguments], env=env, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        one.keep("port", "8000")
        done = launch(one, "backup", one.var / "while-running")
        assert done.returncode == 0, done.stderr
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=LIMIT)
    done = launch(one, "backup")
    assert done.returncode == 0, done.stderr
    (folder,), (earlier,) = (one.var / "backups").iterdir(), (one.var / "while-running").iterdir()
    for each in (folder, earlier):
        assert launch(other, "restore", "--verify", each).returncode == 0
    done = launch(other, "restore", folder)
    assert done.returncode == 0, done.stderr
    assert len(users(one)) == 1
    assert users(other) == users(one)
    again = launch(other, "restore", folder)
    assert again.returncode == 1
    assert "SPLASHBOARD_VAR=/a/new/folder" in again.stderr
    assert pids_in(places.var) == []


def some_places_in(places: Places, name: str) -> Places:
    folder = places.var / name
    folder.mkdir(mode=0o711)
    return some_places(folder)
