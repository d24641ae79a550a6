"""The guard: a process that outlives a killed supervisor just long enough to stop all of its children.

PR_SET_PDEATHSIG reaches only the children; the guard reaches their whole process groups, in the right order. It runs as
a standalone file, so it imports the standard library only, and it holds the supervisor's lock until all are gone.

Lines on its standard input: `add RANK PID STARTED SIGNAL`, `drop PID`, `bye`. End of input without `bye` means that the
supervisor was killed.
"""

import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

GRACE = 15.0  # s between the first signal and SIGKILL


@dataclass(frozen=True)
class Child:
    """Leader of a process group. `rank`: higher ranks stop first. `started`: guards against reuse of the pid."""

    rank: int
    pid: int
    started: str
    signum: int

    def to_line(self) -> str:
        return f"{self.rank} {self.pid} {self.started} {self.signum}"

    @classmethod
    def from_line(cls, line: str) -> "Child":
        rank, pid, started, signum = line.split()
        return cls(int(rank), int(pid), started, int(signum))


def started_at(pid: int) -> str:
    """The kernel's start time of a process, in ticks since boot; "-" when it is gone or a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return "-"
    return "-" if fields[0] in "ZX" else fields[19]


def members(group: int) -> list[int]:
    """Live processes of a process group."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            try:
                fields = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if fields[0] not in "ZX" and int(fields[2]) == group:
                found.append(int(entry))
    return found


def is_ours(child: Child) -> bool:
    """Whether any process of the child's group is alive. An id is not reused while a group still has it."""
    now = started_at(child.pid)
    return now == child.started or (now == "-" and bool(members(child.pid)))


def signal_group(group: int, signum: int) -> None:
    try:
        os.killpg(group, signum)
    except ProcessLookupError:
        pass
    except PermissionError:
        # Another process's id: reused after our last process had ended.
        pass


def stop(children: list[Child], *, grace: float = GRACE) -> None:
    """Stops the groups, rank by rank: first with the child's signal, then with SIGKILL."""
    for rank in sorted({child.rank for child in children}, reverse=True):
        groups = [child for child in children if child.rank == rank and is_ours(child)]
        for child in groups:
            signal_group(child.pid, child.signum)
        deadline = time.monotonic() + grace
        while any(members(child.pid) for child in groups) and time.monotonic() < deadline:
            time.sleep(0.1)
        for child in groups:
            signal_group(child.pid, signal.SIGKILL)


def main() -> int:
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, signal.SIG_IGN)
    children: dict[int, Child] = {}
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        if word == "add":
            child = Child.from_line(rest)
            children[child.pid] = child
        elif word == "drop":
            children.pop(int(rest), None)
        elif word == "bye":
            return 0
    stop(list(children.values()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
