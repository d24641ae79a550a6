"""One start of the command: its process, its output, the tools that it ran, and the samples beside it."""

from __future__ import annotations

import glob
import os
import re
import threading
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone

from splashboard.wrap import tools
from splashboard.wrap.interrupts import Interrupts
from splashboard.wrap.outputs import OutputReader, ToolStretch
from splashboard.wrap.process import WrappedCommand
from splashboard.wrap.samples import ServerSampling
from splashboard.wrap.tool_command import ToolCommand
from splashboard.wrap.watch import ToolWatch

# s of samples before a load begins and after it ends: counts need one on each side.
MARGIN = 1.5
# Printed at the end only: these begin where the command, or the result before, does.
RESULTS = ("mysqlslap", "fio")
LONGEST_SERIES = 64 * 2**20  # bytes, that the server takes


@dataclass
class WrappedRun:
    """A run of a tool. `zero`: of the run's clock, by the monotonic clock; `command`: as it was seen; `series`: its
    logs, one after the other."""

    uid: str
    stretch: ToolStretch
    zero: float
    tool: ToolCommand | None = None
    command: str = ""
    samples: Sequence[bytes] = ()
    data_bytes: int | None = None
    series: bytes = b""

    @property
    def started_at(self) -> str:
        wall = time.time() - (time.monotonic() - self.zero)
        return datetime.fromtimestamp(wall, timezone.utc).isoformat()


@dataclass
class MeasuredCommand:
    """`output`: everything that it printed; `code`: its exit code, negative: the signal."""

    runs: list[WrappedRun]
    output: bytes
    code: int
    began: float
    interrupted: bool = False


@dataclass
class _OpenRun:
    uid: str
    zero: float
    stretch: ToolStretch | None = None


@dataclass
class _Following:
    """The runs within a command, as its output shows them; each begins a run of the samples."""

    sampling: ServerSampling | None
    began: float
    schema: str
    open: _OpenRun = field(init=False)
    done: list[WrappedRun] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._open(self.began)

    def begin(self, stretch: ToolStretch) -> None:
        if self.open.stretch is not None:
            self.end(stretch.began)
            self._open(stretch.began)
        elif stretch.format in RESULTS:
            stretch.began = self.open.zero if self.sampling is None else self.open.zero + MARGIN
        else:
            self._open(stretch.began)
        self.open.stretch = stretch

    def end(self, at: float) -> None:
        """Ends the open run, if a tool has printed anything."""
        stretch = self.open.stretch
        if stretch is None:
            return
        found = WrappedRun(self.open.uid, stretch, self.open.zero)
        if self.sampling is not None and stretch.is_run:
            found.samples, found.data_bytes = self.sampling.end(
                found.uid, tool=stretch.kind, zero=stretch.zero, at=at, schema=self.schema
            )
        self.done.append(found)

    def load(self) -> None:
        """A script may remove its tables before the end is seen: their size is asked for now."""
        if self.sampling is not None:
            self.sampling.size(self.schema)

    def _open(self, at: float) -> None:
        """With samples the run's clock begins before the load."""
        self.open = _OpenRun(str(uuid.uuid4()), at - MARGIN if self.sampling is not None else at)
        if self.sampling is not None:
            self.sampling.begin(self.open.uid, self.open.zero)


def measure(
    argv: Sequence[str],
    asked: tools.Asked,
    *,
    sampling: ServerSampling | None,
    schema: str,
    file: str,
    interrupts: Interrupts,
) -> MeasuredCommand:
    """Runs the command. `schema`: of the tables; `file`: pattern of the result's file, if it is not what is printed.

    Raises Misuse when it cannot be started.
    """
    began = time.monotonic()
    following = _Following(sampling, began, schema)
    reader = OutputReader(following.begin, following.load)
    process = WrappedCommand(argv, environment=asked.environment(), on_line=reader.add)
    watch = ToolWatch(process.pid)
    if sampling is not None:
        sampling.tool(process.pid)
    try:
        code = process.wait(interrupts)
    finally:
        watch.stop()
    ended = time.monotonic()
    direct = tools.find(argv)
    result = _result(file or (direct.file if direct else ""), since=began)
    if result is not None:
        # The file has the result; what is printed has not.
        following.open.stretch = ToolStretch(direct.format if direct else "", began, ended, [result])
    if sampling is not None:
        if following.open.stretch is not None and not process.interrupted:
            threading.Event().wait(MARGIN)
        sampling.tool(0)
    following.end(ended)
    runs = following.done[-1:] if result is not None else [each for each in following.done if each.stretch.is_run]
    for each in runs:
        seen = watch.nearest(each.stretch.began, each.stretch.format)
        each.tool, each.command = (direct, tools.shown(argv)) if direct else seen or (None, tools.shown(argv))
        each.series = _logs(seen[0].log) if seen else b""
    return MeasuredCommand(runs, b"".join(reader.everything), code, began, process.interrupted)


def _logs(begin: str) -> bytes:
    """The log of the tool's process, and of its other threads; empty: there is none, or more than the server takes."""
    names = sorted(glob.glob(f"{glob.escape(begin)}*")) if begin else []
    own = [name for name in names if re.fullmatch(r"(\.\d+)?", name[len(begin) :])]
    if sum(os.path.getsize(name) for name in own) > LONGEST_SERIES:
        return b""
    found = []
    for name in own:
        with open(name, "rb") as file:
            found.append(file.read())
    return b"".join(found)


def _result(pattern: str, *, since: float) -> bytes | None:
    """The newest file written since the command began; None: there is none."""
    if not pattern:
        return None
    wall = time.time() - (time.monotonic() - since) - 1.0  # file systems round
    files = [(os.stat(name).st_mtime, name) for name in glob.glob(os.path.expanduser(pattern))]
    newest = max((each for each in files if each[0] >= wall), default=None)
    if newest is None:
        return None
    with open(newest[1], "rb") as file:
        return file.read()
