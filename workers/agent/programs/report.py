"""Common base of our programs: reading their secrets and printing their report, one JSON object per line."""

import contextlib
import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pymysql
from pymysql.connections import Connection
from pymysql.cursors import Cursor

from workers.agent.measure.database import STAY
from workers.agent.runtime.config import SystemConfig

CONNECT_TIMEOUT = 5  # s
_saying = threading.Lock()


class Failed(Exception):
    """The program cannot do its task; the text contains the reason and the remedy."""


@dataclass(frozen=True)
class Secrets:
    """Target and password of the load: the content of the `--secrets` file."""

    host: str
    port: int
    socket: str
    user: str
    schema: str
    password: str = field(repr=False)

    def connect(self, *, schema: bool = True) -> "Connection[Cursor]":
        """An autocommit connection. Raises pymysql.MySQLError."""
        return pymysql.connect(
            host=self.host,
            port=self.port,
            unix_socket=self.socket or None,
            user=self.user,
            password=self.password,
            database=self.schema if schema else None,
            connect_timeout=CONNECT_TIMEOUT,
            init_command=STAY,
            autocommit=True,
            program_name="splashboard-load",
        )

    def client_file(self) -> str:
        """An option file for the server's own client programs."""
        where = f"socket={self.socket}" if self.socket else f"host={self.host}\nport={self.port}\nprotocol=tcp"
        return f'[client]\nuser={self.user}\npassword="{_escaped(self.password)}"\n{where}\n'


def secrets_of(system: SystemConfig, schema: str, **more: Any) -> str:
    """The content of the secrets file, for a tool's `secrets`; `more`: further private values for its program."""
    address = system.address
    base = {"host": address.host, "port": address.port, "socket": address.socket}
    return json.dumps({**base, "user": system.user, "password": system.password, "schema": schema, **more})


def read_secrets(file: Path) -> Secrets:
    """Other keys of the file are ignored. Raises Failed."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=Secrets)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Failed(f"{file} cannot be read: {error}") from error


@contextlib.contextmanager
def private_file(file: Path, text: str) -> Iterator[Path]:
    """A file readable by this user only, removed afterwards."""
    file.unlink(missing_ok=True)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as stream:
            stream.write(text)
        yield file
    finally:
        file.unlink(missing_ok=True)


def emit(kind: str, **fields: Any) -> None:
    """Prints one line of the report. Thread-safe."""
    line(json.dumps({"kind": kind, **fields}, separators=(",", ":")))


def emit_begin(tool: str, *, zero: float | None = None) -> None:
    """Prints the line that begins the report. `zero`: its second 0 by the monotonic clock; None: now."""
    emit("begin", tool=tool, version="1", monotonic=round(time.monotonic() if zero is None else zero, 6))


def line(text: str) -> None:
    """Prints a line as it is, such as another program's."""
    with _saying:
        print(text, flush=True)


def emit_check(name: str, *, t: float, held: bool, label: str, **detail: Any) -> None:
    """Prints a check at second `t` of the load's clock."""
    emit("check", check=name, label=label, held=held, t=round(t, 3), **detail)


def emit_executed(counts: Mapping[str, int], *, setup_writes: int = 0) -> None:
    """Statements of the load over the whole run, warm-up included, for comparison with the server's counters.

    `counts`: reads, writes, errors; unmatched (writes that changed no row) where known. `setup_writes`: other writes
    executed by the program in that time.
    """
    text = f"over the whole run {counts['reads']} statements read and {counts['writes']} changed rows"
    emit("note", executed=dict(counts), setup={"writes": setup_writes}, text=text)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
