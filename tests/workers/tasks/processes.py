"""A real broker and a real worker with beat, as processes of the test."""

import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from config.launch import binaries
from tests.paths import ROOT
from tests.support.ports import ReservedPort
from tests.support.stores import database_url
from tests.support.waiting import LIMIT, eventually


@dataclass
class Broker:
    folder: Path
    reserved: ReservedPort = field(default_factory=ReservedPort)
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def port(self) -> int:
        return self.reserved.number

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        program = binaries.redis_server("").path
        words = [str(program), "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(self.folder)]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
        eventually(self._answers, what="the broker answers")

    def stop(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=LIMIT) as probe:
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
        environment = os.environ | {
            "DATABASE_URL": database_url(),
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
        eventually(lambda: " ready." in self.said(), what="the worker is ready", seen=self.said)

    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def kill(self) -> None:
        """As a lost machine would: no signal to clean up."""
        if self.process:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None
            self.log.rename(self.log.with_suffix(f".{time.monotonic_ns()}"))
