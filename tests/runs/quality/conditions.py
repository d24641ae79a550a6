"""The conditions under which runs are recorded: what is measured, and what happens beside it."""

import os
import random
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lab.mariadb import ACCOUNT, MariaDB
from lab.single import Single
from lab.table import system_named
from tests.paths import ROOT
from tests.runs.quality import agents, link

GROUP = agents.GROUPS / "splashboard-held"
BUSY = "while True: pass"
CROWD = f"for i in 1 2 3 4; do {shlex.join([sys.executable, '-c', BUSY])} & done; wait"
PINNED = f"for i in 0 1 0 1; do taskset -c $i {shlex.join([sys.executable, '-c', BUSY])} & done; wait"
OLTP = """
  - tool: sysbench_oltp
    parameters: {test: oltp_read_write, tables: 4, table_size: 10000}
    load_levels: [1, 8, {threads: 8, rate: 40}]
  - tool: sysbench
    parameters: {test: oltp_write_only, tables: 2, table_size: 10000, auto_inc: "off"}
    load_levels: [2, 8]
"""
# Without a fixed rate, which leaves a load tool room.
CLOSED = OLTP.replace(", {threads: 8, rate: 40}", "")
STORM = """
  - tool: sysbench_oltp
    parameters: {test: connect}
    storm: {base: 4, factors: [1, 2, 4]}
"""
TOO_FAST = """
  - tool: sysbench_oltp
    parameters: {test: oltp_read_write, tables: 4, table_size: 10000}
    load_levels: [{threads: 4, rate: 3000}, {threads: 8, rate: 4000}]
"""
HOT = """
  - tool: sysbench_oltp
    parameters: {test: oltp_write_only, tables: 1, table_size: 20, rand_type: uniform}
    load_levels: [8, 16]
"""
EVEN = """
  - tool: sysbench_oltp
    parameters: {test: oltp_read_write, tables: 2, table_size: 5000}
    load_levels: [4]
"""
ROOM = """
  - tool: sysbench_oltp
    parameters: {test: oltp_read_write, tables: 2, table_size: 5000}
    load_levels: [{threads: 8, rate: 20}, {threads: 8, rate: 40}]
"""
FILLING = """
  - tool: sysbench_oltp
    parameters: {test: oltp_read_only, tables: 2, table_size: 5000}
    load_levels: [8, 16]
"""
# Without a wait for a disk that others use, too.
READS = EVEN.replace("oltp_read_write", "oltp_read_only")
SMALL = ("single", "rds-like", "mariadb-flush1", "mariadb-flush2")
PERIOD = 100_000  # µs
SHARE = 0.15  # of a processor, for a server


@dataclass(frozen=True)
class Condition:
    """`beside` is called about ten times a second while the runs last, and with True at the end. `at_once`: on all
    systems at the same time. `siblings`: the condition whose runs a run is compared with. Times in s."""

    systems: Sequence[str]
    repetitions: int
    workloads: str
    beside: Callable[[], Callable[[bool], None]] | None = None
    at_once: bool = False
    siblings: str = ""
    warmup: int = 0
    duration: int = 5


def a_program(argv: Sequence[str]) -> Callable[[], Callable[[bool], None]]:
    """A program beside the runs, started again when it ends."""

    def begin() -> Callable[[bool], None]:
        held: list[subprocess.Popen[bytes]] = []

        def act(is_over: bool) -> None:
            if held and (is_over or held[0].poll() is not None):
                with suppress(ProcessLookupError):
                    os.killpg(held[0].pid, signal.SIGKILL)
                held.pop().wait()
            if not held and not is_over:
                held.append(subprocess.Popen(argv, stdout=subprocess.DEVNULL, start_new_session=True))

        return act

    return begin


def other_writers() -> Callable[[bool], None]:
    """Another client that writes to a schema of its own."""
    server = _server()
    server.sql("CREATE DATABASE IF NOT EXISTS splash_others")
    where = ["--mysql-host=127.0.0.1", f"--mysql-port={server.port}", f"--mysql-user={ACCOUNT}"]
    argv = ["sysbench", "oltp_write_only", *where, f"--mysql-password={server.password}", "--mysql-db=splash_others"]
    argv += ["--tables=2", "--threads=2"]
    subprocess.run([*argv, "prepare"], stdout=subprocess.DEVNULL, check=False)
    return a_program([*argv, "--time=600", "run"])()


def held_back() -> Callable[[bool], None]:
    """Puts load tools into a control group with a twentieth of a processor."""
    GROUP.mkdir(exist_ok=True)
    (GROUP / "cpu.cfs_period_us").write_text("100000")
    (GROUP / "cpu.cfs_quota_us").write_text("5000")

    def act(is_over: bool) -> None:
        for pid in [] if is_over else _named("sysbench"):
            with suppress(OSError):
                (GROUP / "cgroup.procs").write_text(str(pid))

    return act


