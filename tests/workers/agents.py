"""Agents as a test starts them: a configuration file and a real process."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.paths import ROOT
from tests.support.waiting import LIMIT


class ConfigFile:
    """An agent's configuration that can grow. Short intervals, so that tests are short too."""

    def __init__(self, file: Path, *, url: str) -> None:
        self.file = file
        self.spool = file.parent / "spool"
        (file.parent / "token").write_text("secret-of-the-agent\n")
        file.write_text(
            f'[server]\nurl = "{url}"\ntoken_file = "token"\n'
            f'[agent]\nname = "test"\nspool = "{self.spool}"\nflush_interval = 0.3\npoll_interval = 0.05\n'
            "minimum_free_mb = 1\n"
            '[[hardware]]\nslug = "box"\nvcpu = 2\nmemory_mb = 4096\n'
        )

    def add_system(self, slug: str, *, port: int, password: str, **fields: str) -> None:
        more = "".join(f'{key} = "{value}"\n' for key, value in fields.items())
        with self.file.open("a") as stream:
            stream.write(
                f'[[systems]]\nslug = "{slug}"\nplatform = "mariadb"\nhardware_class = "box"\n'
                f'host = "127.0.0.1"\nport = {port}\nuser = "splashboard"\npassword = "{password}"\n{more}'
            )

    def include(self, directory: Path) -> None:
        """The systems that are described in its agent.d."""
        self.file.write_text(f'include = ["{directory}/agent.d/*.toml"]\n{self.file.read_text()}')

    def waiting(self) -> list[str]:
        """Names of the files in the spool's queue."""
        return sorted(file.name for file in (self.spool / "queue").glob("*.message"))

    def holds_end_of_run(self) -> bool:
        """Whether the end of a run waits to be sent."""
        for name in self.waiting():
            try:
                head = (self.spool / "queue" / name).read_bytes().partition(b"\n")[0]
            except FileNotFoundError:
                continue  # sent meanwhile
            if b'"run-end"' in head:
                return True
        return False


class AgentProcess:
    def __init__(self, config: Path) -> None:
        self.log = config.with_suffix(".log")
        with self.log.open("a") as stream:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "workers.agent", "run", "--config", str(config)],
                cwd=ROOT,
                stdout=stream,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )

    def kill(self) -> None:
        """As a power cut would; nothing is left of the process itself."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def terminate(self, *, timeout: float = LIMIT) -> int:
        """Exit code after SIGTERM."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=timeout)
