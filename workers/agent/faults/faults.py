"""Fault injection through a system's controls, and its undoing."""

import contextlib
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

import pymysql

from workers.agent.faults.system import TargetSystem
from workers.agent.programs.report import Failed

CONTROL_TIMEOUT = 120.0  # s
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
        if fault == "rds_failover" and system.platform not in ("aurora", "rds-mysql"):
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


class Faulty:
    """`with Faulty(…) as faulty`: undoes the fault on exit, even when the program is being stopped."""

    def __init__(self, fault: Fault, system: TargetSystem) -> None:
        self.fault = fault
        self._system = system
        self._done = False
        self.undoing: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Faulty":
        return self

    def __exit__(self, *_: object) -> None:
        if self._done and self.fault.undo:
            # In its own session: a program being stopped has no time to wait until the node is back.
            with contextlib.suppress(OSError):
                self.undoing = subprocess.Popen(
                    self.fault.undo,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )

    def strike(self) -> None:
        """Raises Failed."""
        self._done = True
        if self.fault.control == "crash":
            # The statement may lose its own connection: that is its purpose.
            with contextlib.suppress(pymysql.OperationalError):
                self._system.ask(self._system.endpoint, "ALTER SYSTEM CRASH INSTANCE", timeout=CONTROL_TIMEOUT)
        else:
            run(self.fault.argv, f"{self.fault.words()} did not work", CONTROL_TIMEOUT)

    def undo(self, *, timeout: float) -> None:
        """Raises Failed."""
        self._done = False
        if self.fault.undo:
            run(self.fault.undo, f"node {self.fault.node} could not be restored", timeout)


def run(argv: Sequence[str], problem: str, timeout: float) -> None:
    """Raises Failed with the control's last output line and the command to run by hand."""
    try:
        # A file and not a pipe: a server started by the control may keep the pipe open.
        with tempfile.TemporaryFile("w+", errors="replace") as output:
            done = subprocess.run(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=timeout,
                check=False,
                # The control that repairs a node continues when this program is stopped.
                start_new_session=True,
            )
            output.seek(0)
            lines = output.read().strip().splitlines()
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{problem}: it had not ended after {timeout:.0f} s; run: {' '.join(argv)}") from error
    except OSError as error:
        raise Failed(f"{problem}: {argv[0]} cannot be started: {error.strerror}") from error
    if done.returncode:
        reason = lines[-1] if lines else f"exit code {done.returncode}"
        raise Failed(f"{problem}: {reason}; run: {' '.join(argv)}")
