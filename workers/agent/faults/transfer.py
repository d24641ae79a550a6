"""How a Galera node got its state when it came back: from its own error log, where this host has it and may read it."""

import contextlib
import re
from dataclasses import dataclass
from pathlib import Path

import pymysql

from workers.agent.faults.system import ASK_TIMEOUT, TargetSystem

ASK = "SELECT @@global.log_error, @@global.datadir"
WHOLE = re.compile(rb"WSREP: SST received: ")
PARTS = re.compile(rb"WSREP: Receiving IST: (\d+) writesets")
RECEIVED = "SHOW GLOBAL STATUS LIKE 'wsrep_received_bytes'"


@dataclass(frozen=True)
class StateTransfer:
    """`kind`: "whole" (SST), "incremental" (IST), or "none". `writesets`: of the incremental one, which may follow a
    whole one; `received`: bytes from the group since the node's start, None: not told."""

    kind: str
    writesets: int = 0
    received: int | None = None

    def words(self, node: str) -> str:
        if self.kind == "none":
            return f"{node} needed no state transfer"
        amount = f", {self.writesets:,} writesets" if self.writesets else ""
        group = "" if self.received is None else f"; {self.received:,} bytes from the group since its start"
        return (
            f"{node} got its state by {'a whole' if self.kind == 'whole' else 'an incremental'} transfer{amount}{group}"
        )


class ErrorLog:
    """A node's error log from now on; it is asked for its place while the node answers."""

    def __init__(self, system: TargetSystem, node: str) -> None:
        self._system, self._node = system, node
        self._file: Path | None = None
        self._start = 0
        with contextlib.suppress(pymysql.MySQLError, OSError, IndexError):
            name, data = map(str, system.ask(system.nodes[node], ASK, timeout=ASK_TIMEOUT)[0])
            file = Path(data) / name
            self._file = file if name and file.is_file() else None

    def mark(self) -> None:
        """What was written until now is left out."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._start = self._file.stat().st_size

    def transfer(self) -> StateTransfer | None:
        """None: not known, or not of a Galera cluster."""
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
            return None
        return read(written, received=int(rows[0][1]))


def read(log: bytes, *, received: int | None = None) -> StateTransfer:
    """`log`: what the node wrote since its repair began."""
    writesets = sum(int(count) for count in PARTS.findall(log))
    kind = "whole" if WHOLE.search(log) else "incremental" if writesets else "none"
    return StateTransfer(kind, writesets, received)
