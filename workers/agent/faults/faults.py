"""Fault injection through a system's controls, and its undoing."""

import contextlib
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pymysql

from workers.agent.faults.system import RDS, TargetSystem
from workers.agent.measure.database import error_text
from workers.agent.programs.report import Failed
from workers.agent.runtime.spool import write_durably

CONTROL_TIMEOUT = 120.0  # s
UNDO_UNDER_WAY = 3.0  # s for an undoing that a stopped program began
PAUSE = 0.1  # s between looks for its end
READY_TIMEOUT = 60.0  # s: MHA's manager checks its servers before it watches them
READY_PAUSE = 1.0  # s between questions
STRUCK = "failover.struck"  # beside the secrets file: a lasting fault until it is undone
UNDONE = ".undone"  # its name's end from then on, until the trial has settled
# Errors of a statement during which its server ends.
LOST = (2006, 2013, 2055, 1053, 4031)
# Runs a control, then renames the file, even when the program that began it is gone.
AND_RENAME = ("sh", "-c", f'"$@" && mv -f -- "$0" "$0{UNDONE}"')
# The control that undoes another.
UNDONE_BY = {"kill": "start", "stop": "start", "freeze": "thaw", "cut": "heal"}
LASTING = ("freeze", "cut")  # undone after a while, under load
WORDS = {
    "kill": "kill -9",
    "stop": "stop",
    "freeze": "freeze",
    "cut": "network cut",
    "switch": "planned switch",
    "crash": "ALTER SYSTEM CRASH",
}


@dataclass(frozen=True)
class Fault:
    """`control` applied to `node` in `role`. `argv`, `undo`: programs; empty when an SQL statement does it."""

    control: str
    node: str
    role: str
    argv: tuple[str, ...] = ()
    undo: tuple[str, ...] = ()

    def words(self) -> str:
        return f"{WORDS[self.control]} {self.role} {self.node}".strip()


def plan(fault: str, *, system: TargetSystem, writer: str, readers: Sequence[str]) -> Fault | None:
    """The fault to inject, or None for "none". Raises Failed when the system lacks the controls for it."""
    if fault == "none":
        return None
    if fault == "crash":
        if system.platform != "aurora":
            raise Failed(
                f"fault crash is Aurora's ALTER SYSTEM CRASH; platform {system.platform} has no such statement"
            )
        return Fault("crash", writer, "writer")
    if fault in ("switch", "rds_failover"):
        argv = system.controls.get("", {}).get("switch")
        if fault == "rds_failover" and system.platform not in ("aurora", RDS):
            raise Failed(f"fault rds_failover needs AWS; platform {system.platform} has switch instead")
        if not argv:
            raise Failed(f"fault {fault} needs the system's own control: add `switch` to [systems.controls]")
        return Fault("switch", writer, "from", tuple(argv))
    control, role = fault.split("_")
    able = [node for node in ([writer] if role == "writer" else readers) if control in system.controls.get(node, {})]
    if not able:
        where = writer if role == "writer" else (readers[0] if readers else "")
        if not where:
            raise Failed(f"fault {fault} needs a reader, and no other node than the writer {writer} answers")
        raise Failed(f"fault {fault} needs a control of node {where}: add `{control}` to [systems.controls.{where}]")
    node = able[0]
    undo = system.controls[node].get(UNDONE_BY[control])
    if not undo:
        raise Failed(
            f"fault {fault} could not be undone on node {node}: add `{UNDONE_BY[control]}` to [systems.controls.{node}]"
        )
    return Fault(control, node, role, tuple(system.controls[node][control]), tuple(undo))


def await_ready(system: TargetSystem) -> None:
    """Waits until the system's own `check` succeeds: without its manager a fault would have no end. Raises Failed."""
    argv = system.controls.get("", {}).get("check")
    deadline = time.monotonic() + READY_TIMEOUT
    while argv:
        try:
            run(argv, "the system is not ready for a fault", CONTROL_TIMEOUT)
            return
        except Failed:
            if time.monotonic() > deadline:
                raise
        time.sleep(READY_PAUSE)


