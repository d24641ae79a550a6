"""How `make test` runs the tests: what is tried once more, what is skipped, and which process runs what."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.test.utils import override_settings

from config.launch import guard
from config.launch.places import ROOT
from tests import runner
from tests.support.waiting import eventually

# Fails the first time it is run.
FAILS_ONCE = """
import pathlib, pytest

@pytest.mark.{marker}
@pytest.mark.parametrize("number", range({tests}))
def test_it(number):
    once = pathlib.Path(__file__).with_name(f"{marker}{{number}}")
    seen = once.exists()
    once.touch()
    assert seen, "the first time"
"""


def pytest_run(folder: Path, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    (folder / "conftest.py").write_text('pytest_plugins = ["tests.runner"]')
    argv = [sys.executable, "-m", "pytest", str(folder), "-c", os.devnull, f"--rootdir={folder}", "-p", "no:django"]
    argv += ["-p", "no:cacheprovider", "-rf"]
    argv += ["-W", "ignore::pytest.PytestUnknownMarkWarning", *arguments]
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "CI"))}
    return subprocess.run(argv, env=env | variables, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("tests", "code"), [(runner.RETRIES, 0), (runner.RETRIES + 1, 1)])
def test_tests_on_real_systems_are_tried_once_more_and_named_and_too_many_fail_the_run(
    tmp_path: Path, tests: int, code: int
) -> None:
    (tmp_path / "test_real.py").write_text(FAILS_ONCE.format(marker="mariadb", tests=tests))
    said = pytest_run(tmp_path, "-n2", "--dist=loadscope", CI="true")
    assert said.returncode == code, said.stdout
    assert f"tried once more: {tests} (at most {runner.RETRIES})" in said.stdout
    named = said.stdout.partition("tried once more")[2]
    assert "test_real.py::test_it[0]" in named
    assert "AssertionError: the first time" in named
    assert f"{tests} passed" in said.stdout.splitlines()[-1]


def test_no_other_test_is_tried_again(tmp_path: Path) -> None:
    (tmp_path / "test_other.py").write_text(FAILS_ONCE.format(marker="browser", tests=1))
    said = pytest_run(tmp_path, CI="true")
    assert said.returncode == 1
    assert "1 failed in" in said.stdout.splitlines()[-1]


def test_what_lacks_a_program_is_one_line_with_the_command_that_installs_it(tmp_path: Path) -> None:
    (tmp_path / "test_page.py").write_text(FAILS_ONCE.format(marker="browser", tests=3))
    said = pytest_run(tmp_path, PATH="/nonexistent")
    assert said.returncode == 0, said.stdout
    line = "Skipped for want of a program: 3. To run them: apt-get install --no-install-recommends chromium"
    assert line in said.stdout.splitlines()
    assert "3 skipped in" in said.stdout.splitlines()[-1]


def test_a_module_and_all_that_share_a_cluster_run_in_one_process(tmp_path: Path) -> None:
    for number, mark in enumerate(["galera", "other", "other", "galera"]):
        lines = ["import os, pathlib, pytest", f"pytestmark = pytest.mark.{mark}"]
        write = f"pathlib.Path(__file__).with_name(f'{mark}{number}.{{name}}').write_text(str(os.getpid()))"
        lines += ["@pytest.mark.parametrize('name', 'ab')", f"def test_it(name): {write}"]
        (tmp_path / f"test_{number}.py").write_text("\n".join(lines))
    said = pytest_run(tmp_path, "-n2", "--dist=loadscope", CI="true")
    assert said.returncode == 0, said.stdout
    process = {path.name: path.read_text() for path in tmp_path.glob("*.[ab]")}
    assert len(process) == 8
    assert len({process[name] for name in ("galera0.a", "galera0.b", "galera3.a", "galera3.b")}) == 1
    assert process["other1.a"] == process["other1.b"]
    assert process["other2.a"] == process["other2.b"]


@pytest.mark.parametrize(
    ("url", "own"),
    [
        ("unix://:pw@/var/valkey/socket?db=0", "unix://:pw@/var/valkey/socket?db=4"),
        ("redis+socket://:pw@/var/socket?virtual_host=0", "redis+socket://:pw@/var/socket?virtual_host=4"),
        ("redis://127.0.0.1:6379/0", "redis://127.0.0.1:6379/4"),
    ],
)
def test_each_process_of_the_tests_has_a_broker_of_its_own(monkeypatch: pytest.MonkeyPatch, url: str, own: str) -> None:
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw3")
    monkeypatch.setenv("REDIS_URL", url)
    with override_settings(REDIS_URL=url, CELERY_BROKER_URL=url):
        runner.own_broker()
        assert (settings.REDIS_URL, settings.CELERY_BROKER_URL, os.environ["REDIS_URL"]) == (own, own, own)


IN_FRONT = """
import os, sys
from config.launch import processes, suite
processes.Signals.install()
sys.exit(suite.in_front(sys.argv[1:], os.environ))
"""
# Starts a program as the lab starts its servers, and lasts.
STARTS = """
import pathlib, time
from lab import daemons

def test_it():
    here = pathlib.Path(__file__).parent
    started = daemons.spawn(["sleep", "1000"], cwd=here)
    (here / "started").write_text(str(started.pid))
    time.sleep(1000)
"""


# A parent that ends while its child is looked for: after the list was made, before it is asked whether it has ended.
ENDS_MEANWHILE = """
import os, signal, subprocess
from config.launch import guard, orphans

listed = orphans.children
with orphans.adopted() as left:
    argv = ["sh", "-c", "sleep 1000 & echo $!; wait"]
    parent = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    child = int(parent.stdout.readline())

    def children():
        found = listed()
        if parent.pid in found:
            os.kill(parent.pid, signal.SIGKILL)
            os.waitid(os.P_PID, parent.pid, os.WEXITED | os.WNOWAIT)
        return found

    orphans.children = children
    print(left.reap() == [child])
print(guard.started_at(child))
"""


def test_the_child_of_a_process_that_ends_meanwhile_is_stopped_too() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ENDS_MEANWHILE], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["True", "-"]


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_what_interrupted_tests_started_is_stopped(tmp_path: Path, signum: signal.Signals) -> None:
    """The signal reaches the runner alone, as from `kill`; the process with the test is killed while it waits."""
    (tmp_path / "test_server.py").write_text(STARTS)
    argv = [sys.executable, "-c", IN_FRONT, sys.executable, "-m", "pytest", str(tmp_path), "-c", os.devnull]
    argv += ["-p", "no:django", "-p", "no:cacheprovider", "-n1", f"--rootdir={tmp_path}"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    whole = subprocess.Popen(argv, env=env, cwd=ROOT, stdout=subprocess.DEVNULL, start_new_session=True)
    file = tmp_path / "started"
    started = int(eventually(lambda: file.read_text() if file.exists() else "", what="the test has begun"))
    assert guard.started_at(started) != "-"
    whole.send_signal(signum)
    whole.wait()
    try:
        assert guard.started_at(started) == "-"
    finally:
        guard.signal_group(started, signal.SIGKILL)
