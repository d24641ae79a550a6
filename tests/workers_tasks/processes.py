"""A real broker and a real worker with beat, as processes of the test."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from django.db import connection

from config.launch import binaries
from lab.ports import free_port

ROOT = Path(__file__).resolve().parents[2]


def eventually(condition: Callable[[], bool], *, within: float, why: Callable[[], str] = lambda: "") -> None:
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline, f"not within {within} s\n{why()}"
        time.sleep(0.05)


@dataclass
class Broker:
    folder: Path
    port: int = field(init=False)
    process: "subprocess.Popen[bytes] | None" = None

    def __post_init__(self) -> None:
        self.port = free_port(self.folder)

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        program = binaries.redis_server("").path
        words = [str(program), "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(self.folder)]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
        eventually(self._answers, within=30)

    def stop(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait(timeout=10)
            self.process = None

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as probe:
                probe.sendall(b"PING\r\n")
                return probe.recv(16).startswith(b"+PONG")
        except OSError:
            return False


@dataclass
class Worker:
    folder: Path
    broker: Broker
    var: Path
    beat: bool = False
    concurrency: int = 1
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def log(self) -> Path:
        return self.folder / "worker.log"

    def start(self) -> None:
        settings = connection.settings_dict
        place = f"{settings['HOST']}:{settings['PORT']}" if settings["PORT"] else settings["HOST"]
        password = f":{settings['PASSWORD']}" if settings["PASSWORD"] else ""
        environment = os.environ | {
            "DATABASE_URL": f"postgres://{settings['USER']}{password}@{place}/{settings['NAME']}",
            "REDIS_URL": self.broker.url,
            "SPLASHBOARD_VAR": str(self.var),
        }
        words = [sys.executable, "-m", "celery", "-A", "workers.celery", "worker", "-l", "INFO"]
        words += ["--concurrency", str(self.concurrency), "--without-gossip", "--without-mingle"]
        if self.beat:
            words += ["--beat", "--schedule", str(self.folder / "schedule")]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                words, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )
        eventually(lambda: self._said(" ready."), within=90, why=self.said)

    def _said(self, words: str) -> bool:
        return words in self.said()

    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def kill(self) -> None:
        """As a lost machine would: no signal to clean up."""
        if self.process:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(timeout=10)
            self.process = None
            self.log.rename(self.log.with_suffix(f".{time.monotonic_ns()}"))
