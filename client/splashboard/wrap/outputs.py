"""The runs within what a command printed: each begins where a load tool begins, as its first lines show."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

# What a tool prints first -> the format.
FIRST_LINES = (
    (re.compile(rb"^sysbench \d\S*(?: \(using .+\))?$"), "sysbench"),
    (re.compile(rb"^\*\*\* .*TPC-C Load Generator \*\*\*$"), "tpcc-mysql"),
    (re.compile(rb"^(?:HammerDB CLI v\S+|Vuser \d+:.*)$"), "hammerdb"),
    (re.compile(rb"^(?:#rows #seconds #total_seconds .*|i_sec\tt_sec\t.*)$"), "iibench-py"),
    (re.compile(rb"^(?:pgbench \(\d.*\)|starting vacuum.*|transaction type: .*)$"), "pgbench"),
    (re.compile(rb'^\s*"fio version" : "fio-\d.*$'), "fio"),
    (re.compile(rb"^[A-Za-z0-9_]*,[a-z]+(?:,\d+\.\d{3}){3},\d+,\d+$"), "mysqlslap"),
    (re.compile(rb"^\d{4}/\d\d/\d\d [\d:]+ maxprocs: "), "go-tpc"),
    (re.compile(rb"^\*+ properties \*+$"), "go-ycsb"),
    (re.compile(rb"^Command line: -"), "ycsb"),
)
# The line before those, which belongs to them.
BEFORE = {"tpcc-mysql": b"***", "fio": b"{"}
# Where those are not printed; not within one that has begun.
LATER_LINES = (
    (re.compile(rb"^\[(?:Current|Summary)\] [A-Z]"), "go-tpc"),
    (re.compile(rb"^(?:YCSB Client \d|\[OVERALL\], RunTime)"), "ycsb"),
)
# Lines without which a stretch is no run: its tool prepared or removed tables.
OF_A_RUN = {
    "sysbench": re.compile(rb"^Running (?:the test|memory speed test) with following options", re.MULTILINE),
    "go-tpc": re.compile(rb"^\[(?:Current|Summary)\] ", re.MULTILINE),
}
# Its one run has several such lines.
ONCE = ("hammerdb", "iibench-py")
SYSBENCH_KINDS = (
    (re.compile(rb"^(?:CPU speed:|Prime numbers limit: )", re.MULTILINE), "cpu"),
    (re.compile(rb"^Running memory speed test|MiB transferred \(", re.MULTILINE), "memory"),
    (re.compile(rb"^(?:File operations:|Extra file open flags: )", re.MULTILINE), "fileio"),
)
THREADS = {
    "sysbench": re.compile(rb"^Number of threads: (\d+)\r?$", re.MULTILINE),
    "pgbench": re.compile(rb"^number of clients: (\d+)\r?$", re.MULTILINE),
}
# The end of an interval, s on the tool's clock.
INTERVALS = {
    "sysbench": re.compile(rb"^\[ (\d+)s \] (?!Checkpoint)"),
    "pgbench": re.compile(rb"^progress: (\d{1,7}\.\d) s, "),
}
# pgbench's first lines come from two streams: each begins a run that has one already, or has ended.
PGBENCH_BEGINS = (re.compile(rb"^pgbench \("), re.compile(rb"^starting vacuum"), re.compile(rb"^transaction type: "))
PGBENCH_END = re.compile(rb"^tps = .*\((?!including connections)", re.MULTILINE)
CHECKPOINT = re.compile(rb"^\[ (\d+)s \] Checkpoint report:\r?$", re.MULTILINE)
STARTED = b"Threads started!"
FATAL = re.compile(rb"^(?:FATAL|ALERT): (.+)$", re.MULTILINE)
ROUNDED_UP = 0.1  # share of a tool's lines whose second may be rounded up


@dataclass
class ToolStretch:
    """What a tool printed, from its first line on. Times: of this host's monotonic clock, s."""

    format: str
    began: float
    ended: float
    lines: list[bytes] = field(default_factory=list)
    _started: float | None = None
    _early: list[float] = field(default_factory=list)

    @property
    def content(self) -> bytes:
        return b"".join(self.lines)

    def add(self, line: bytes, t: float) -> None:
        self.lines.append(line)
        self.ended = t
        if self.format not in INTERVALS:
            return
        if line.rstrip() == STARTED and self._started is None:
            self._started = t
        found = INTERVALS[self.format].match(line)
        if found:
            self._early.append(t - float(found[1]))

    @property
    def zero(self) -> float:
        """Second 0 of the tool's own clock: as the earliest lines show it, since a line is never read too early."""
        early = sorted(self._early)
        seen = [each for each in (self._started, early[int(ROUNDED_UP * len(early))] if early else None) if each]
        return min(seen, default=self.began)

    @property
    def is_run(self) -> bool:
        """False: the tool prepared or removed its tables."""
        needed = OF_A_RUN.get(self.format)
        return needed is None or bool(needed.search(self.content))

    @property
    def kind(self) -> str:
        """The format; one of sysbench's machine tests by what it printed."""
        if self.format != "sysbench":
            return self.format
        return next((kind for pattern, kind in SYSBENCH_KINDS if pattern.search(self.content)), "sysbench")

    @property
    def threads(self) -> int | None:
        found = THREADS[self.format].search(self.content) if self.format in THREADS else None
        return int(found[1]) if found else None

    @property
    def checkpoint(self) -> int | None:
        """The second at which its totals begin; None: they cover all."""
        found = CHECKPOINT.findall(self.content)
        return int(found[-1]) if found and self.format == "sysbench" else None

    @property
    def fatal(self) -> str:
        found = FATAL.search(self.content)
        return found[1].decode("utf-8", "replace").strip() if found else ""


