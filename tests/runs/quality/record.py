"""Records good and bad runs on the lab, for the rates at which the quality checks are right.

With `make run` and `make lab ARGS="up single galera"` on a machine that does nothing else, as root:

    eval "$(make env)"; .venv/bin/python -m tests.runs.quality.record [CONDITION …]

takes some 45 minutes and writes tests/data/quality/runs.json.gz; `tests/runs/quality/test_rates.py` reads it.
"""

import gzip
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import django

from lab.mariadb import ACCOUNT, MariaDB
from lab.single import Single
from lab.table import system_named
from tests.paths import ROOT
from tests.runs.quality import facts_file
from tests.runs.quality.facts_file import FILE

GROUP = Path("/sys/fs/cgroup/cpu/splashboard-held")
LONGEST = 1200.0  # s of a condition
BUSY = "while True: pass"
CROWD = f"for i in 1 2 3 4; do {shlex.join([sys.executable, '-c', BUSY])} & done; wait"
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


@dataclass(frozen=True)
class Condition:
    """`beside` is called about ten times a second while the runs last, and with True at the end."""

    systems: Sequence[str]
    repetitions: int
    workloads: str
    beside: Callable[[], Callable[[bool], None]] | None = None


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
}


def main(names: Sequence[str]) -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    found: dict[str, list[Any]] = facts_file.plain() if FILE.exists() else {}
    for name in names or CONDITIONS:
        found[name] = measured(name, CONDITIONS[name])
        FILE.parent.mkdir(parents=True, exist_ok=True)
        FILE.write_bytes(gzip.compress(facts_file.packed(found), mtime=0))
        sys.stdout.write(f"{name}: {len(found[name])} runs\n")
        sys.stdout.flush()
    return 0


def measured(name: str, condition: Condition) -> list[Any]:
    """The facts of the condition's runs, as plain values."""
    from apps.dispatch.api import campaign_file  # noqa: PLC0415  (Django is set up by main)
    from apps.runs.models import Run  # noqa: PLC0415
    from apps.runs.quality import check, evidence  # noqa: PLC0415
    from workers import tasks  # noqa: PLC0415

    text = f"name: {name}\nsystems: [{', '.join(condition.systems)}]\nrepetitions: {condition.repetitions}\n"
    content = f"{text}warmup: 0\nduration: 5\nworkloads:{condition.workloads}".encode()
    campaign = campaign_file.start(content, by=None)
    tasks.enqueue(tasks.match_jobs)
    act = condition.beside() if condition.beside else lambda _: None
    over = threading.Event()
    thread = threading.Thread(target=_beside, args=(act, over))
    thread.start()
    try:
        deadline = time.monotonic() + LONGEST
        while campaign.jobs.exclude(state__in=("succeeded", "failed", "cancelled")).exists():
            if time.monotonic() > deadline:
                raise TimeoutError(name)
            time.sleep(1)
    finally:
        over.set()
        thread.join()
        act(True)
    runs = Run.objects.filter(job_run__job__campaign=campaign)
    while runs.exclude(state=Run.State.SEALED).exists() and time.monotonic() < deadline:
        time.sleep(1)
    wanted = check.RELATED.filter(pk__in=runs.values("pk"), state=Run.State.SEALED).order_by("pk")
    return [facts_file.plainly(evidence.facts(run, siblings=False)) for run in wanted]


def _server() -> MariaDB:
    system = system_named("single", str(ROOT / "var"))
    assert isinstance(system, Single)
    return system.server


def _beside(act: Callable[[bool], None], over: threading.Event) -> None:
    while not over.wait(0.1):
        act(False)


def _named(name: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and (entry / "comm").read_text().strip() == name:
                found.append(int(entry.name))
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
