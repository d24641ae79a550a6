"""MHA's own programs: patched copies of two of its modules for MariaDB, its configuration, manager and switchover."""

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from lab import repoint
from lab.daemons import Daemon
from lab.mariadb import MariaDB
from lab.packages import LabError, program
from lab.sshd import Sshd

ACCOUNT = "mha"
SETTINGS = {"ping_interval": "1"}  # s; four consecutive failed pings mean a dead source
BEGIN = "The lab starts the manager."
WATCHING = "waiting until MySQL doesn't respond"
GIVEN_UP = "is not reachable from health checker"
WATCHING_TIMEOUT = 180.0  # s; its checks take ten, on a busy machine far longer
MODULES = Path("/usr/share/perl5/MHA")
# (module, original, replacement): newer Perls fail on the first two, MariaDB has no super_read_only.
CHANGES = (
    ("NodeUtil.pm", "'%03d%03d%03d', $str =~ m/(\\d+)/g )", "'%03d%03d%03d', ( $str =~ m/(\\d+)/g )[0..2] )"),
    ("NodeUtil.pm", "'%03d%03d', $str =~ m/(\\d+)/g )", "'%03d%03d', ( $str =~ m/(\\d+)/g )[0..1] )"),
    ("SlaveUtil.pm", "SELECT \\@\\@global.super_read_only as Value", "SHOW GLOBAL VARIABLES LIKE 'super_read_only'"),
    ("SlaveUtil.pm", "if ( $href->{Value} == '1' )", "if ( $href && $href->{Value} eq 'ON' )"),
)


class Manager:
    """`password`: of MHA's account on every server. MHA's tools show it in `ps`, so it is used for nothing else."""

    def __init__(self, directory: Path, *, sshd: Sshd, servers: Mapping[str, MariaDB], password: str) -> None:
        self.directory = directory
        self.overlay = directory / "perl"
        self._daemon = Daemon(directory, "manager")
        self._sshd = sshd
        self._servers = servers
        self._password = password
        self._file = directory / "mha.cnf"

    @property
    def log(self) -> Path:
        return self._daemon.log

    @property
    def pid(self) -> int | None:
        return self._daemon.pid

    def is_watching(self) -> bool:
        _, watching, later = self._current_log().rpartition(WATCHING)
        return self.pid is not None and bool(watching) and GIVEN_UP not in later

    def is_failing_over(self) -> bool:
        return self.pid is not None and GIVEN_UP in self._current_log().rpartition(WATCHING)[2]

    def _current_log(self) -> str:
        """The log since the last start."""
        return self.log.read_text(errors="replace").rpartition(BEGIN)[2] if self.log.exists() else ""

    def write_files(self) -> None:
        """Raises LabError."""
        folder = self.overlay / "MHA"
        folder.mkdir(parents=True, exist_ok=True)
        for name in {name for name, _, _ in CHANGES}:
            text = (MODULES / name).read_text()
            for module, old, new in CHANGES:
                text = text.replace(old, new) if module == name else text
            (folder / name).write_text(text)
        script = self.directory / "repoint"
        argv = [sys.executable, "-I", "-S", repoint.__file__, str(self.directory)]
        script.write_text(f'#!/bin/sh\nexec {shlex.join(argv)} "$@"\n')
        script.chmod(0o755)
        self._file.touch(mode=0o600)
        self._file.write_text("\n".join(self._lines(script)) + "\n")

    def _lines(self, script: Path) -> list[str]:
        lines = [
            "[server default]",
            f"user={ACCOUNT}",
            f"password={self._password}",
            f"repl_user={ACCOUNT}",
            f"repl_password={self._password}",
            f"ssh_user={self._sshd.user}",
            f"ssh_port={self._sshd.port}",
            f"ssh_options={self._sshd.options}",
            f"manager_workdir={self.directory}",
            f"remote_workdir={self.directory}/remote",
            f"master_ip_failover_script={script}",
            f"master_ip_online_change_script={script}",
            f"secondary_check_script={script} --command=suspect",
            *(f"{key}={value}" for key, value in SETTINGS.items()),
        ]
        for number, server in enumerate(self._servers.values(), start=1):
            lines += [f"[server{number}]", "hostname=127.0.0.1", f"port={server.port}", "candidate_master=1"]
            # All servers are on this machine, so that ssh needs no test for each pair.
            lines += [f"master_binlog_dir={server.data}", "skip_init_ssh_check=1"]
        return lines

    def start(self) -> None:
        """Starts it and waits until it watches. Raises LabError, for example when a server is dead: MHA needs all."""
        if self.is_watching():
            return
        self.stop()
        for name in ("mha.failover.complete", "mha.failover.error"):
            (self.directory / name).unlink(missing_ok=True)
        with self.log.open("a") as log:
            log.write(f"{BEGIN}\n")
        process = self._daemon.start([program("masterha_manager"), *self._options()], environment=self._environment())
        deadline = time.monotonic() + WATCHING_TIMEOUT
        while not self.is_watching():
            if process.poll() is not None or time.monotonic() > deadline:
                raise LabError(f"MHA's manager does not watch: {self._last_error()} (see {self.log})")
            time.sleep(0.1)

    def stop(self) -> None:
        self._daemon.stop()

    def switch(self, target: MariaDB) -> None:
        """A planned switchover to `target`. Raises LabError."""
        self.stop()  # it holds a lock against switchovers
        argv = [program("masterha_master_switch"), "--master_state=alive", "--interactive=0", *self._options()[:2]]
        argv += ["--new_master_host=127.0.0.1", f"--new_master_port={target.port}", "--orig_master_is_new_slave"]
        # Long transactions are lost.
        argv += ["--running_updates_limit=10000"]
        answer = subprocess.run(argv, env=self._environment(), capture_output=True, text=True, check=False)
        with (self.directory / "switch.log").open("a") as log:
            log.write(answer.stdout + answer.stderr)
        if answer.returncode:
            errors = [line for line in (answer.stdout + answer.stderr).splitlines() if "[error]" in line]
            raise LabError(f"the switch failed: {' '.join(errors[:2]) or f'see {self.directory}/switch.log'}")

    def _options(self) -> list[str]:
        none = f"--global_conf={self.directory}/none.cnf"  # skips the machine's own configuration
        return [f"--conf={self._file}", none, "--ignore_last_failover"]

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PERL5LIB": str(self.overlay)}

    def _last_error(self) -> str:
        errors = re.findall(r"\[error\]\[.*?\] (.*)", self._current_log())
        return errors[0] if errors else self._daemon.last_words()
