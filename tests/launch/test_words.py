"""What is printed: steps, and problems as one sentence with the remedy."""

import errno
import io
import os
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from config.launch import commands, environment, places, ports, processes, supervisor
from config.launch.console import LaunchProblem, LaunchStep, Screen
from config.launch.places import ROOT
from tests.launch.conftest import some_places, variables
from tests.support.users import another_user


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("error: failed to write to /x: No space left on device (os error 28)", "the disk is full: free some space"),
        ("npm error code ENOSPC", "the disk is full: free some space"),
        ("error: command 'gcc' failed: No such file or directory", "install one .*apt-get install build-essential"),
        ("  error: linker `cc` not found", "install one .*apt-get install build-essential"),
        ("error: Request failed: dns error: failed to lookup address", "check the network, proxy and certificate"),
        ("npm error code ENOTFOUND", "check the network, proxy and certificate"),
        ("Hash mismatch for `numpy==2.4.6`", "check the package index or mirror"),
        ("error: something nobody foresaw", "last line of its output: error: something nobody foresaw"),
    ],
)
def test_failed_step_names_the_cause_the_remedy_and_the_log(tmp_path: Path, line: str, remedy: str) -> None:
    log = tmp_path / "packages.log"
    log.write_text(f"Resolved 143 packages\n{line}\n\n")
    problem = processes.failure("Installing Python packages", log)
    with pytest.raises(
        LaunchProblem, match=rf"^Installing Python packages failed: .*{remedy}.* The full log is {log}\.$"
    ):
        raise problem


def test_full_disk_is_known_even_if_the_log_had_no_room_for_the_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "FULL", 2**62)
    with pytest.raises(LaunchProblem, match=r"^Starting failed: the disk is full: free some space"):
        raise processes.failure("Starting", tmp_path / "cut.log")


def test_failing_program_leaves_its_words_in_the_log(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    code = processes.run(["sh", "-c", "echo out; echo err >&2; exit 3"], step=LaunchStep(Screen(), "x"), log=log)
    assert code == 3
    assert log.read_text() == "out\nerr\n"


def test_full_disk_in_our_own_writing_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device", "/var/x")

    monkeypatch.setattr(supervisor, "run", full)
    assert commands.main(["run"]) == 1
    assert capsys.readouterr().err == "splashboard: The disk is full (/var/x): free some space and try again.\n"


def test_too_little_space_is_said_before_anything_is_fetched(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "NEEDS_BYTES", 2**62)
    monkeypatch.setattr(environment, "STAMP", folder / "no-stamp")
    with pytest.raises(LaunchProblem, match=r"MB free and the set-up needs .* MB: free some space"):
        environment.ensure(places=some_places(folder), screen=Screen())


def test_start_on_a_nearly_full_disk_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "NEEDS_BYTES", 2**62)
    with pytest.raises(LaunchProblem, match=rf"The disk of {folder} has .* and a start needs .* MB: free some space"):
        supervisor.run(some_places(folder), Screen())
    assert not (folder / "postgres").exists()


def test_python_without_venv_and_pip_gets_a_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "STAMP", folder / "no-stamp")
    monkeypatch.setattr(environment, "_has", lambda _module: False)
    with pytest.raises(LaunchProblem, match=r"venv module is missing .* apt-get install python3\.\d+-venv"):
        environment.ensure(places=some_places(folder), screen=Screen())


def test_unreachable_index_gets_a_sentence_and_a_log(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "STAMP", folder / "no-stamp")
    monkeypatch.setattr(environment, "_create", None)  # it must not come to that
    for name, value in {
        "PIP_INDEX_URL": "http://127.0.0.1:1/simple",
        "PIP_NO_INDEX": "",
        "PIP_FIND_LINKS": "",
        "PIP_RETRIES": "1",
        "PIP_NO_CACHE_DIR": "1",
    }.items():
        monkeypatch.setenv(name, value)
    setup = some_places(folder)
    with pytest.raises(LaunchProblem, match=rf"Installing uv failed: .*network.* The full log is {setup.log_of('uv')}"):
        environment.ensure(places=setup, screen=Screen())
    assert "127.0.0.1" in setup.log_of("uv").read_text()


def test_old_python_is_refused_with_which_is_needed() -> None:
    old = "import sys; sys.version_info = (3, 8, 0); sys.argv = ['x']; import runpy; runpy.run_module('config.launch')"
    said = subprocess.run([sys.executable, "-c", old], cwd=ROOT, capture_output=True, text=True, check=False)
    assert said.returncode == 1
    assert said.stderr.count("\n") == 1
    assert "needs Python 3.11 or later" in said.stderr
    assert "is Python 3.8: install python3.11" in said.stderr


