"""The load tools that a script starts, by the command lines of its processes (/proc; nothing elsewhere)."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path

from splashboard.wrap.tool_command import ToolCommand
from splashboard.wrap.tools import family, find, shown

EVERY = 0.1  # s


class ToolWatch:
    """Looks at the processes of the session that `pid` leads until `stop`."""

    def __init__(self, pid: int, *, proc: Path = Path("/proc")) -> None:
        self._pid = pid
        self._proc = proc
        self._seen: dict[tuple[int, bytes], None] = {}
        self._found: list[tuple[float, ToolCommand, str]] = []
        self._tools: set[int] = set()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join(timeout=2)

    def nearest(self, t: float, form: str) -> tuple[ToolCommand, str] | None:
        """The tool first seen nearest to `t` that prints output of that format (empty: any), and its command line;
        None: none was seen."""
        alike = [each for each in self._found if form in ("", family(each[1].format))]
        found = min(alike, key=lambda each: abs(each[0] - t), default=None)
        return None if found is None else found[1:]

    def _work(self) -> None:
        while not self._stopping.wait(EVERY):
            for pid in self._members():
                try:
                    line = (self._proc / str(pid) / "cmdline").read_bytes()
                except OSError:
                    continue  # it has ended
                if not line or (pid, line) in self._seen:
                    continue
                self._seen[pid, line] = None
                argv = line.decode("utf-8", "replace").rstrip("\0").split("\0")
                tool = find(argv)
                if tool is not None:
                    self._tools.add(pid)
                    tool = replace(tool, log=self._log(tool.log, pid))
                    self._found.append((time.monotonic(), tool, shown(argv)))

    def _log(self, prefix: str, pid: int) -> str:
        """Of a process: pgbench writes PREFIX.PID and, of its other worker threads, PREFIX.PID.THREAD."""
        if not prefix:
            return ""
        try:
            folder = (self._proc / str(pid) / "cwd").readlink()
        except OSError:
            return ""  # it has ended
        return f"{folder / prefix}.{pid}"

    def _members(self) -> list[int]:
        """The command and what it started."""
        found, waiting = [], [self._pid]
        while waiting:
            pid = waiting.pop()
            found.append(pid)
            if pid in self._tools:
                continue  # it may have thousands of threads, and starts nothing of interest
            try:
                for task in (self._proc / str(pid) / "task").iterdir():
                    waiting += [int(child) for child in (task / "children").read_text().split()]
            except OSError:
                continue
        return found
