"""A MariaDB server as replica of another: joined by GTID, or copied again where the two have diverged."""

import os
import shutil
import subprocess
import time
from collections.abc import Mapping

from lab.mariadb import ACCOUNT, MariaDB
from lab.packages import LabError, program

CAUGHT_UP_TIMEOUT = 180.0  # s
BINLOG_INFO = ("mariadb_backup_binlog_info", "xtrabackup_binlog_info")
Position = dict[tuple[str, str], int]  # (domain, server) -> number of its last transaction


def position(text: str) -> Position:
    """Parses `0-1-17,0-2-20`, MariaDB's format."""
    parts = (gtid.strip().split("-") for gtid in text.split(",") if gtid.strip())
    return {(domain, server): int(number) for domain, server, number in parts}


def has_parted(replica: str, source_state: str) -> bool:
    """Whether the source (@@gtid_binlog_state) lacks a transaction of the replica (GTIDs)."""
    known = position(source_state)
    return any(known.get(place, -1) < number for place, number in position(replica).items())


def knows_more(replica: MariaDB, source: MariaDB) -> bool:
    """Whether the source lacks the replica's last transaction, or one written by the replica itself."""
    state, server_id = replica.sql("SELECT @@gtid_binlog_state, @@server_id").strip("\n").split("\t")
    own = [gtid for gtid in state.split(",") if f"-{server_id}-" in gtid]
    return has_parted(",".join([_latest(replica), *own]), source.sql("SELECT @@gtid_binlog_state").strip())


def join(replica: MariaDB, source: MariaDB, *, user: str, password: str) -> None:
    """Joins two running servers; returns when the replica has caught up. Raises LabError."""
    if not knows_more(replica, source):
        _follow(replica, source, at=_latest(replica), user=user, password=password)
        if not _why_not_caught_up(replica, source):
            return
    _follow(replica, source, at=copy(replica, source), user=user, password=password)
    if reason := _why_not_caught_up(replica, source):
        raise LabError(f"{replica.directory.name} does not replicate: {reason}")


def _latest(server: MariaDB) -> str:
    """Its last GTID, written as a source or applied as a replica."""
    places = server.sql("SELECT @@gtid_binlog_pos, @@gtid_slave_pos").strip("\n").split("\t")
    return max(places, key=lambda place: max(position(place).values(), default=-1))


def _follow(replica: MariaDB, source: MariaDB, *, at: str, user: str, password: str) -> None:
    replica.sql(
        "STOP SLAVE; RESET SLAVE ALL; SET GLOBAL read_only = 1;"
        f"SET GLOBAL gtid_slave_pos = '{at}';"
        f"CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = {source.port}, MASTER_USER = '{user}',"
        f" MASTER_PASSWORD = '{password}', MASTER_CONNECT_RETRY = 1, MASTER_USE_GTID = slave_pos;"
        "START SLAVE"
    )


def _why_not_caught_up(replica: MariaDB, source: MariaDB) -> str:
    """Waits until the replica has caught up with the source's position at the call; empty: it has, else the reason."""
    target = source.sql("SELECT @@gtid_binlog_pos").strip()
    deadline = time.monotonic() + CAUGHT_UP_TIMEOUT
    while time.monotonic() < deadline:
        if replica.pid is None:
            return f"it ended: {replica.last_error()}"
        found = status(replica, timeout=CAUGHT_UP_TIMEOUT)
        for kind in ("SQL", "IO"):
            if found.get(f"Last_{kind}_Errno", "0") != "0" and found.get(f"Slave_{kind}_Running") == "No":
                return found[f"Last_{kind}_Error"]
        # A wait for an empty position returns at once, before the replica is connected.
        if _replicates(found, source) and replica.sql(f"SELECT MASTER_GTID_WAIT('{target}', 0.1)").strip() == "0":
            return ""
        time.sleep(0.1)
    return f"it has not caught up after {CAUGHT_UP_TIMEOUT:.0f} s"


def copy(replica: MariaDB, source: MariaDB) -> str:
    """Replaces the replica's data by a copy of the source's; returns the copy's GTID. Raises LabError."""
    replica.stop()
    before = source.sql("SELECT @@gtid_binlog_state").strip()
    folder = replica.directory / "copy"
    shutil.rmtree(folder, ignore_errors=True)
    access = [f"--socket={source.socket}", f"--user={ACCOUNT}", f"--password={source.password}"]
    for argv in (["--backup", *access, f"--datadir={source.data}"], ["--prepare"]):
        command = [program("mariabackup"), "--no-defaults", *argv, f"--target-dir={folder}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise LabError(f"{replica.directory.name} could not be copied: {' '.join(done.stderr.splitlines()[-1:])}")
    file = next(folder / name for name in BINLOG_INFO if (folder / name).exists())
    at = [*file.read_text().split(), "", "", ""][2]
    owner = replica.data.stat()
    shutil.rmtree(replica.data)
    folder.rename(replica.data)
    for path in [replica.data, *replica.data.rglob("*")]:
        os.chown(path, owner.st_uid, owner.st_gid)
    replica.start()
    # Its own log begins here: with the earlier state a later replica of it is not refused.
    state = [gtid for gtid in before.split(",") if not position(gtid).keys() & position(at).keys()]
    replica.sql(f"RESET MASTER; SET GLOBAL gtid_binlog_state = '{','.join([*filter(None, state), at])}'")
    return at


def is_replica(server: MariaDB, source: MariaDB) -> bool:
    """Whether it replicates from `source`."""
    return _replicates(status(server), source)


def _replicates(found: Mapping[str, str], source: MariaDB) -> bool:
    running = found.get("Slave_IO_Running"), found.get("Slave_SQL_Running")
    return running == ("Yes", "Yes") and found.get("Master_Port") == str(source.port)


def status(server: MariaDB, *, timeout: float = 5) -> dict[str, str]:
    """SHOW SLAVE STATUS; empty for a source. Raises LabError."""
    lines = server.sql("SHOW SLAVE STATUS\\G", timeout=timeout, names=True).splitlines()
    rows = (line.strip().partition(":") for line in lines)
    return {name: value.strip() for name, colon, value in rows if colon}
