"""What is done to the system, by its controls, and how it is put right again."""

import contextlib
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

import pymysql

from workers.agent.faults.system import TargetSystem
from workers.agent.programs.report import Failed

CONTROL_TIMEOUT = 120.0  # s
# What puts right what a control has done.
UNDONE_BY = {"kill": "start", "stop": "start", "freeze": "thaw", "cut": "heal"}
LASTING = ("freeze", "cut")  # put right after a while, within the load
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
    """`control` done to `node`, who has `role`. `argv` and `undo`: programs; none where a statement does it."""

    control: str
    node: str
    role: str
    argv: tuple[str, ...] = ()
    undo: tuple[str, ...] = ()

    def words(self) -> str:
        return f"{WORDS[self.control]} {self.role} {self.node}".strip()


def plan(fault: str, *, told: TargetSystem, writer: str, readers: Sequence[str]) -> Fault | None:
    """None: no fault. Raises Failed when the system cannot be made to have this one."""
    if fault == "none":
        return None
    if fault == "crash":
        if told.platform != "aurora":
            raise Failed(f"fault crash is Aurora's ALTER SYSTEM CRASH; platform {told.platform} has no such statement")
        return Fault("crash", writer, "writer")
    if fault in ("switch", "rds_failover"):
        argv = told.controls.get("", {}).get("switch")
        if fault == "rds_failover" and told.platform not in ("aurora", "rds-mysql"):
            raise Failed(f"fault rds_failover asks AWS; platform {told.platform} has switch instead")
        if not argv:
            raise Failed(f"fault {fault} needs the system's own control: add `switch` to [systems.controls]")
        return Fault("switch", writer, "from", tuple(argv))
    control, role = fault.split("_")
    able = [node for node in ([writer] if role == "writer" else readers) if control in told.controls.get(node, {})]
    if not able:
        where = writer if role == "writer" else (readers[0] if readers else "")
        if not where:
            raise Failed(f"fault {fault} needs a reader, and no other node than the writer {writer} answers")
        raise Failed(f"fault {fault} needs a control of node {where}: add `{control}` to [systems.controls.{where}]")
    node = able[0]
    undo = told.controls[node].get(UNDONE_BY[control])
    if not undo:
        raise Failed(
            f"fault {fault} would leave node {node} as it is: add `{UNDONE_BY[control]}` to [systems.controls.{node}]"
        )
    return Fault(control, node, role, tuple(told.controls[node][control]), tuple(undo))


class Faulty:
    """`with Faulty(…) as faulty`: whatever was done is put right at the end, even if the program is told to stop."""

    def __init__(self, fault: Fault, told: TargetSystem) -> None:
        self.fault = fault
        self._told = told
        self._done = False
        self.undoing: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Faulty":
        return self

    def __exit__(self, *_: object) -> None:
        if self._done and self.fault.undo:
            # In a session of its own: a program that is told to stop has not the time to wait for a node's return.
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
            # The statement itself may lose its connection: that is what it is for.
            with contextlib.suppress(pymysql.OperationalError):
                self._told.ask(self._told.endpoint, "ALTER SYSTEM CRASH INSTANCE", timeout=CONTROL_TIMEOUT)
        else:
            run(self.fault.argv, f"{self.fault.words()} did not work", CONTROL_TIMEOUT)

    def undo(self, *, timeout: float) -> None:
        """Raises Failed."""
        self._done = False
        if self.fault.undo:
            run(self.fault.undo, f"node {self.fault.node} could not be put right", timeout)


def run(argv: Sequence[str], problem: str, timeout: float) -> None:
    """Raises Failed, with the last line that the control said and the command for a person to try."""
    try:
        # A file and not a pipe: a server that the control starts may keep it open.
        with tempfile.TemporaryFile("w+", errors="replace") as output:
            done = subprocess.run(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=timeout,
                check=False,
                # What puts a node right goes on when this program is told to stop.
                start_new_session=True,
            )
            output.seek(0)
            said = output.read().strip().splitlines()
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{problem}: it had not ended after {timeout:.0f} s; run: {' '.join(argv)}") from error
    except OSError as error:
        raise Failed(f"{problem}: {argv[0]} cannot be started: {error.strerror}") from error
    if done.returncode:
        reason = said[-1] if said else f"exit code {done.returncode}"
        raise Failed(f"{problem}: {reason}; run: {' '.join(argv)}")
