"""A real MySQL server on loopback, of another Debian release than the machine's: Debian's stable ones have none."""

import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from lab.debian import MYSQL, server_program, unpack
from lab.mariadb import ACCOUNT, OBSERVED, MariaDB
from lab.ports import is_free

RELEASE = "sid"
PORT_TIMEOUT = 5.0  # s
SETTINGS = {
    **OBSERVED,
    "innodb_buffer_pool_size": "64M",
    "innodb_redo_log_capacity": "64M",
}


def programs(var: Path) -> Path:
    """Where the server is unpacked, once for all systems."""
    return var.absolute() / "lab" / "programs" / f"mysql-{RELEASE}"


def fetch(var: Path) -> None:
    """Raises LabError where it is not to be had."""
    unpack(RELEASE, programs(var), MYSQL)


class MySQL(MariaDB):
    """One server, controlled like a MariaDB and by MariaDB's client. `root`: where the program is unpacked."""

    installation: ClassVar[Path | None] = None
    name = "mysqld"
    programs = ("mariadb",)

    def __init__(
        self, directory: Path, root: Path, *, port: int | None = None, settings: Mapping[str, str], defaults: Path
    ) -> None:
        super().__init__(directory, port=port, defaults=defaults, other=server_program(root, MYSQL))
        self._root = root
        self.settings = {**SETTINGS, **settings}

    def launch(self, *options: str) -> "subprocess.Popen[bytes]":
        # A killed server leaves it, and nobody may start one while its process waits to be reaped.
        self.socket.with_name(f"{self.socket.name}.lock").unlink(missing_ok=True)
        deadline = time.monotonic() + PORT_TIMEOUT
        while not is_free(self.port) and time.monotonic() < deadline:
            time.sleep(0.05)  # its sockets are closed after its memory is freed
        return super().launch(*options)

    def _installation_command(self) -> list[str]:
        server = server_program(self._root, MYSQL)
        return [
            *server.argv,
            "--no-defaults",
            "--initialize-insecure",
            *server.options,
            *self._as_user(),
            f"--datadir={self.data}",
            f"--tmpdir={self._own_tmp()}",
        ]

    def _account_statements(self, password: str) -> list[str]:
        return [
            f"CREATE USER {ACCOUNT}@'%' IDENTIFIED BY '{password}'",
            f"GRANT ALL ON *.* TO {ACCOUNT}@'%' WITH GRANT OPTION",
            f"ALTER USER root@localhost IDENTIFIED BY '{password}'",
        ]
