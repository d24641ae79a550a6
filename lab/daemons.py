"""Programs that outlive the command that starts them, identified by pid and command line."""

import atexit
import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from lab.packages import LabError

# Popen warns when a running child is garbage-collected; these run until they are stopped.
_children: dict[int, "subprocess.Popen[bytes]"] = {}


@atexit.register
def _detach_children() -> None:
    """Prevents Python's warning about unawaited children; these are meant to keep running."""
    for child in _children.values():
        if child.poll() is None:
            child.returncode = 0


def process_id(pid_file: Path, mark: str) -> int | None:
    """The process in `pid_file`, if `mark` is in its command line; None: not running."""
    try:
        pid = int(pid_file.read_text())
    except (OSError, ValueError):
        return None
    return pid if runs(pid, mark) else None


def runs(pid: int, mark: str) -> bool:
    return mark.encode() in command_line(pid)


def command_line(pid: int) -> bytes:
    """Arguments separated by NUL; empty once the process has ended."""
    child = _children.get(pid)
    while child is None or child.poll() is None:
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return b""
        if line or child is None:
            return line
        time.sleep(0.001)  # a starting or ending child has none for a moment
    return b""


def spawn(
    argv: Sequence[str], *, log: Path | None = None, cwd: Path, environment: Mapping[str, str] | None = None
) -> "subprocess.Popen[bytes]":
    """Starts a program in its own session; output is appended to `log`."""
    output = log.open("ab") if log else None
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output or subprocess.DEVNULL,
            stderr=output or subprocess.DEVNULL,
            start_new_session=True,
            cwd=cwd,
            env=environment,
        )
    finally:
        if output:
            output.close()
    _children[process.pid] = process
    return process


def end(pid_file: Path, mark: str, *, timeout: float, group: bool = False) -> None:
    """SIGTERM, then SIGKILL after `timeout` s; a stopped process is continued. `group`: with its children. LabError."""
    pid = process_id(pid_file, mark)
    if pid is None:
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        send(pid, signal.SIGCONT, group=group)
        send(pid, number, group=group)
        if await_end(pid, timeout=timeout):
            return
    raise LabError(f"process {pid} of {pid_file.parent} does not end")


def await_end(pid: int, *, timeout: float) -> bool:
    """Waits for the process, not its pid file: mariadbd removes that before writing its data. False: still running."""
    deadline = time.monotonic() + timeout
    while not _has_ended(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _has_ended(pid: int) -> bool:
    """Its files are closed, so that its ports are free: some time after its command line is gone."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
        return status.rpartition(")")[2].split()[0] in "ZX" and len(os.listdir(f"/proc/{pid}/task")) <= 1
    except (FileNotFoundError, ProcessLookupError):
        return True


def send(pid: int, number: int, *, group: bool = False) -> None:
    """A process that has already ended is ignored."""
    with contextlib.suppress(ProcessLookupError):
        (os.killpg if group else os.kill)(pid, number)


class Daemon:
    """A program in `directory`, which its command line must contain; its pid is in NAME.pid, its output in NAME.log."""

    def __init__(self, directory: Path, name: str) -> None:
        self.directory = directory
        self.name = name
        self.log = directory / f"{name}.log"
        self._pid_file = directory / f"{name}.pid"

    @property
    def pid(self) -> int | None:
        return process_id(self._pid_file, str(self.directory))

    def start(self, argv: Sequence[str], *, environment: Mapping[str, str] | None = None) -> "subprocess.Popen[bytes]":
        process = spawn(argv, log=self.log, cwd=self.directory, environment=environment)
        self._pid_file.write_text(str(process.pid))
        return process

    def stop(self, *, timeout: float = 60.0) -> None:
        end(self._pid_file, str(self.directory), timeout=timeout, group=True)
        self._pid_file.unlink(missing_ok=True)

    def last_words(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        return " ".join(lines[-3:]) or f"see {self.log}"


def end_all(program: bytes, mark: str) -> None:
    """SIGKILL to helpers without a pid file: those whose command line matches `program` and contains `mark`."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            line = command_line(int(entry.name))
            if mark.encode() in line and re.search(program, line):
                send(int(entry.name), signal.SIGKILL)
