"""A session of psql, PostgreSQL's own client: it finds the server by its own options, variables and files, as pgbench
does, and its password in a file of passwords, a variable, or the given one."""

import contextlib
import json
import os
import select
import subprocess
import time
from collections.abc import Sequence
from typing import Any

from workers.agent.samplers import SourceFailed

PROGRAM = ("psql", "--no-psqlrc", "--no-password", "--tuples-only", "--no-align", "--quiet")
ANSWER_TIMEOUT = 10.0  # s
END = "end of the answer"


class PsqlSession:
    """Starts at the first statement, and again after a failure.

    `arguments`: of psql, for the database. `password`: goes into its environment, never its command line.
    """

    def __init__(self, arguments: Sequence[str], password: str = "") -> None:
        self._argv = [*PROGRAM, *arguments]
        # Messages in English; a server that says nothing is given up as early as one of MySQL.
        stated = {"LC_ALL": "C", "PGAPPNAME": "splashboard-agent", "PGCONNECT_TIMEOUT": "5"}
        self._environment = {**os.environ, **stated, **({"PGPASSWORD": password} if password else {})}
        self._process: subprocess.Popen[bytes] | None = None
        self.statements = 0

    @property
    def is_open(self) -> bool:
        return self._process is not None

    def ask(self, statement: str) -> dict[str, Any]:
        """The one row of a statement, a JSON object. Raises SourceFailed with the server's words."""
        process = self._process or self._start()
        assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018  opened as pipes
        self.statements += 1
        with contextlib.suppress(OSError):  # it has ended: its last words follow
            process.stdin.write(f"{statement}\n;\n\\echo {END}\n".encode())
            process.stdin.flush()
        lines = self._answer(process.stdout.fileno())
        try:
            return row_of(lines)
        except SourceFailed:
            self.close()
            raise

    def close(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):  # what was not written is lost with it
                    stream.close()
        try:
            process.wait(timeout=1)
        except subprocess.TimeoutExpired:  # it waits for the server
            process.kill()
            process.wait()

    def _start(self) -> "subprocess.Popen[bytes]":
        try:
            self._process = subprocess.Popen(
                self._argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=self._environment,
            )
        except OSError as error:
            raise SourceFailed(
                f"psql cannot be started: {error.strerror}: install PostgreSQL's client (postgresql-client)"
            ) from error
        return self._process

    def _answer(self, file: int) -> list[str]:
        """Lines up to END, or all that psql says before it ends. Raises SourceFailed."""
        until, said = time.monotonic() + ANSWER_TIMEOUT, b""
        poll = select.poll()
        poll.register(file, select.POLLIN)
        while f"{END}\n".encode() not in said:
            if not poll.poll(max(0.0, until - time.monotonic()) * 1000):
                self.close()
                raise SourceFailed(f"it did not answer in {ANSWER_TIMEOUT:g} s")
            chunk = os.read(file, 65536)
            if not chunk:
                break
            said += chunk
        lines = said.decode("utf-8", "replace").splitlines()
        return [line.removeprefix("psql: error: ") for line in lines if line.strip() and line != END]


def row_of(lines: Sequence[str]) -> dict[str, Any]:
    """The JSON object among the lines of an answer. Raises SourceFailed."""
    found = next((line for line in lines if line.startswith("{")), None)
    if found is None:
        raise SourceFailed(" ".join(lines)[:300] or "psql ended without a word")
    try:
        row: dict[str, Any] = json.loads(found)
    except (ValueError, RecursionError) as error:
        raise SourceFailed(f"psql's answer is no JSON: {error}") from error
    return row