def test_bootstrap_needs_the_standard_library_only() -> None:
    """-S leaves site-packages out, so every import of ours must be there without them."""
    argv = [sys.executable, "-S", "-m", "config.launch", "--help"]
    said = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SPLASHBOARD_PORT", "http"),
        ("SPLASHBOARD_PORT", "70000"),
        ("SPLASHBOARD_PORT", "0"),
        ("SPLASHBOARD_WEB_WORKERS", "-1"),
        ("SPLASHBOARD_BINARIES", "docker"),
    ],
)
def test_variable_without_sense_is_named(name: str, value: str) -> None:
    with pytest.raises(LaunchProblem, match=name):
        places.from_environment({name: value})


def test_defaults_need_no_variable() -> None:
    setup = places.from_environment({})
    assert (setup.host, setup.port) == ("127.0.0.1", 0)
    assert setup.var == ROOT / "var"


@pytest.mark.parametrize(("host", "address"), [("0.0.0.0", "http://127.0.0.1:81"), ("::1", "http://[::1]:81")])
def test_address_is_one_that_a_browser_here_can_open(host: str, address: str) -> None:
    assert places.from_environment({"SPLASHBOARD_HOST": host, "SPLASHBOARD_PORT": "81"}).address == address


def test_foreign_host_is_no_address_of_this_machine() -> None:
    with pytest.raises(LaunchProblem, match=r"SPLASHBOARD_HOST is 203\.0\.113\.1, which is no address of this machine"):
        ports.take("203.0.113.1", 0)


def test_run_with_its_port_taken_says_one_sentence_and_starts_nothing(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        setup = replace(some_places(folder), port=taken.getsockname()[1])
        argv = [sys.executable, "-m", "config.launch", "run"]
        said = subprocess.run(argv, env=variables(setup), cwd=ROOT, capture_output=True, text=True, check=False)
    assert said.returncode == 1
    assert said.stdout == ""
    assert said.stderr == (
        f"splashboard: Port {setup.port}, which the web server is to take, is in use by another program: stop that "
        f"program, choose another port with `SPLASHBOARD_PORT={setup.port + 1} make run`, or let `make run` find one: "
        "unset SPLASHBOARD_PORT.\n"
    )
    assert not (folder / "postgres").exists()


def test_a_port_in_use_is_passed_over_where_none_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        monkeypatch.setattr(ports, "FIRST", number)
        monkeypatch.setattr(ports, "LAST", number + 200)
        first, second = ports.take("127.0.0.1", 0), ports.take("127.0.0.1", 0)
        assert number < first.number < second.number  # one that another run has taken and not bound yet is not free
        first.release()
        again = ports.take("127.0.0.1", 0)
        assert again.number == first.number
        for port in (second, again):
            port.release()


def test_folder_that_cannot_be_written_gets_a_sentence() -> None:
    # The kernel's own: not even root may make a folder there.
    with pytest.raises(LaunchProblem, match=r"cannot be written by this user: .*SPLASHBOARD_VAR"):
        places.make_folders(places.from_environment({"SPLASHBOARD_VAR": "/sys/splashboard"}))


def test_artifacts_of_another_user_are_refused_with_the_command_that_gives_them_back(tmp_path: Path) -> None:
    folder = tmp_path / "artifacts"
    places.require_artifacts(folder)
    part = folder / "d0"
    part.mkdir(parents=True)
    (part / "d0ab").write_text("a result")
    places.require_artifacts(folder)
    for each in (*tmp_path.parents, tmp_path):
        if each.stat().st_uid == os.geteuid() and each.stat().st_mode & 0o077 == 0:
            each.chmod(0o711)
    for each, closed in ((folder, 0o700), (part, 0o700), (part / "d0ab", 0o600)):
        usual = each.stat().st_mode
        each.chmod(closed)
        with (
            another_user(),
            pytest.raises(LaunchProblem, match=rf"^{folder}.* cannot be read .*chown -R .* {folder}\)"),
        ):
            places.require_artifacts(folder)
        each.chmod(usual)


def test_short_step_says_nothing_and_long_one_says_its_time_and_count(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    clock = [100.0]
    monkeypatch.setattr("config.launch.console.time.monotonic", lambda: clock[0])
    step = LaunchStep(Screen(out), "Installing")
    step.tick("1 of 9")
    step.done()
    assert out.getvalue() == ""
    step = LaunchStep(Screen(out), "Installing")
    for second in range(1, 32):
        clock[0] = 100.0 + second
        step.tick(f"{second} of 99")
    step.done("99 of 99")
    assert out.getvalue().splitlines() == [
        "  Installing ... 1 s, 1 of 99",
        "  Installing ... 16 s, 16 of 99",
        "  Installing ... 31 s, 31 of 99",
        "  Installing: done in 31.0 s, 99 of 99",
    ]


def test_reader_that_went_away_stops_nothing() -> None:
    reader, writer = os.pipe()
    with open(writer, "w") as out:
        os.close(reader)
        screen = Screen(out)
        screen.line("lost")
        screen.line("lost too")
