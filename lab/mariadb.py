"""A real MariaDB server on loopback: created in a directory, started with given settings, stopped by process id."""

import getpass
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from lab.daemons import await_end, end, process_id, runs, send, spawn
from lab.packages import LabError, command_for, program
from lab.ports import claim_again, free_port, is_free

PROGRAMS = ("mariadbd", "mariadb-install-db", "mariadb")
ACCOUNT = "splashboard"
# s. A busy machine is slow; an ended server is detected at once.
READY_TIMEOUT = 180.0
STOP_TIMEOUT = 180.0
# Small enough that several fit on a laptop.
SETTINGS = {
    "innodb_buffer_pool_size": "64M",
    "innodb_log_file_size": "64M",
    "performance_schema": "OFF",
}
# Enables digests, waits and statements; costs a server 90 MB more.
OBSERVED = {"performance_schema": "ON"}


@dataclass(frozen=True)
class ServerProgram:
    """A server's program: `argv` runs it, `options` tell it where its own files are."""

    argv: Sequence[str]
    options: Sequence[str] = ()


class MariaDB:
    """One server. Root and the account `splashboard` have all privileges and share a password, kept in a private file.

    As root the server runs as user mysql, who needs access to `directory`. `defaults`: a configuration file read before
    its other settings. `within`: a program and arguments that run it, such as nsenter. `other`: another server
    program than the machine's own, which still makes the data directory.
    """

    installation: ClassVar[Path | None] = None  # a data directory, never started, copied for new servers
    name: ClassVar[str] = "mariadbd"
    programs: ClassVar[Sequence[str]] = PROGRAMS

    def __init__(
        self,
        directory: Path,
        *,
        port: int | None = None,
        settings: Mapping[str, str] | None = None,
        defaults: Path | None = None,
        within: Sequence[str] = (),
        other: ServerProgram | None = None,
    ) -> None:
        self.directory = directory.absolute()
        self.settings = {**SETTINGS, **(settings or {})}
        self.data = self.directory / "data"
        self.socket = self.directory / "socket"
        self.log = self.directory / "error.log"
        self.password_file = self.directory / "password"
        self.within = within
        self._other = other
        self._defaults = defaults
        self._port_file = self.directory / "port"
        self._pid_file = self.directory / "pid"
        self._port = port
        self._log_start = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def port(self) -> int:
        if self._port is None:
            self.directory.mkdir(parents=True, exist_ok=True)  # owner of the claim
            known = self._port_file.read_text() if self._port_file.exists() else ""
            self._port = int(known) if known else free_port(self.directory)
            if known:
                claim_again(self._port, self.directory)
        return self._port

    @property
    def password(self) -> str:
        return self.password_file.read_text()

    @property
    def pid(self) -> int | None:
        """None: not running."""
        launched = self._process.pid if self._process else 0
        # The file is empty for a moment: the server rewrites it once it is ready.
        return process_id(self._pid_file, self._mark) or (launched if runs(launched, self._mark) else None)

    @property
    def is_made(self) -> bool:
        return (self.data / "mysql").is_dir()

    @property
    def _mark(self) -> str:
        return f"--datadir={self.data}\0"

    def is_ready(self) -> bool:
        if self.pid is None:
            return False
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(1)
            try:
                probe.connect(str(self.socket))
            except OSError:
                return False
        return True

    def start(self, *options: str) -> None:
        """Creates the data directory if missing, starts the server detached, waits until it answers. LabError."""
        if self.is_ready():
            return
        self.make()
        self.await_ready(self.launch(*options))
        if not self.password_file.exists() or not self.password:
            self._make_account()

    def launch(self, *options: str) -> "subprocess.Popen[bytes]":
        """Starts the server without waiting for it. Raises LabError."""
        self._port_file.write_text(str(self.port))
        if not is_free(self.port):
            raise LabError(
                f"port {self.port} of {self.directory.name} is in use; stop its program or delete {self._port_file}"
            )
        self._log_start = self.log.stat().st_size if self.log.exists() else 0
        argv = [*self.within, *self.command(), f"--pid-file={self._pid_file}", f"--log-error={self.log}", *options]
        self._process = spawn(argv, cwd=self.directory)
        self._write_pid(self._process.pid)
        return self._process

    def command(self) -> list[str]:
        """The server's program and arguments, without those for pid file and log."""
        server = self._other or ServerProgram([program("mariadbd")])
        return [
            *server.argv,
            f"--defaults-file={self._defaults}" if self._defaults else "--no-defaults",
            *server.options,
            *self._as_user(),
            f"--datadir={self.data}",
            f"--port={self.port}",
            "--bind-address=127.0.0.1",
            f"--socket={self.socket}",
            f"--tmpdir={self._own_tmp()}",
            "--skip-name-resolve",
            *(f"--{name.replace('_', '-')}={value}" for name, value in self.settings.items()),
        ]

    def await_ready(self, process: "subprocess.Popen[bytes]", *, timeout: float = READY_TIMEOUT) -> None:
        """Raises LabError, with the reason from the server's log."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if self.is_ready():
                return
            if process.poll() is not None:
                raise LabError(f"{self.name} ended with code {process.returncode}: {self.last_error()}")
            time.sleep(0.05)
        process.kill()
        process.wait()
        raise LabError(f"{self.name} was not ready after {timeout:.0f} s: {self.last_error()}")

    def stop(self, *, timeout: float = STOP_TIMEOUT) -> None:
        """SIGTERM, then SIGKILL after `timeout` s. Raises LabError."""
        end(self._pid_file, self._mark, timeout=timeout)

    def kill(self) -> None:
        """Ends the server like a power cut."""
        pid = self.pid
        if pid is not None:
            send(pid, signal.SIGKILL)
            await_end(pid, timeout=STOP_TIMEOUT)

    def sql(self, statement: str, *, user: str = ACCOUNT, timeout: float | None = None, names: bool = False) -> str:
        """Output of the mariadb client for `statement`, with column names if `names`. Raises LabError."""
        argv = [program("mariadb"), "--no-defaults", f"--socket={self.socket}", f"--user={user}", "-B"]
        argv += [] if names else ["-N"]
        environment = {**os.environ, "MYSQL_PWD": self.password}
        try:
            answer = subprocess.run(
                argv, input=statement, capture_output=True, text=True, env=environment, timeout=timeout, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise LabError(f"{self.directory.name}: no answer within {timeout:.0f} s") from error
        if answer.returncode:
            raise LabError(f"{self.directory.name}: {answer.stderr.strip()}")
        return answer.stdout

    def make(self) -> None:
        """Creates the data directory if missing. Raises LabError."""
        for name in self.programs:
            program(name)
        if self.is_made:
            return
        self._make_directory()
        if self.installation:
            subprocess.run(["cp", "-a", "--reflink=auto", self.installation, self.data], check=True)
            return
        argv = self._installation_command()
        answer = subprocess.run(argv, capture_output=True, text=True, check=False)
        if answer.returncode:
            output = (answer.stderr + answer.stdout).strip().splitlines()
            errors = [line for line in output if "ERROR" in line] or output[-3:]
            raise LabError(f"{self.data} could not be made: {' '.join(errors)}")

    def _installation_command(self) -> list[str]:
        return [
            program("mariadb-install-db"),
            "--no-defaults",
            *self._as_user(),
            f"--datadir={self.data}",
            f"--tmpdir={self._own_tmp()}",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
        ]

    def copy_from(self, other: "MariaDB") -> None:
        """Replaces data and password by those of `other`, which must be stopped. Raises LabError."""
        self._make_directory()
        subprocess.run(["cp", "-a", "--reflink=auto", other.data, self.data], check=True)
        for name in ("galera.cache", "gvwstate.dat", "auto.cnf"):
            (self.data / name).unlink(missing_ok=True)  # specific to that node
        self.write_password(other.password)

    def write_password(self, password: str) -> None:
        descriptor = os.open(self.password_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.write(descriptor, password.encode())
        os.close(descriptor)

    def _make_directory(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        self._check_reachable()
        if self.data.exists():
            shutil.rmtree(self.data)  # an incomplete installation
        if os.geteuid() == 0:
            shutil.chown(self.directory, "mysql")

    def _own_tmp(self) -> Path:
        """A temporary directory per server: servers sharing /tmp delete each other's tables there when they start."""
        folder = self.directory / "tmp"
        if not folder.exists():
            folder.mkdir()
            if os.geteuid() == 0:
                shutil.chown(folder, "mysql")
        return folder

    def _make_account(self) -> None:
        password = secrets.token_urlsafe(18)
        self.write_password("")  # root has no password yet: the file read by sql() stays empty until it is set
        self.sql(";\n".join(self._account_statements(password)), user="root")
        self.write_password(password)

    def _account_statements(self, password: str) -> list[str]:
        return [
            f"CREATE OR REPLACE USER {ACCOUNT}@'%' IDENTIFIED BY '{password}'",
            f"GRANT ALL ON *.* TO {ACCOUNT}@'%' WITH GRANT OPTION",
            "DELETE FROM mysql.global_priv WHERE User = '' OR (User = 'root' AND Host <> 'localhost')",
            "FLUSH PRIVILEGES",
            f"ALTER USER root@localhost IDENTIFIED BY '{password}'",
        ]

    def last_error(self) -> str:
        """First errors in the log since the start (others follow from them), else Galera's last warnings."""
        log = self.log.read_bytes()[self._log_start :].decode(errors="replace") if self.log.exists() else ""
        errors = [line.partition("[ERROR] ")[2] for line in log.splitlines() if "[ERROR]" in line]
        errors = [error for error in errors if "Aborting" not in error]
        warnings = [line.partition("[Warning] ")[2] for line in log.splitlines() if "[Warning] WSREP" in line]
        return "; ".join(errors[:3] or warnings[-3:]) or f"see {self.log}"

    def _write_pid(self, pid: int) -> None:
        """Writes the pid at once: the server does so only when ready, and one that hangs before must be found too."""
        self._pid_file.unlink(missing_ok=True)
        self._pid_file.write_text(f"{pid}\n")
        if os.geteuid() == 0:
            shutil.chown(self._pid_file, "mysql")

    def _check_reachable(self) -> None:
        if os.geteuid() != 0:
            return
        try:
            pwd.getpwnam("mysql")
        except KeyError as error:
            raise LabError(f"there is no user mysql for the server to run as; {command_for(PROGRAMS[:1])}") from error
        for parent in self.directory.parents:
            if not parent.stat().st_mode & 0o001:
                raise LabError(f"user mysql cannot enter {parent}; chmod o+x it or choose another directory")

    def _as_user(self) -> Sequence[str]:
        """As root the server must run as another user."""
        return [f"--user={'mysql' if os.geteuid() == 0 else getpass.getuser()}"]
