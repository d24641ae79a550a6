"""Our own Valkey or Redis: the broker between web, beat and worker, with its queue on disk."""

import contextlib
import signal
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from config.launch import binaries, processes, sockets
from config.launch.console import LaunchProblem
from config.launch.places import Places


@dataclass(frozen=True)
class Broker:
    server: binaries.Binary
    folder: Path
    socket: Path
    password: str
    log: Path

    @property
    def url(self) -> str:
        return f"unix://:{self.password}@{quote(str(self.socket))}?db=0"


def prepare(*, places: Places) -> Broker:
    """Raises LaunchProblem."""
    server = binaries.redis_server(places.binaries)
    folder = places.var / "valkey"
    folder.mkdir(mode=0o700, exist_ok=True)
    password, _ = places.secret("redis.password")
    broker = Broker(server, folder, sockets.folder(folder) / "socket", password, places.log_of("valkey"))
    lines = [
        "port 0",
        f'unixsocket "{broker.socket}"',
        "unixsocketperm 700",
        "databases 64",  # each test process takes one
        f"requirepass {password}",
        "dir .",
        "daemonize no",
        # The queue survives a crash except for the last second, which the sweep enqueues again.
        "appendonly yes",
        "appendfsync everysec",
        'save ""',
        "maxmemory-policy noeviction",
    ]
    places.keep("valkey/valkey.conf", "\n".join(lines))
    return broker


def start(broker: Broker) -> "subprocess.Popen[bytes]":
    """Starts the server; poll `is_ready` until it is ready."""
    with processes.appended_log(broker.log) as log:
        return processes.spawn(
            [broker.server.path, "valkey.conf"],
            output=log,
            env=processes.clean_environment(),
            cwd=broker.folder,
            parent_death=signal.SIGTERM,
        )


def is_ready(broker: Broker) -> bool:
    """Whether it answers a ping; while loading its file it answers with an error."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(1)
        connection.connect(str(broker.socket))
        connection.sendall(f"AUTH {broker.password}\r\nPING\r\n".encode())
        answer = b""
        while answer.count(b"\r\n") < 2:
            part = connection.recv(4096)
            if not part:
                return False
            answer += part
        return answer == b"+OK\r\n+PONG\r\n"
    return False


def why_not(broker: Broker) -> LaunchProblem:
    """The error for a server that ended during its start."""
    words = "\n".join(processes.tail(broker.log, 40))
    if "Bad file format" in words or "can't handle" in words.lower() or "AOF" in words:
        return LaunchProblem(
            f"{broker.folder} is stale: the server found here cannot read it. It holds only the queue, which the sweep "
            f"fills again: move it away (mv {broker.folder} {broker.folder}.old). The full log is {broker.log}."
        )
    return processes.failure("Starting Valkey", broker.log)
