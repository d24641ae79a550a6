"""Resource use of the load tool: CPU time of all processes of its session, and how often its CPU quota was used up."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from workers.agent.samplers import SourceReading
from workers.protocol.wire import Number

SEARCHED_EVERY = 5  # reads; a tool seldom starts further processes
QUOTA = {"nr_periods": "agent.tool.quota.periods", "nr_throttled": "agent.tool.quota.throttled"}


@dataclass(frozen=True)
class ProcessTime:
    """A process as /proc/PID/stat shows it. `own`: its CPU time; `ended`: that of the children that it collected, with
    theirs, in s."""

    name: str
    parent: int
    session: int
    started: int  # clock ticks since the machine's start
    own: float
    ended: float = 0.0

    @property
    def seconds(self) -> float:
        return self.own + self.ended


def process_time(text: str, ticks: int) -> ProcessTime:
    """Parses /proc/PID/stat. `ticks`: of the CPU clock, 1/s."""
    head, _, tail = text.rpartition(")")  # the name between may hold blanks and parentheses
    fields = tail.split()
    return ProcessTime(
        name=head.partition("(")[2],
        parent=int(fields[1]),
        session=int(fields[3]),
        started=int(fields[19]),
        own=(int(fields[11]) + int(fields[12])) / ticks,
        ended=(int(fields[13]) + int(fields[14])) / ticks,
    )


def processes(proc: Path = Path("/proc")) -> dict[int, ProcessTime]:
    """All processes that this user may see, by process id."""
    ticks, found = os.sysconf("SC_CLK_TCK"), {}
    for name in os.listdir(proc):
        if name.isdigit():
            try:
                found[int(name)] = process_time((proc / name / "stat").read_text(), ticks)
            except OSError:
                continue  # it has ended
    return found


class LoadTool:
    """`session`: process id of the tool, which leads a session; None: not started."""

    name = "tool"
    interval = 1
    prompt = True

    def __init__(self, session: Callable[[], int | None], proc: Path = Path("/proc")) -> None:
        self._session = session
        self._proc = proc
        self._known: list[int] = []
        self._reads = 0
        self._spent = 0.0

    def read(self) -> SourceReading:
        leader = self._session()
        if leader is None:
            return SourceReading({"agent.tool.cpu.seconds": self._spent} if self._spent else {})
        if self._reads % SEARCHED_EVERY == 0 or leader not in self._known:
            self._known = [pid for pid, one in processes(self._proc).items() if one.session == leader]
        self._reads += 1
        # What a process spent is no longer seen once it has ended, unless its parent counts it.
        self._spent = max(self._spent, sum(self._seconds(pid) for pid in self._known))
        values: dict[str, Number] = {"agent.tool.cpu.seconds": self._spent}
        return SourceReading(values | quota(self._proc / str(leader)))

    def close(self) -> None:
        """No resources to free."""

    def _seconds(self, pid: int) -> float:
        try:
            return process_time((self._proc / str(pid) / "stat").read_text(), os.sysconf("SC_CLK_TCK")).seconds
        except OSError:
            return 0.0


def quota(directory: Path, groups: Path = Path("/sys/fs/cgroup")) -> dict[str, Number]:
    """Periods of the CPU quotas of a process's control groups, and those in which one was used up. Empty: no quota.

    `directory`: of the process below /proc.
    """
    values: dict[str, Number] = {}
    for file in _statistics_of(directory, groups):
        try:
            lines = file.read_text().splitlines()
        except OSError:
            continue
        counted = {name: int(value) for name, _, value in (line.partition(" ") for line in lines) if name in QUOTA}
        if counted.get("nr_periods"):
            values = {key: int(values.get(key) or 0) + counted.get(name, 0) for name, key in QUOTA.items()}
    return values


def _statistics_of(directory: Path, groups: Path) -> list[Path]:
    """cpu.stat of the process's control group and of those above it, in either version of the interface."""
    try:
        lines = (directory / "cgroup").read_text().splitlines()
    except OSError:
        return []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers or "cpu" in controllers.split(","):
            root = groups / controllers if controllers else groups
            inside = root / path.strip("/")
            if (inside / "cpu.stat").exists():
                return [above / "cpu.stat" for above in (inside, *inside.parents) if above.is_relative_to(root)]
    return []