class Faulty:
    """`with Faulty(…) as faulty`: undoes the fault on exit, even when the program is being stopped.

    `file` has a lasting fault, and none of before, from before it strikes until it is undone, for `undo_left`; a file
    beside it has it from then on until the trial has settled, for `unsettled`.
    """

    def __init__(self, fault: Fault, system: TargetSystem, file: Path) -> None:
        self.fault = fault
        self._system = system
        self._file = file
        self._done = False
        self.undoing: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Faulty":
        # Of an earlier fault that could not be undone, since when the system was found ready.
        self._file.unlink(missing_ok=True)
        settled(self._file)
        if self._is_lasting():
            write_durably(self._file, msgspec.json.encode(self.fault))
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if not self._done:
            self._file.unlink(missing_ok=True)
            if kind is None:
                settled(self._file)
        elif self.fault.undo and not self._is_being_undone():
            # In its own session: a program being stopped has no time to wait until the node is back.
            with contextlib.suppress(OSError):
                self.undoing = subprocess.Popen(
                    (*self._through(), *self.fault.undo),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )

    def strike(self) -> None:
        """Raises Failed."""
        self._done = True
        problem = f"{self.fault.words()} did not work"
        if self.fault.control != "crash":
            # A switch that is killed half-way leaves no writer, or two: it ends by itself.
            left_to = (lambda _: None) if self.fault.control == "switch" else None
            run(self.fault.argv, problem, CONTROL_TIMEOUT, left_to=left_to)
            return
        try:
            self._system.ask(self._system.endpoint, "ALTER SYSTEM CRASH INSTANCE", timeout=CONTROL_TIMEOUT)
        except (pymysql.MySQLError, OSError) as error:
            # The statement may lose its own connection: that is its purpose.
            if not error.args or error.args[0] not in LOST:
                raise Failed(f"{problem}: {error_text(error)}") from error

    def undo(self, *, timeout: float) -> None:
        """Continues when this program is stopped meanwhile. Raises Failed."""
        if self.fault.undo:
            problem = f"node {self.fault.node} could not be restored"
            run(self.fault.undo, problem, timeout, through=self._through(), left_to=self._note_undoing)
        self._done = False

    def _is_lasting(self) -> bool:
        return self.fault.control in LASTING

    def _through(self) -> tuple[str, ...]:
        return (*AND_RENAME, str(self._file)) if self._is_lasting() else ()

    def _note_undoing(self, process: "subprocess.Popen[bytes]") -> None:
        self.undoing = process

    def _is_being_undone(self) -> bool:
        """Or has just been."""
        return self.undoing is not None and self.undoing.poll() in (None, 0)


def undo_left(file: Path) -> None:
    """Undoes the lasting fault of a program that died before it could. Raises Failed."""
    deadline = time.monotonic() + UNDO_UNDER_WAY
    while file.exists() and time.monotonic() < deadline:
        time.sleep(PAUSE)
    fault = _read(file)
    if fault:
        run(fault.undo, f"{fault.words()} could not be undone", CONTROL_TIMEOUT)
        with contextlib.suppress(FileNotFoundError):  # the undoing under way has ended after all
            file.replace(_undone(file))


def unsettled(file: Path) -> Fault | None:
    """A lasting fault that is undone, of a trial that did not settle. Raises Failed."""
    return _read(_undone(file))


def settled(file: Path) -> None:
    _undone(file).unlink(missing_ok=True)


def _undone(file: Path) -> Path:
    return file.with_name(f"{file.name}{UNDONE}")


def _read(file: Path) -> Fault | None:
    """None: there is none. Raises Failed."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=Fault)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Failed(f"the fault to undo cannot be read from {file}: {error}") from error


def run(
    argv: Sequence[str],
    problem: str,
    timeout: float,
    *,
    through: Sequence[str] = (),
    left_to: Callable[["subprocess.Popen[bytes]"], None] | None = None,
) -> None:
    """Raises Failed with the control's last output line and the command to run by hand.

    `through`: a program that starts it; `left_to`: takes the process, which continues when this program is stopped or
    the time is over; otherwise it is killed then.
    """
    try:
        # A file and not a pipe: a server started by the control may keep the pipe open.
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                (*through, *argv),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                if left_to:
                    left_to(process)
                code = process.wait(timeout)
            finally:
                if not left_to:
                    process.kill()
                    process.wait()
            output.seek(0)
            lines = output.read().decode(errors="replace").strip().splitlines()
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{problem}: it had not ended after {timeout:.0f} s; run: {' '.join(argv)}") from error
    except OSError as error:
        raise Failed(f"{problem}: {argv[0]} cannot be started: {error.strerror}") from error
    if code:
        reason = lines[-1] if lines else f"exit code {code}"
        raise Failed(f"{problem}: {reason}; run: {' '.join(argv)}")
