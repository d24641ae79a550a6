"""`make run` as a whole: started, used, stopped, killed. The environment and the front end are there already."""

import http.client
import os
import re
import shutil
import signal
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from apps.core.server import restarts
from config.launch import supervisor
from config.launch.places import ROOT, Places
from tests.launch.conftest import leader, pids_in, some_places, variables
from tests.paths import EXAMPLES
from tests.support.waiting import LIMIT, eventually

pytestmark = pytest.mark.needs("make")


class Run:
    """A `make run`, in a session of its own as in a terminal of its own, on the port that it finds."""

    def __init__(self, places: Places, **more: str) -> None:
        self.said = ""
        self.process = subprocess.Popen(
            ["make", "run"], env=variables(places, **more), cwd=ROOT, text=True, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def await_ready(self) -> None:
        """Until the address was printed. Fails when it ends before."""
        self.await_line("Ctrl-C")

    def await_line(self, text: str) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said += line
            if text in line:
                return
        raise AssertionError(f"it ended: {self.said}")

    def rest(self) -> str:
        said, _ = self.process.communicate(timeout=LIMIT)
        return str(said)

    def link(self) -> str:
        found = re.search(r"Sign in   http://127\.0\.0\.1:\d+(/sign-in/\S+)", self.said)
        assert found, self.said
        return found[1]


@contextmanager
def running(places: Places, **more: str) -> Iterator[Run]:
    """`more`: variables of the environment. With a few examples: the study takes a minute of both cores."""
    run = Run(places, **{"SPLASHBOARD_EXAMPLES_FOLDER": str(EXAMPLES), **more})
    try:
        yield run
    finally:
        if run.process.poll() is None:
            os.killpg(run.process.pid, signal.SIGTERM)
            run.rest()
        assert run.process.stdout is not None
        run.process.stdout.close()


def get(places: Places, path: str) -> int:
    port = int((places.var / "port").read_text())
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.fixture(scope="module")
def prepared() -> Iterator[tuple[Places, str]]:
    """After a first run that Ctrl-C stopped; with what that run said."""
    folder = Path(tempfile.mkdtemp(prefix="sb-"))
    folder.chmod(0o711)
    places = some_places(folder)
    with running(places) as run:
        run.await_ready()
        assert get(places, "/api/v1/health/") == 200
        assert get(places, "/") == 200
        assert get(places, run.link()) == 200
        run.await_line("Example study: ")
        os.killpg(run.process.pid, signal.SIGINT)  # as a terminal does: to make and to the supervisor
        said = run.said + run.rest()
    yield places, said
    assert pids_in(folder) == []
    shutil.rmtree(folder)


def test_ctrl_c_leaves_nothing(prepared: tuple[Places, str]) -> None:
    places, said = prepared
    assert "Stopped." in said
    assert pids_in(places.var) == []


def test_first_run_shows_progress_with_time_and_count(prepared: tuple[Places, str]) -> None:
    _, said = prepared
    assert re.search(r"Preparing the database \.\.\. \d+ s", said)
    assert re.search(r"Preparing the database: done in \d+\.\d s", said)


def test_first_run_answers_while_it_restores_the_example_study(prepared: tuple[Places, str]) -> None:
    _, said = prepared
    running, examples = said.index("Splashboard is running."), said.index("Example study: ")
    assert "Examples  are being restored; Home says how far" in said[running:examples]
    found = re.match(r"Example study: (\d+) of (\d+) example runs restored", said[examples:])
    assert found
    assert found[1] == found[2]


@pytest.fixture(scope="module")
def again(prepared: tuple[Places, str]) -> Iterator[tuple[Places, Run]]:
    """Its second run, which the tests that use it share; the last of them stops it."""
    places, _ = prepared
    collected = times_of_static_files(places)
    assert "progress: " in places.log_of("prepare").read_text()
    assert collected
    with running(places) as run:
        run.await_ready()
        assert times_of_static_files(places) == collected
        yield places, run


def times_of_static_files(places: Places) -> dict[Path, int]:
    return {file: file.stat().st_mtime_ns for file in (places.var / "static").rglob("*")}


def test_second_run_prepares_nothing_again(again: tuple[Places, Run]) -> None:
    places, run = again
    assert get(places, run.link()) == 200
    assert "progress: " not in places.log_of("prepare").read_text()


def test_agent_is_registered_and_its_token_is_its_own(again: tuple[Places, Run]) -> None:
    places, _ = again
    assert (places.var / "agent.token").stat().st_mode & 0o777 == 0o600
    address = f"http://127.0.0.1:{(places.var / 'port').read_text().strip()}"
    config = tomllib.loads((places.var / "agent.toml").read_text())
    assert config["server"] == {"url": address, "token_file": "agent.token"}
    log = places.log_of("agent")
    eventually(lambda: f"works for {address}" in log.read_text(), what="the agent works")


def test_another_checkout_runs_beside_it_on_a_port_of_its_own(again: tuple[Places, Run], folder: Path) -> None:
    other = some_places(folder)
    with running(other):
        eventually((other.var / "port").exists, what="its stores answer")  # written once PostgreSQL and Valkey answer
        assert (other.var / "port").read_text() != (again[0].var / "port").read_text()
        assert get(again[0], "/api/v1/health/") == 200
    assert pids_in(folder) == []


def test_commands_typed_by_hand_reach_the_running_server(again: tuple[Places, Run]) -> None:
    places, run = again
    argv = ["make", "manage", "ARGS=create_token admin laptop"]
    said = subprocess.run(argv, env=variables(places), cwd=ROOT, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    assert len(said.stdout.split()[-1]) > 20
    second = subprocess.run(
        ["make", "run"], env=variables(places), cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert second.returncode != 0
    assert re.search(r"^splashboard: Splashboard is running already \(process \d+", second.stderr, re.M)
    stopped = subprocess.run(["make", "stop"], env=variables(places), cwd=ROOT, check=False, capture_output=True)
    assert stopped.returncode == 0
    run.rest()
    assert pids_in(places.var) == []


def test_only_what_people_wrote_makes_a_run_prepare_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "ROOT", tmp_path)
    for name in ("apps/runs/samples/loops.py", "config/urls.py", "requirements.txt", "frontend/dist/manifest.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("as it was")
    before = supervisor.prepared_from("postgres://")
    compiled = tmp_path / "apps/runs/__pycache__"
    compiled.mkdir()
    (compiled / "loops.cpython-311.pyc.139876").touch()
    (compiled / "loops.rates-17.py311.1.nbc").touch()  # numba's, with the first chart
    assert supervisor.prepared_from("postgres://") == before
    (tmp_path / "apps/runs/samples/loops.py").write_text("changed")
    assert supervisor.prepared_from("postgres://") != before


def test_kill_9_of_supervisor_leaves_nothing(prepared: tuple[Places, str]) -> None:
    places, _ = prepared
    with running(places) as run:
        run.await_ready()
        # web, its worker, Celery, its pool, beat, agent, PostgreSQL and its own, Valkey, guard, make, supervisor
        eventually(lambda: len(pids_in(places.var)) >= 16, what="all programs run")
        pid = int((places.var / "supervisor.lock").read_text().split()[0])
        os.kill(pid, signal.SIGKILL)
        run.rest()
        eventually(lambda: pids_in(places.var) == [], what="nothing of it runs")


def test_a_quiet_start_reads_and_does_no_work(prepared: tuple[Places, str]) -> None:
    places, _ = prepared
    with running(places, SPLASHBOARD_QUIET="yes") as run:
        run.await_ready()
        assert "Quiet" in run.said
        assert answers(places)
        for name in ("celery", "workers.agent"):
            assert leader(places, name) == 0
    with running(places, SPLASHBOARD_QUIET="maybe") as refused:
        assert "SPLASHBOARD_QUIET is 'maybe': set it to true or false." in refused.rest()


def test_kill_9_of_make_leaves_nothing(prepared: tuple[Places, str]) -> None:
    places, _ = prepared
    with running(places) as run:
        run.await_ready()
        run.process.kill()
        eventually(lambda: pids_in(places.var) == [], what="nothing of it runs")


def test_dead_programs_and_stores_are_started_again(prepared: tuple[Places, str]) -> None:
    places, _ = prepared
    with running(places) as run:
        run.await_ready()
        for name in ("granian", "celery.* beat", "postgres", "valkey|redis"):
            pid = leader(places, name)
            os.kill(pid, signal.SIGKILL)
            eventually(lambda name=name, pid=pid: leader(places, name) not in (0, pid), what=f"{name} runs again")  # type: ignore[misc]
        eventually(lambda: answers(places), what="the web server answers")
        os.killpg(run.process.pid, signal.SIGTERM)
        said = run.rest()
    assert "web ended unexpectedly (signal SIGKILL). The end of" in said
    assert "Starting postgres again in 1 s." in said
    assert [(kept.name, kept.why) for kept in restarts.read(places.var)] == [
        (name, "ended unexpectedly (signal SIGKILL)") for name in ("valkey", "postgres", "beat", "web")
    ]
    assert pids_in(places.var) == []


def answers(places: Places) -> bool:
    try:
        return get(places, "/api/v1/health/") == 200
    except OSError:
        return False
