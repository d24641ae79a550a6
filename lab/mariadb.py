"""A real MariaDB server on loopback: made in a directory, started with given settings, stopped by its process id."""

import contextlib
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
from pathlib import Path

PROGRAMS = ("mariadbd", "mariadb-install-db", "mariadb")
INSTALL = "apt-get install --no-install-recommends mariadb-server sysbench"
ACCOUNT = "splashboard"
READY_TIMEOUT = 30.0  # s
STOP_TIMEOUT = 30.0  # s
# Small enough that several fit on a laptop.
SETTINGS = {
    "innodb_buffer_pool_size": "64M",
    "innodb_log_file_size": "64M",
    "performance_schema": "OFF",
}


class LabError(Exception):
    """The text says what is wrong and what to do."""


def program(name: str) -> str:
    """Path of a program, also when it is in /usr/sbin, which is on root's PATH only. Raises LabError."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if not found:
        raise LabError(f"{name} is not installed; install it: {INSTALL}")
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class MariaDB:
    """One server. Root and the account `splashboard` may do everything and share a password, kept in a private file.

    As root the server runs as user mysql, who must be able to reach `directory`.
    """

    def __init__(self, directory: Path, *, port: int | None = None, settings: Mapping[str, str] | None = None) -> None:
        self.directory = directory.absolute()
        self.settings = {**SETTINGS, **(settings or {})}
        self.socket = self.directory / "socket"
        self.password_file = self.directory / "password"
        self._port_file = self.directory / "port"
        self._pid_file = self.directory / "pid"
        self._log = self.directory / "error.log"
        self._data = self.directory / "data"
        self._port = port
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def port(self) -> int:
        if self._port is None:
            known = self._port_file.read_text() if self._port_file.exists() else ""
            self._port = int(known) if known else free_port()
        return self._port

    @property
    def password(self) -> str:
        return self.password_file.read_text()

    @property
    def pid(self) -> int | None:
        """None: it does not run."""
        try:
            pid = int(self._pid_file.read_text())
            command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")  # empty once the process has ended
        except (OSError, ValueError):
            return None
        return pid if f"--datadir={self._data}".encode() in command else None

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

    def start(self) -> None:
        """Makes the data directory if there is none, starts the server detached, waits until it answers. LabError."""
        if self.is_ready():
            return
        for name in PROGRAMS:
            program(name)
        if not (self._data / "mysql").is_dir():
            self._make()
        self._port_file.write_text(str(self.port))
        self._check_port()
        argv = [
            program("mariadbd"),
            "--no-defaults",
            *self._as_user(),
            f"--datadir={self._data}",
            f"--port={self.port}",
            "--bind-address=127.0.0.1",
            f"--socket={self.socket}",
            f"--pid-file={self._pid_file}",
            f"--log-error={self._log}",
            "--skip-name-resolve",
            *(f"--{name.replace('_', '-')}={value}" for name, value in self.settings.items()),
        ]
        self._process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd=self.directory,
        )
        self._await_ready(self._process)
        if not self.password_file.exists() or not self.password:
            self._make_account()

    def stop(self, *, timeout: float = STOP_TIMEOUT) -> None:
        """SIGTERM, and SIGKILL after `timeout` s."""
        for signal_number in (signal.SIGTERM, signal.SIGKILL):
            pid = self.pid
            if pid is None:
                return
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal_number)
            deadline = time.monotonic() + timeout
            while time.monotonic() < deadline:
                if self.pid is None:
                    self._reap()
                    return
                time.sleep(0.05)
        raise LabError(f"mariadbd with process id {self.pid} does not end; see {self._log}")

    def kill(self) -> None:
        """As a power cut would."""
        pid = self.pid
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
            self._reap()

    def _reap(self) -> None:
        if self._process is not None:
            self._process.wait()
            self._process = None

    def sql(self, statement: str, *, user: str = ACCOUNT) -> str:
        """What the mariadb program prints of `statement`, without headings. Raises LabError."""
        argv = [program("mariadb"), "--no-defaults", f"--socket={self.socket}", f"--user={user}", "-N", "-B"]
        environment = {**os.environ, "MYSQL_PWD": self.password}
        answer = subprocess.run(argv, input=statement, capture_output=True, text=True, env=environment, check=False)
        if answer.returncode:
            raise LabError(f"{self.directory.name}: {answer.stderr.strip()}")
        return answer.stdout

    def _make(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        self._check_reachable()
        if self._data.exists():
            shutil.rmtree(self._data)  # an installation that did not get to its end
        if os.geteuid() == 0:
            shutil.chown(self.directory, "mysql")
        argv = [
            program("mariadb-install-db"),
            "--no-defaults",
            *self._as_user(),
            f"--datadir={self._data}",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
        ]
        answer = subprocess.run(argv, capture_output=True, text=True, check=False)
        if answer.returncode:
            said = (answer.stderr + answer.stdout).strip().splitlines()
            errors = [line for line in said if "ERROR" in line] or said[-3:]
            raise LabError(f"{self._data} could not be made: {' '.join(errors)}")

    def _make_account(self) -> None:
        password = secrets.token_urlsafe(18)
        descriptor = os.open(self.password_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.write(descriptor, b"")  # root has no password yet: what sql() reads is empty until it is set
        os.close(descriptor)
        statements = [
            f"CREATE OR REPLACE USER {ACCOUNT}@'%' IDENTIFIED BY '{password}'",
            f"GRANT ALL ON *.* TO {ACCOUNT}@'%' WITH GRANT OPTION",
            "DELETE FROM mysql.global_priv WHERE User = '' OR (User = 'root' AND Host <> 'localhost')",
            "FLUSH PRIVILEGES",
            f"ALTER USER root@localhost IDENTIFIED BY '{password}'",
        ]
        self.sql(";\n".join(statements), user="root")
        self.password_file.write_text(password)

    def _await_ready(self, process: "subprocess.Popen[bytes]") -> None:
        deadline = time.monotonic() + READY_TIMEOUT
        while time.monotonic() < deadline:
            if self.is_ready():
                return
            if process.poll() is not None:
                raise LabError(f"mariadbd ended with code {process.returncode}: {self._last_error()}")
            time.sleep(0.05)
        process.kill()
        process.wait()
        raise LabError(f"mariadbd was not ready after {READY_TIMEOUT:.0f} s: {self._last_error()}")

    def _last_error(self) -> str:
        lines = self._log.read_text(errors="replace").splitlines() if self._log.exists() else []
        errors = [line.partition("[ERROR] ")[2] for line in lines if "[ERROR]" in line and "Aborting" not in line]
        return "; ".join(errors[-3:]) or f"see {self._log}"

    def _check_port(self) -> None:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", self.port))
            except OSError as error:
                raise LabError(
                    f"port {self.port} of {self.directory.name} is in use; stop who has it or delete {self._port_file}"
                ) from error

    def _check_reachable(self) -> None:
        if os.geteuid() != 0:
            return
        try:
            pwd.getpwnam("mysql")
        except KeyError as error:
            raise LabError(f"there is no user mysql for the server to run as; install it: {INSTALL}") from error
        for parent in self.directory.parents:
            if not parent.stat().st_mode & 0o001:
                raise LabError(f"user mysql cannot enter {parent}; chmod o+x it or choose another directory")

    def _as_user(self) -> Sequence[str]:
        """As root the server must run as somebody else."""
        return [f"--user={'mysql' if os.geteuid() == 0 else getpass.getuser()}"]
