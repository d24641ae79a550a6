"""Records histories of real servers for the detection bench: sessions whose settings change where a table says so.

`python -m bench.lab_sessions DIRECTORY FILE`: some 40 minutes. Systems take turns, so that all of them meet the same
machine. A session restarts the server, asks for a fixed amount of work of one CPU, and runs each load once.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lab import mysql
from lab.galera import Galera
from lab.mariadb import ACCOUNT, MariaDB
from workers.agent.measure import facts
from workers.agent.samplers.host import CPU_STATES

SESSIONS = 60
LOADS = ("oltp_read_only", "oltp_read_write")
SECONDS, THREADS, TABLES, ROWS = 5, 4, 2, 10_000
SCHEMA = "history"
LINE = re.compile(r"\[ (\d+)s \] .*? tps: ([\d.]+) .*? lat \(ms,95%\): ([\d.]+)")

Settings = Mapping[str, str]
PLAIN: Settings = {}
WITH_SLOW_LOG: Settings = {"slow_query_log": "1", "long_query_time": "0"}
WITH_GENERAL_LOG: Settings = {"general_log": "1"}
# Session from which on a system has these settings besides the lab's own.
PLANS: Mapping[str, Mapping[int, Settings]] = {
    "mariadb": {
        0: PLAIN,
        13: WITH_SLOW_LOG,
        27: PLAIN,
        41: {"performance_schema": "ON"},
        52: {"innodb_flush_log_at_trx_commit": "2"},
    },
    "mysql": {
        0: PLAIN,
        11: WITH_GENERAL_LOG,
        24: PLAIN,
        38: {"performance_schema": "OFF"},
        49: {"performance_schema": "OFF", "innodb_flush_log_at_trx_commit": "0"},
    },
    "galera": {
        0: PLAIN,
        14: {"innodb_flush_log_at_trx_commit": "0"},
        28: PLAIN,
        39: WITH_GENERAL_LOG,
        51: PLAIN,
    },
}


@dataclass(frozen=True)
class Subject:
    """A system: `begin` restarts it with the settings of a session; the load goes to `server`."""

    server: MariaDB
    begin: Callable[[Settings], None]


def settings_of(system: str, session: int) -> Settings:
    return next(own for first, own in reversed(list(PLANS[system].items())) if first <= session)


def record(directory: Path, file: Path) -> None:
    """A line of JSON for each session is added to `file`."""
    galera = Galera(directory)
    subjects = {"mariadb": _single(directory), "mysql": _mysql(directory), "galera": _galera(galera)}
    try:
        for subject in subjects.values():
            subject.server.sql(f"CREATE DATABASE {SCHEMA}")
            _sysbench(subject.server, LOADS[0], "prepare")
        for session in range(SESSIONS):
            for system, subject in subjects.items():
                settings = settings_of(system, session)
                subject.begin(settings)
                told = {"system": system, "session": session, "settings": settings, **_measured(subject.server)}
                with file.open("a") as lines:
                    lines.write(json.dumps(told) + "\n")
    finally:
        galera.down()
        subjects["mariadb"].server.stop()
        subjects["mysql"].server.stop()


def _single(directory: Path) -> Subject:
    server = MariaDB(directory / "mariadb")
    server.start()
    return Subject(server, _restart_with(server))


def _mysql(directory: Path) -> Subject:
    mysql.fetch(directory)
    empty = directory / "mysql.cnf"
    empty.write_text("[mysqld]\n")
    server = mysql.MySQL(directory / "mysql", mysql.programs(directory), settings={}, defaults=empty)
    server.start()
    return Subject(server, _restart_with(server))


def _restart_with(server: MariaDB) -> Callable[[Settings], None]:
    own = dict(server.settings)

    def begin(settings: Settings) -> None:
        server.stop()
        server.settings = {**own, **settings}
        server.start()

    return begin


def _galera(system: Galera) -> Subject:
    """The node that is measured is restarted and catches up; settings are set while it runs."""
    system.up(print)
    node = next(iter(system.servers))
    server = system.servers[node]
    changed = sorted({name for settings in PLANS["galera"].values() for name in settings})

    def begin(settings: Settings) -> None:
        system.stop(node)
        system.start(node)
        for each in system.servers.values():
            for name in changed:
                each.sql(f"SET GLOBAL {name} = {settings.get(name, 'DEFAULT')}")

    return Subject(server, begin)


def _measured(server: MariaDB) -> dict[str, object]:
    """`canary`: CPU time of the agent's fixed work, ms, before each load and last; of each load seconds' rates, p95,
    ms, and the share of the processors' time that the hypervisor gave to others."""
    told: dict[str, object] = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "canary": []}
    canaries: list[float] = []
    for load in LOADS:
        canaries.append(facts.canary()["cpu_ms"])
        before = _ticks()
        lines = LINE.findall(_sysbench(server, load, "run"))
        spent = [now - then for now, then in zip(_ticks(), before, strict=True)]
        told[load] = {
            "tps": [float(tps) for _, tps, _ in lines],
            "p95": [float(p95) for _, _, p95 in lines],
            "steal": round(spent[CPU_STATES.index("steal")] / sum(spent), 5),
        }
    return told | {"canary": [*canaries, facts.canary()["cpu_ms"]]}


def _ticks() -> list[int]:
    """CPU time of the machine by state."""
    line = Path("/proc/stat").read_text().split("\n", 1)[0]
    return [int(each) for each in line.split()[1 : 1 + len(CPU_STATES)]]


def _sysbench(server: MariaDB, load: str, what: str) -> str:
    argv: Sequence[str] = [
        *("sysbench", load, f"--mysql-socket={server.socket}", f"--mysql-user={ACCOUNT}"),
        *(f"--mysql-password={server.password}", f"--mysql-db={SCHEMA}", f"--tables={TABLES}", f"--table-size={ROWS}"),
        *(f"--threads={THREADS}", f"--time={SECONDS}", "--report-interval=1", "--mysql-ignore-errors=all", what),
    ]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    record(Path(sys.argv[1]), Path(sys.argv[2]))
