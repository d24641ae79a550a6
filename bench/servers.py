"""Programs that the bench starts on loopback with their own files, each accessed over one HTTP connection."""

import http.client
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from config.launch import processes

STARTS_WITHIN = 60.0  # s
STOPS_WITHIN = 20.0  # s
_TICKS = os.sysconf("SC_CLK_TCK")


class Failed(Exception):
    """A program or response prevents a measurement; the text is the reason."""


class Connection:
    """One persistent HTTP connection that requests uncompressed bodies."""

    def __init__(self, port: int, headers: Mapping[str, str] | None = None) -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        self.port = port
        self._headers = {"Accept-Encoding": "identity", **(headers or {})}

    def again(self) -> "Connection":
        """Another one like it, for another thread."""
        return Connection(self.port, self._headers)

    def send(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> tuple[bytes, float]:
        """The response's body, and the seconds from the first byte sent to the last received. Raises Failed."""
        sent = {**self._headers, **(headers or {})}
        try:
            status, answer, took = self._timed(method, path, body, sent)
        except (http.client.RemoteDisconnected, ConnectionError):
            # The server closed the idle connection: measure on a new one.
            self._http.close()
            self._http.connect()
            status, answer, took = self._timed(method, path, body, sent)
        if status >= 300:
            raise Failed(f"{method} {path[:200]}: {status} {answer[:300]!r}")
        return answer, took

    def _timed(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, bytes, float]:
        began = time.perf_counter()
        self._http.request(method, path, body=body or None, headers=dict(headers))
        response = self._http.getresponse()
        answer = response.read()
        return response.status, answer, time.perf_counter() - began

    def close(self) -> None:
        self._http.close()


@contextmanager
def running(argv: Sequence[str | Path], *, folder: Path, name: str, env: Mapping[str, str]) -> Iterator[int]:
    """Process id of the program, which runs until the block ends; its output is in `folder`/`name`.log."""
    with processes.appended_log(folder / f"{name}.log") as log:
        process = processes.spawn(argv, output=log, env=env, cwd=Path.cwd())
    try:
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=STOPS_WITHIN)
        processes.kill_group(process.pid)
        process.wait()


def await_answer(port: int, path: str, *, log: Path) -> None:
    """Raises Failed if the server does not respond in time."""
    deadline = time.monotonic() + STARTS_WITHIN
    while True:
        connection = Connection(port)
        try:
            connection.send("GET", path)
            return
        except (OSError, http.client.HTTPException, Failed) as error:
            processes.Signals.check()
            if time.monotonic() > deadline:
                last = " / ".join(processes.tail(log, 3))
                raise Failed(f"no answer from {path} on port {port}: {error}; last log lines: {last}") from error
            time.sleep(0.1)
        finally:
            connection.close()


def cpu_seconds(*pids: int) -> float:
    """User and system time of the processes and all their descendants, including ended ones."""
    children: dict[int, list[int]] = {}
    spent: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                # The name in parentheses may contain any character; the state follows it.
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append(int(entry.name))
            spent[int(entry.name)] = sum(map(int, fields[11:15]))
    todo, seen = list(pids), set()
    while todo:
        pid = todo.pop()
        if pid not in seen:
            seen.add(pid)
            todo += children.get(pid, [])
    return sum(spent.get(pid, 0) for pid in seen) / _TICKS


def size_of(*folders: Path) -> int:
    """Total bytes of all files below, by their stated length."""
    total = 0
    for folder in folders:
        for path in folder.rglob("*"):
            try:
                total += path.stat().st_size if path.is_file() else 0
            except FileNotFoundError:  # merged away meanwhile
                continue
    return total


def settled(measure: Any, *, still_for: float = 3.0, at_most: float = 120.0) -> Any:
    """The value of `measure` once it has been constant for `still_for` seconds. Raises Failed."""
    deadline = time.monotonic() + at_most
    last, since = measure(), time.monotonic()
    while time.monotonic() - since < still_for:
        processes.Signals.check()
        if time.monotonic() > deadline:
            raise Failed(f"still changing after {at_most:.0f} s")
        time.sleep(0.25)
        now = measure()
        if now != last:
            last, since = now, time.monotonic()
    return last
