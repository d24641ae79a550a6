"""Samples of the server and this host: by the agent's samplers, in a process of their own (the extra `sampling`)."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from splashboard.server import printable
from splashboard.wrap.target import LoadedServer

ANSWERS_WITHIN = 60.0  # s: a busy server is slow to connect to
REMEDY = "install it in a checkout by `pip install ./workers/agent` (Python 3.11 or newer)"


class SamplingFailed(Exception):
    """The extra is missing, or the server cannot be asked; the text has the reason."""


class ServerSampling:
    """Samples `target` from its start to `stop`. The password goes through a pipe, never a command line."""

    def __init__(self, target: LoadedServer) -> None:
        """Raises SamplingFailed."""
        self._folder = tempfile.TemporaryDirectory(prefix="splashboard-samples-")  # mode 0700
        self._process = subprocess.Popen(
            _program(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the command
        )
        self._answers: queue.Queue[bytes | None] = queue.Queue()  # None: it has ended
        self._has_ended = False
        threading.Thread(target=self._read, daemon=True).start()
        self._send(
            {
                "folder": self._folder.name,
                "kind": target.kind,
                "connection": list(target.connection),
                "user": target.user,
                "password": target.password,
                "host": target.host or "localhost",
                "port": target.port,
                "socket": target.socket,
                "parent": os.getpid(),
            }
        )
        self.facts: Mapping[str, Any] = self._answer()
        problem = self.facts.get("problem", "the sampler did not answer")
        if problem:
            self.stop()
            raise SamplingFailed(printable(problem))

    def tool(self, pid: int) -> None:
        """The command whose session's CPU time is sampled; 0: none any more."""
        self._send({"what": "tool", "pid": pid})

    def begin(self, run: str, at: float) -> None:
        """`at`: zero of the run's clock, by the monotonic clock."""
        self._send({"what": "begin", "run": run, "at": at})

    def size(self, schema: str) -> None:
        """Asks for the bytes of the run's tables, while there are any."""
        if schema:
            self._send({"what": "size", "schema": schema})

    def end(self, run: str, *, tool: str, zero: float, at: float, schema: str) -> tuple[list[bytes], int | None]:
        """The batches of the run, and the bytes of its tables; what is lost is left out."""
        self._send({"what": "end", "run": run, "tool": tool, "zero": zero, "at": at, "schema": schema})
        found = self._answer(run)
        batches = []
        for name in found.get("files", ()):
            file = Path(self._folder.name) / Path(name).name
            batches.append(file.read_bytes())
            file.unlink()
        return batches, found.get("data_bytes")

    def stop(self) -> None:
        if self._process.stdin is not None and not self._process.stdin.closed:
            with contextlib.suppress(OSError):  # it has ended
                self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()

    def _send(self, message: Mapping[str, Any]) -> None:
        stdin = self._process.stdin
        try:
            assert stdin is not None  # noqa: S101  opened as a pipe
            stdin.write(json.dumps(message).encode() + b"\n")
            stdin.flush()
        except OSError:
            pass  # it has ended: no answer comes

    def _read(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None  # noqa: S101  opened as a pipe
        with stdout:
            for line in stdout:
                self._answers.put(line)
        self._answers.put(None)

    def _answer(self, run: str = "") -> dict[str, Any]:
        """The answer about this run; those that came too late for the runs before are passed over. Empty: there is
        none."""
        until = time.monotonic() + ANSWERS_WITHIN
        while not self._has_ended:
            try:
                line = self._answers.get(timeout=max(0.0, until - time.monotonic()))
                found = json.loads(line) if line is not None else None
            except (queue.Empty, ValueError):
                return {}
            self._has_ended = line is None
            if isinstance(found, dict) and found.get("run", "") == run:
                return found
        return {}


def _program() -> list[str]:
    """The agent beside this client, else one on PATH. Raises SamplingFailed."""
    try:
        if importlib.util.find_spec("workers.agent.programs.beside") is not None:
            return [sys.executable, "-m", "workers.agent", "sample"]
    except ImportError:
        pass
    elsewhere = shutil.which("splashboard-agent")
    if elsewhere is None:
        raise SamplingFailed(f"sampling needs the agent's package: {REMEDY}")
    return [elsewhere, "sample"]