def frozen() -> Callable[[bool], None]:
    """Stops the server for 2.5 s in each 8 s in which a load runs."""
    since: list[float] = []
    server = _server().pid
    assert server is not None

    def act(is_over: bool) -> None:
        now = time.monotonic()
        if is_over or not _named("sysbench"):
            since.clear()
        elif not since:
            since.append(now)
        is_stopped = bool(since) and 3.0 <= (now - since[0]) % 8.0 < 5.5
        with suppress(OSError):
            os.kill(server, signal.SIGSTOP if is_stopped else signal.SIGCONT)

    return act


def small(*, falls: bool) -> Callable[[], Callable[[bool], None]]:
    """Servers with a small share of a processor. `falls`: to a third, from some second of the load on, as when a cloud
    instance has used up its credits."""

    def begin() -> Callable[[bool], None]:
        servers = [SmallServer(slug, falls=falls) for slug in SMALL]

        def act(is_over: bool) -> None:
            lines = [] if is_over else [_command_line(pid) for pid in _named("sysbench")]
            for server in servers:
                server.act(lines)

        return act

    return begin


class SmallServer:
    def __init__(self, slug: str, *, falls: bool) -> None:
        self._server = _server(slug)
        self._falls = falls
        self._group = agents.GROUPS / f"splashboard-{slug}"
        self._since: float | None = None
        self._falls_at = 0.0
        self._quota = 0
        self._chance = random.Random(slug)
        self._group.mkdir(exist_ok=True)
        (self._group / "cpu.cfs_period_us").write_text(str(PERIOD))
        agents.go_before_others(self._group, self._server.pid)

    def act(self, lines: Sequence[list[str]]) -> None:
        """`lines`: command lines of all load tools; between loads the server has what it wants."""
        now = time.monotonic()
        if not any(f"--mysql-port={self._server.port}" in line and line[-1] == "run" for line in lines):
            self._since = None
        elif self._since is None:
            self._since, self._falls_at = now, self._chance.uniform(15, 40)
        quota = -1
        if self._since is not None:
            is_less = self._falls and now - self._since >= self._falls_at
            quota = round(SHARE * PERIOD / (3 if is_less else 1))
        # Each time that it is written, the server gets that much at once.
        if quota != self._quota:
            (self._group / "cpu.cfs_quota_us").write_text(str(quota))
            self._quota = quota


def losing(is_over: bool) -> None:
    """Loses packets while a load runs, not while its tables are made."""
    runs = not is_over and any(_command_line(pid)[-1:] == ["run"] for pid in _named("sysbench"))
    if runs != link.is_losing():
        link.lose(is_losing=runs)


CONDITIONS: Mapping[str, Condition] = {
    "quiet": Condition(["single", "galera"], 3, OLTP),
    "storm": Condition(["single"], 10, STORM),
    "generator held back": Condition(["single"], 8, CLOSED, held_back),
    "a hot table": Condition(["single"], 15, HOT),
    # From here on others may use the machine.
    "others wrote": Condition(["single"], 6, OLTP, other_writers),
    "a busy neighbour": Condition(["single"], 6, OLTP, a_program([sys.executable, "-c", BUSY])),
    "a busy machine": Condition(["single"], 6, OLTP, a_program(["sh", "-c", CROWD])),
    "server frozen": Condition(["single"], 6, OLTP, frozen),
    "asked too much": Condition(["single"], 15, TOO_FAST),
    "both processors taken": Condition(["single"], 20, EVEN, a_program(["sh", "-c", PINNED]), duration=20),
    "a small server": Condition(
        SMALL, 16, READS, small(falls=False), at_once=True, siblings="a small server", warmup=5, duration=50
    ),
    "its share fell": Condition(
        SMALL, 8, READS, small(falls=True), at_once=True, siblings="a small server", warmup=5, duration=50
    ),
    "a link with room": Condition([link.SLUG], 16, ROOM, link.held_up()),
    "a full link": Condition([link.SLUG], 8, FILLING, link.held_up()),
    "packets lost": Condition([link.SLUG], 8, ROOM, link.held_up(losing)),
}


def _server(slug: str = "single") -> MariaDB:
    system = system_named(slug, str(ROOT / "var"))
    assert isinstance(system, Single)
    return system.server


def _named(name: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and (entry / "comm").read_text().strip() == name:
                found.append(int(entry.name))
    return found


def _command_line(pid: int) -> list[str]:
    """Empty: it has ended."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text().rstrip("\0").split("\0")
    return []
