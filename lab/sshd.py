"""A private sshd on loopback with throw-away keys: MHA reaches its servers' hosts by ssh only."""

import getpass
import os
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from lab.daemons import Daemon
from lab.packages import LabError, program
from lab.ports import is_free

PRIVILEGE_SEPARATION = Path("/run/sshd")  # required by root's sshd
# bash reads the user's .bashrc for a command by ssh, but not within another shell: one that waits or prints stops MHA.
NESTED = {"SHLVL": "1"}
READY_TIMEOUT = 180.0  # s; an ended process is detected at once


class Sshd:
    """Admits the current user, with the key in `directory`. `environment`: of the commands run through it."""

    def __init__(self, directory: Path, *, port: int, environment: Mapping[str, str]) -> None:
        self.directory = directory
        self.port = port
        self.user = getpass.getuser()
        self.key = directory / "ssh_key"
        self._environment = environment
        self._daemon = Daemon(directory, "sshd")

    @property
    def options(self) -> str:
        """Options for ssh and scp."""
        wanted = {
            "UserKnownHostsFile": "/dev/null",
            "StrictHostKeyChecking": "no",
            "IdentitiesOnly": "yes",
            "LogLevel": "ERROR",
        }
        return " ".join([f"-i {self.key}", *(f"-o {name}={value}" for name, value in wanted.items())])

    def start(self) -> None:
        """Raises LabError."""
        if self._daemon.pid:
            return
        for key in (self.key, self.directory / "host_key"):
            if not key.exists():
                argv = [program("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-C", "splashboard-lab", "-f", str(key)]
                subprocess.run(argv, check=True)
        if os.geteuid() == 0:
            PRIVILEGE_SEPARATION.mkdir(mode=0o755, exist_ok=True)
        file = self.directory / "sshd_config"
        file.write_text(self._configuration())
        process = self._daemon.start([program("sshd"), "-D", "-e", "-f", str(file)])
        deadline = time.monotonic() + READY_TIMEOUT
        while is_free(self.port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise LabError(f"sshd did not start: {self._daemon.last_words()}")
            time.sleep(0.05)

    def stop(self) -> None:
        self._daemon.stop()

    def _configuration(self) -> str:
        environment = " ".join(f"{name}={value}" for name, value in {**self._environment, **NESTED}.items())
        return "\n".join(
            [
                f"Port {self.port}",
                "ListenAddress 127.0.0.1",
                f"HostKey {self.directory}/host_key",
                f"AuthorizedKeysFile {self.key}.pub",
                f"AllowUsers {self.user}",
                "StrictModes no",
                "PermitRootLogin prohibit-password",
                "PasswordAuthentication no",
                "KbdInteractiveAuthentication no",
                "UsePAM no",
                "PidFile none",
                # MHA opens one connection per server at the same time.
                "MaxStartups 100",
                # scp fails without sftp, and with it a failover half-way.
                "Subsystem sftp internal-sftp",
                f"SetEnv {environment}",
                "",
            ]
        )
