"""A private HAProxy: one port for the writer, controlled through its socket."""

import contextlib
import csv
import io
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.daemons import Daemon
from lab.packages import LabError, program

BACKEND = "writer"
CHECKS = {"inter": "500ms", "fall": "2", "rise": "3"}
READY_TIMEOUT = 180.0  # s; an ended process is detected at once
SOCKET_LIMIT = 90  # bytes: the kernel allows 107, and HAProxy first creates it under a longer name


@dataclass(frozen=True)
class Backend:
    """`address`: host:port or unix@path. `check_port`: port of its health check on 127.0.0.1; None: unchecked."""

    name: str
    address: str
    check_port: int | None = None


class HAProxy:
    """`servers`: the first is the writer, the others are its backups in this order."""

    def __init__(
        self, directory: Path, *, port: int, servers: Sequence[Backend], checks: Mapping[str, str] = CHECKS
    ) -> None:
        self.directory = directory
        self.port = port
        self.socket = directory / "haproxy.sock"
        self._servers = servers
        self._checks = checks
        self._daemon = Daemon(directory, "haproxy")
        self._file = directory / "haproxy.cfg"

    @property
    def pid(self) -> int | None:
        return self._daemon.pid

    def start(self) -> None:
        """Starts it and waits until it answers. Raises LabError."""
        if self.pid:
            return
        if len(str(self.socket).encode()) > SOCKET_LIMIT:
            raise LabError(f"{self.socket} is too long for a socket; set SPLASHBOARD_VAR to a shorter directory")
        self._file.write_text(self._configuration())
        process = self._daemon.start([program("haproxy"), "-db", "-f", str(self._file)])
        deadline = time.monotonic() + READY_TIMEOUT
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                command(self.socket, "show version")
                return
            if process.poll() is not None:
                break
            time.sleep(0.05)
        raise LabError(f"haproxy did not start: {self._daemon.last_words()}")

    def stop(self) -> None:
        self._daemon.stop()

    def _configuration(self) -> str:
        first, *others = (self._line(server) for server in self._servers)
        checks = " ".join(f"{name} {value}" for name, value in self._checks.items())
        return "\n".join(
            [
                "global",
                f"  stats socket {self.socket} mode 600 level admin",
                "defaults",
                "  mode tcp",
                "  timeout connect 2s",
                "  timeout client 1h",
                "  timeout server 1h",
                f"listen {BACKEND}",
                f"  bind 127.0.0.1:{self.port}",
                # A backup that took over stays the writer: the return of a node must not cause another write downtime.
                "  stick-table type integer size 10 nopurge",
                "  stick on int(1)",
                "  option httpchk GET /",
                f"  default-server {checks} on-marked-down shutdown-sessions",
                first,
                *(f"{line} backup" for line in others),
                "",
            ]
        )

    def _line(self, server: Backend) -> str:
        check = f" check addr 127.0.0.1 port {server.check_port}" if server.check_port else ""
        return f"  server {server.name} {server.address}{check}"


def command(file: Path, text: str) -> str:
    """HAProxy's answer to one command. Raises OSError when it is not running."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(30)
        connection.connect(str(file))
        connection.sendall(text.encode() + b"\n")
        parts = []
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts).decode().strip()


def servers_up(file: Path) -> list[str]:
    """Names of the servers that accept connections, in configuration order. Raises OSError."""
    rows = csv.DictReader(io.StringIO(command(file, "show stat").removeprefix("# ")))
    return [row["svname"] for row in rows if row["svname"] not in ("FRONTEND", "BACKEND") and "UP" in row["status"]]


def current(file: Path) -> str:
    """The server for new connections; empty: none. Raises OSError."""
    up = servers_up(file)
    held = _stuck_server(file)
    return held if held in up else next(iter(up), "")


def _stuck_server(file: Path) -> str:
    """The server in the stick table; empty: none yet."""
    ids = _ids(file)
    for word in command(file, f"show table {BACKEND}").split():
        key, _, value = word.partition("=")
        if key == "server_id":
            return ids.get(value, "")
    return ""


def _ids(file: Path) -> dict[str, str]:
    """HAProxy's server id -> its name."""
    rows = [line.split() for line in command(file, f"show servers state {BACKEND}").splitlines()]
    return {row[2]: row[3] for row in rows if len(row) > 3 and row[1] == BACKEND}


def move(file: Path, server: str) -> None:
    """Sends all new connections to `server`; those to other servers are closed. Raises OSError."""
    ids = {name: number for number, name in _ids(file).items()}
    # An entry written by HAProxy also holds the server's name, which would override the id.
    command(file, f"clear table {BACKEND}")
    command(file, f"set table {BACKEND} key 1 data.server_id {ids[server]}")
    for name in ids.keys() - {server}:
        command(file, f"shutdown sessions server {BACKEND}/{name}")
