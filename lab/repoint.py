"""MHA's script for moving the source, `repoint.py DIRECTORY --command=… [--key=value …]`, and its secondary check.

Moves HAProxy's writer port from the old source to the new one, and logs the times in DIRECTORY/failover.jsonl: {"t":
seconds since the epoch, "event": "suspected" | "detected" | "promoted" | "repointed", "node": …}
"""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SERVER = "writer/master"
TIMEOUT = 1.0  # s for a server's greeting
UNREACHABLE, REACHABLE = 0, 3  # exit codes of a secondary check, defined by MHA


class Directory:
    """repoint.json: {"haproxy": socket, "mariadb": program, "user", "password_file", "source" and "replica": {setting:
    value} of such a server, "nodes": {port: [name, its socket]}}"""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._settings: dict[str, Any] = json.loads((path / "repoint.json").read_text())

    def name(self, port: str) -> str:
        return str(self._settings["nodes"][port][0])

    def log_event(self, event: str, port: str) -> None:
        line = json.dumps({"t": round(time.time(), 6), "event": event, "node": self.name(port)})
        with (self._path / "failover.jsonl").open("a") as log:
            log.write(line + "\n")

    def haproxy(self, *commands: str) -> None:
        for command in commands:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(30)
                connection.connect(self._settings["haproxy"])
                connection.sendall(command.encode() + b"\n")
                while connection.recv(65536):
                    pass

    def sql(self, port: str, statement: str) -> None:
        """Raises CalledProcessError."""
        argv = [self._settings["mariadb"], "--no-defaults", f"--socket={self._settings['nodes'][port][1]}"]
        environment = {**os.environ, "MYSQL_PWD": Path(self._settings["password_file"]).read_text()}
        argv += [f"--user={self._settings['user']}", "--connect-timeout=2", "-e", statement]
        subprocess.run(argv, env=environment, timeout=30, check=True)

    def make(self, port: str, role: str, *, read_only: int) -> None:
        """Raises CalledProcessError."""
        settings = {"read_only": read_only, **self._settings[role]}
        self.sql(port, "; ".join(f"SET GLOBAL {name} = {value}" for name, value in settings.items()))

    def keep_source(self, port: str) -> None:
        part = self._path / "source.part"
        part.write_text(self.name(port))
        part.replace(self._path / "source")


def greets(port: str) -> bool:
    """Whether a server sends its greeting: the kernel accepts connections for a frozen one too."""
    try:
        with socket.create_connection(("127.0.0.1", int(port)), timeout=TIMEOUT) as connection:
            return bool(connection.recv(64))
    except OSError:
        return False


def main(path: str, *arguments: str) -> int:
    directory = Directory(Path(path))
    given = dict(argument.lstrip("-").partition("=")[::2] for argument in arguments)
    old, new, command = given.get("orig_master_port", ""), given.get("new_master_port", ""), given.get("command")
    if command == "suspect":
        directory.log_event("suspected", given["master_port"])
        return REACHABLE if greets(given["master_port"]) else UNREACHABLE
    if command in ("stop", "stopssh"):
        if new:  # a planned switchover: the old source is alive
            directory.make(old, "replica", read_only=1)
        directory.log_event("detected" if not new else "stopped", old)
        directory.haproxy(f"set server {SERVER} state maint", f"shutdown sessions server {SERVER}")
    elif command == "start":
        directory.make(new, "source", read_only=0)
        directory.log_event("promoted", new)
        directory.keep_source(new)
        directory.haproxy(f"set server {SERVER} addr 127.0.0.1 port {new}", f"set server {SERVER} state ready")
        directory.log_event("repointed", new)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
