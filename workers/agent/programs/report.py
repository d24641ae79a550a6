"""What every program of ours begins with: its secrets read, its report printed, one JSON object a line."""

import contextlib
import json
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pymysql
from pymysql.connections import Connection
from pymysql.cursors import Cursor

from workers.agent.runtime.config import SystemConfig

CONNECT_TIMEOUT = 5  # s
_saying = threading.Lock()


class Failed(Exception):
    """The program cannot do what it was asked; the text says why and what to do."""


@dataclass(frozen=True)
class Secrets:
    """Where the load goes and with which password: the content of the file that `--secrets` names."""

    host: str
    port: int
    socket: str
    user: str
    schema: str
    password: str = field(repr=False)

    def connect(self, *, schema: bool = True) -> "Connection[Cursor]":
        """Autocommitting. Raises pymysql.MySQLError."""
        return pymysql.connect(
            host=self.host,
            port=self.port,
            unix_socket=self.socket or None,
            user=self.user,
            password=self.password,
            database=self.schema if schema else None,
            connect_timeout=CONNECT_TIMEOUT,
            autocommit=True,
            program_name="splashboard-load",
        )

    def client_file(self) -> str:
        """An option file for the programs that come with the server."""
        where = f"socket={self.socket}" if self.socket else f"host={self.host}\nport={self.port}\nprotocol=tcp"
        return f'[client]\nuser={self.user}\npassword="{_escaped(self.password)}"\n{where}\n'


def secrets_of(system: SystemConfig, schema: str, **more: Any) -> str:
    """The file's content, for a tool's `secrets`; `more`: what else its program is told in private."""
    address = system.address
    base = {"host": address.host, "port": address.port, "socket": address.socket}
    return json.dumps({**base, "user": system.user, "password": system.password, "schema": schema, **more})


def read_secrets(file: Path) -> Secrets:
    """What a file holds beyond that is left out. Raises Failed."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=Secrets)
    except (OSError, msgspec.MsgspecError) as error:
        raise Failed(f"{file} cannot be read: {error}") from error


@contextlib.contextmanager
def private_file(file: Path, text: str) -> Iterator[Path]:
    """A file that only this user may read, gone afterwards."""
    file.unlink(missing_ok=True)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as stream:
            stream.write(text)
        yield file
    finally:
        file.unlink(missing_ok=True)


def say(kind: str, **fields: Any) -> None:
    """One line of the report. Threads may call it."""
    line(json.dumps({"kind": kind, **fields}, separators=(",", ":")))


def line(text: str) -> None:
    """A line of another program's, as it came."""
    with _saying:
        print(text, flush=True)


def say_check(name: str, *, t: float, held: bool, label: str, **detail: Any) -> None:
    """At second `t` of the load's clock."""
    say("check", check=name, label=label, held=held, t=round(t, 3), **detail)


def say_executed(counts: Mapping[str, int], *, setup_writes: int = 0) -> None:
    """The load's statements over the whole run, warm-up included, for comparing with the server's own counters.

    `counts`: reads, writes, errors; unmatched (writes that changed no row) where that is known. `setup_writes`: others
    that the program had executed meanwhile.
    """
    text = f"over the whole run {counts['reads']} statements read and {counts['writes']} changed rows"
    say("note", executed=dict(counts), setup={"writes": setup_writes}, text=text)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
