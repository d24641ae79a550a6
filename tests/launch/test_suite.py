"""`make test` and what it needs of the machine."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from config.launch import environment, frontend, processes, suite
from config.launch.console import LaunchProblem, Screen
from config.launch.places import ROOT, Places
from lab import packages
from tests.launch.conftest import pids_in


@pytest.mark.parametrize("kept", [None, "#!/bin/sh\nexit 0\n"])
def test_packages_start_no_services_and_the_machines_own_policy_is_back(tmp_path: Path, kept: str | None) -> None:
    policy = tmp_path / "policy-rc.d"
    if kept is not None:
        policy.write_text(kept)
        policy.chmod(0o700)
    with packages.no_services(policy):
        assert subprocess.run([policy], check=False).returncode == 101
    assert list(tmp_path.iterdir()) == ([policy] if kept is not None else [])
    if kept is not None:
        assert (policy.read_text(), policy.stat().st_mode & 0o777) == (kept, 0o700)


def test_policy_comes_back_after_a_killed_installation(tmp_path: Path) -> None:
    policy = tmp_path / "policy-rc.d"
    policy.write_text("what the killed one had put there")
    (tmp_path / "policy-rc.d.before-splashboard").write_text("own")
    with packages.no_services(policy):
        pass
    assert [path.read_text() for path in tmp_path.iterdir()] == ["own"]


def test_ordinary_user_sees_which_tests_are_skipped(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite, "PACKAGES", {"no-such-program": "no-such-package"})
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.delenv("CI", raising=False)
    out = io.StringIO()
    suite.install_programs(places, Screen(out))
    assert out.getvalue() == (
        "  Not found: no-such-program. Their tests are skipped; as root on Debian they are installed.\n"
    )


PYTEST = """
import sys
from config.launch import places, processes, suite
from config.launch.console import Screen
processes.Signals.install()
sys.exit(suite.run_pytest(places.from_environment(), Screen(), sys.argv[1:]))
"""


def test_pytests_closing_line_is_the_last_and_its_code_is_ours(tmp_path: Path) -> None:
    """With a PostgreSQL and a Valkey of its own, whatever the variables say; nothing of it is left."""
    test = tmp_path / "test_stores.py"
    test.write_text(
        "import os, psycopg, redis\n"
        "def test_ours():\n"
        "    print('folder', os.environ['SPLASHBOARD_VAR'])\n"
        "    psycopg.connect(os.environ['DATABASE_URL']).close()\n"
        "    redis.Redis.from_url(os.environ['REDIS_URL']).ping()\n"
        "def test_fails():\n"
        "    assert False\n"
    )
    env = {**os.environ, "DATABASE_URL": "postgres://127.0.0.1:1/none", "REDIS_URL": "redis://127.0.0.1:1/0"}
    argv = [sys.executable, "-c", PYTEST, str(test), "-c", os.devnull, "-p", "no:django", "-s", "-n0"]
    argv += [f"--rootdir={tmp_path}"]
    said = subprocess.run(argv, env=env, cwd=ROOT, capture_output=True, text=True, check=False)
    lines = said.stdout.splitlines()
    assert said.returncode == 1, said
    assert "1 failed, 1 passed in" in lines[-1]
    assert said.stderr == ""
    [folder] = [Path(line.split()[-1]) for line in lines if "folder /" in line]
    assert not folder.exists()
    assert pids_in(folder) == []


def program(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.mark.parametrize(
    ("version", "is_taken"), [("v18.20.4", False), ("v20.19.0", True), ("v22.9.0", False), ("v24.1.0", True)]
)
def test_node_of_the_machine_is_taken_if_young_enough(tmp_path: Path, version: str, is_taken: bool) -> None:
    program(tmp_path / "bin/node", f"echo {version}")
    program(tmp_path / "bin/npm", "exit 0")
    found = frontend.find_node(path=str(tmp_path / "bin"))
    assert (found == tmp_path / "bin") == is_taken
    if not is_taken:
        said = subprocess.run([found / "node", "--version"], capture_output=True, text=True, check=True)
        assert said.stdout.startswith("v24.")


def test_npm_of_the_environment_runs_where_the_machine_has_no_node(tmp_path: Path) -> None:
    node = frontend.find_node(path=str(tmp_path))
    environ = frontend.environ(node) | {"PATH": f"{node}:/usr/bin:/bin"}
    said = subprocess.run([*frontend.npm(node), "--version"], env=environ, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    assert said.stdout.strip()[0].isdigit()


def test_programs_keep_what_python_compiled_even_where_the_shell_says_not_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    (tmp_path / "imported.py").write_text("")
    argv = [sys.executable, "-c", "import imported"]
    subprocess.run(argv, cwd=tmp_path, env=processes.clean_environment(), check=True)
    assert list((tmp_path / "__pycache__").glob("imported.*.pyc"))


def test_uv_gets_what_is_set_up_for_pip_unless_it_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"index-url": "https://mirror.example/simple", "cert": "/etc/ca.pem", "timeout": "9"}
    monkeypatch.setattr(environment, "_pip_settings", lambda: settings)
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
    environ = environment.uv_environment()
    assert environ["UV_DEFAULT_INDEX"] == "https://mirror.example/simple"
    assert environ["SSL_CERT_FILE"] == "/etc/ca.pem"
    monkeypatch.setenv("UV_INDEX_URL", "https://own.example/simple")
    assert "UV_DEFAULT_INDEX" not in environment.uv_environment()


def test_failing_npm_gets_a_sentence_and_a_log(places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "bin/node", "echo v24.0.0")
    program(tmp_path / "bin/npm", "echo npm error code ENOSPC; exit 1")
    monkeypatch.setattr(frontend, "BUILD_STAMP", tmp_path / "none")
    monkeypatch.setattr(frontend, "PACKAGES_STAMP", tmp_path / "none")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    sentence = (
        rf"Installing the front end's packages failed: the disk is full.* The full log is {places.log_of('frontend')}"
    )
    with pytest.raises(LaunchProblem, match=sentence):
        frontend.ensure(places=places, screen=Screen())
    assert processes.tail(places.log_of("frontend")) == ["npm error code ENOSPC"]


def test_every_night_makes_the_deep_tests_of_what_is_named() -> None:
    made = subprocess.run(
        ["make", "--dry-run", "nightly", "ARGS=tests/faults"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert made.stdout.startswith("HYPOTHESIS_PROFILE=deep ")
    assert made.stdout.split()[-2:] == ["test", "tests/faults"]
