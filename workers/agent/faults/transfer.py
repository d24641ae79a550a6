"""How a cluster's node got its state when it came back: from its own error log and its own files, where this host has
them and the agent may read them."""

import contextlib
import os
import re
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import pymysql

from workers.agent.faults.system import ASK_TIMEOUT, TargetSystem

ASK = "SELECT @@global.log_error, @@global.datadir"
WHOLE = re.compile(rb"WSREP: SST received: ")
# By the transfer's script. Where it had nothing to send, the server reports "SST received" all the same.
COMPLETED = re.compile(rb"WSREP_SST: \[INFO\] (\w+) (SST|IST) completed on joiner")
PARTS = re.compile(rb"WSREP: Receiving IST: (\d+) writesets")
# Of MySQL Group Replication.
RECOVERY = re.compile(rb"Distributed recovery will transfer data using: (Incremental|Cloning)")
RECEIVED = "SHOW GLOBAL STATUS LIKE 'wsrep_received_bytes'"
RSYNC = "rsync"
# What rsync's script sends of the data directory itself, whole, whatever was there; and every file of its folders.
SENT = ("ibdata*", "ib_lru_dump", "ib_logfile0", "undo*", "aria_log_control", "aria_log.*")


@dataclass(frozen=True)
class StateTransfer:
    """`kind`: "whole" (SST, or a clone), "incremental" (IST, or from binary logs), or "none". `writesets`: of the
    incremental one, which may follow a whole one; `received`: bytes from the group since the node's start, None: not
    told. `method`: of a whole one; `files`: bytes of the files that it wrote, None: not known."""

    kind: str
    writesets: int = 0
    received: int | None = None
    method: str = ""
    files: int | None = None

    def words(self, node: str) -> str:
        if self.kind == "none":
            return f"{node} needed no state transfer"
        amount = f", {self.writesets:,} writesets" if self.writesets else ""
        group = "" if self.received is None else f"; {self.received:,} bytes from the group since its start"
        if self.kind != "whole":
            return f"{node} got its state by an incremental transfer{amount}{group}"
        how = f" ({self.method})" if self.method else ""
        size = "" if self.files is None else f", {self.files:,} bytes by the size of the files that it wrote"
        return f"{node} got its state by a whole transfer{how}{size}{amount}{group}"


class ErrorLog:
    """A node's error log from now on; it is asked for its place while the node answers."""

    def __init__(self, system: TargetSystem, node: str) -> None:
        self._system, self._node = system, node
        self._file: Path | None = None
        self._data = Path()
        self._start, self._since = 0, 0.0
        with contextlib.suppress(pymysql.MySQLError, OSError, IndexError):
            name, data = map(str, system.ask(system.nodes[node], ASK, timeout=ASK_TIMEOUT)[0])
            self._data = Path(data)
            file = self._data / name
            self._file = file if name and file.is_file() else None

    def mark(self) -> None:
        """What was written until now is left out."""
        self._since = time.time()
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._start = self._file.stat().st_size

    def transfer(self) -> StateTransfer | None:
        """None: not known, or not of a cluster."""
        if self._file is None:
            return None
        try:
            rows = self._system.ask(self._system.nodes[self._node], RECEIVED, timeout=ASK_TIMEOUT)
            with self._file.open("rb") as stream:
                stream.seek(self._start)
                written = stream.read()
        except (pymysql.MySQLError, OSError):
            return None
        if not rows:
            return read_recovery(written)
        return read(written, received=int(rows[0][1]), data=self._data, since=self._since)


def read(log: bytes, *, received: int | None = None, data: Path | None = None, since: float = 0.0) -> StateTransfer:
    """`log`: what the node wrote since the fault at `since`, s since the epoch; `data`: its data directory."""
    writesets = sum(int(count) for count in PARTS.findall(log))
    completed = COMPLETED.findall(log)
    if completed:
        whole = [method.decode() for method, kind in completed if kind == b"SST"]
        is_whole, method = bool(whole), whole[-1] if whole else ""
    else:
        is_whole, method = WHOLE.search(log) is not None, ""
    if not is_whole:
        return StateTransfer("incremental" if writesets else "none", writesets, received)
    size = written_since(data, since) if data and method == RSYNC else None
    return StateTransfer("whole", writesets, received, method, size)


def written_since(data: Path, since: float) -> int | None:
    """Bytes of the files that rsync's script wrote since then, by their size now; None: they cannot be read."""
    try:
        found = [file.stat() for file in _sent(data)]
    except OSError:
        return None
    return sum(one.st_size for one in found if stat.S_ISREG(one.st_mode) and one.st_mtime >= since)


def _sent(data: Path) -> Iterator[Path]:
    """Raises OSError."""
    for place, _, names in os.walk(data, onerror=_fail):
        is_top = Path(place) == data
        for name in names:
            if not is_top or any(fnmatch(name, pattern) for pattern in SENT):
                yield Path(place, name)


def _fail(error: OSError) -> None:
    raise error


def read_recovery(log: bytes) -> StateTransfer | None:
    """Of a group's member; it may have tried one way after the other."""
    found = RECOVERY.findall(log)
    return StateTransfer("whole" if found[-1] == b"Cloning" else "incremental") if found else None