class OutputReader:
    """Divides lines into stretches as they come. `on_begin` is called with each new one, `on_load` when the load of one
    begins, as far as its tool prints that. Any thread may add."""

    def __init__(
        self, on_begin: Callable[[ToolStretch], None] = lambda _: None, on_load: Callable[[], None] = lambda: None
    ) -> None:
        self._on_begin, self._on_load = on_begin, on_load
        self._lock = threading.Lock()
        self._last = b""
        self.stretches: list[ToolStretch] = []
        self.everything: list[bytes] = []

    def add(self, line: bytes, t: float) -> None:
        with self._lock:
            self.everything.append(line)
            begun = self._begun(line.rstrip(b"\r\n"))
            if begun:
                self.stretches.append(ToolStretch(begun, t, t))
                if begun in BEFORE and self._last.startswith(BEFORE[begun]):
                    self.stretches[-1].lines.append(self._last)
                self._on_begin(self.stretches[-1])
            if self.stretches:
                self.stretches[-1].add(line, t)
                if line.rstrip() == STARTED:
                    self._on_load()
            self._last = line

    def runs(self) -> list[ToolStretch]:
        return [each for each in self.stretches if each.is_run]

    def _begun(self, line: bytes) -> str:
        name = next((name for pattern, name in FIRST_LINES if pattern.match(line)), "")
        if name in ONCE and any(each.format == name for each in self.stretches):
            return ""
        if name == "pgbench" and self.stretches and self.stretches[-1].format == name:
            before = self.stretches[-1]
            begin = next(pattern for pattern in PGBENCH_BEGINS if pattern.match(line))
            ended = PGBENCH_END.search(before.content) or any(begin.match(each) for each in before.lines)
            # The warnings of -C and the lines of single tables belong to it.
            return name if ended and not (begin is PGBENCH_BEGINS[1] and not PGBENCH_END.search(before.content)) else ""
        if not name:
            open_format = self.stretches[-1].format if self.stretches else ""
            later = (name for pattern, name in LATER_LINES if name != open_format and pattern.match(line))
            name = next(later, "")
        return name
