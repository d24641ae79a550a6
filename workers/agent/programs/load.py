"""sysbench as a child of one of our programs: its lines are passed on, its intervals and totals kept."""

import contextlib
import json
import os
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from workers.agent.programs.report import Failed, Secrets, emit, emit_begin, line
from workers.agent.programs.stalls import LoadInterval

SCRIPT = Path(__file__).resolve().parent.parent / "lua" / "reported.lua"
START_GRACE = 60.0  # s, to connect all threads
END_GRACE = 60.0  # s, for the last transactions
# Control statements per transaction: BEGIN and COMMIT.
CONTROLS = {"oltp_read_write": 2, "oltp_write_only": 2}
MARKS = 0.05  # s: resolution of the transactions' end times
IGNORED = "1213,1020,1205,1412"  # sysbench's default and "table definition has changed"


@dataclass(frozen=True)
class SysbenchPlan:
    """A sysbench invocation. `options` as spelled by sysbench; `rate`, 1/s; `warmup` and `measured`, whole s."""

    test: str
    options: Mapping[str, str]
    threads: int
    rate: float | None = None
    warmup: int = 0
    measured: int = 1

    def argv(self, secrets: Secrets, password_file: Path) -> tuple[str, ...]:
        where = (
            [f"--mysql-socket={secrets.socket}"]
            if secrets.socket
            else [f"--mysql-host={secrets.host}", f"--mysql-port={secrets.port}"]
        )
        found = ["sysbench", str(SCRIPT), f"--config-file={password_file}", "--db-driver=mysql", *where]
        found += [f"--mysql-user={secrets.user}", f"--mysql-db={secrets.schema}", f"--threads={self.threads}"]
        return (*found, *(f"--{name.replace('_', '-')}={value}" for name, value in self.options.items()))

    def run_options(self) -> tuple[str, ...]:
        found = [f"--time={self.warmup + self.measured}", "--report-interval=1", "--histogram=on", "--percentile=95"]
        found.append(f"--mysql-ignore-errors={IGNORED}")
        found += [f"--rate={self.rate:g}"] if self.rate is not None else []
        return (*found, *([f"--report-checkpoints={self.warmup}"] if self.warmup else []))


@dataclass
class Load:
    """`with Load(…) as load`: running inside the block, terminated on an error. Times in s on its own clock."""

    plan: SysbenchPlan
    secrets: Secrets
    password_file: Path
    tool: str = ""  # if set, `begin` is printed for this tool when the load begins
    origin: float | None = None  # zero of the report's clock, by the monotonic clock; None: this load's beginning
    marked: bool = False  # keep `ends`
    intervals: list[LoadInterval] = field(default_factory=list)
    ends: set[int] = field(default_factory=set)  # MARKS-long slots of the monotonic clock in which a transaction ended
    total: dict[str, Any] | None = None
    counts: Counter[str] = field(default_factory=Counter)  # over the whole run, by sysbench's kinds

    def __enter__(self) -> "Load":
        self._started = threading.Event()
        self._zero = 0.0
        self._fatal: list[str] = []
        self._process = subprocess.Popen(
            (*self.plan.argv(self.secrets, self.password_file), *self.plan.run_options(), "run"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env={
                **os.environ,
                "SPLASH_TEST": self.plan.test,
                "SPLASH_CHECKPOINT": str(self.plan.warmup),
                "SPLASH_MARKS": str(MARKS if self.marked else 0),
            },
        )
        self._reader = threading.Thread(target=self._read, name="sysbench", daemon=True)
        self._reader.start()
        deadline = time.monotonic() + START_GRACE
        while not self._started.wait(0.05):
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.__exit__(None, None, None)
                raise Failed(f"sysbench did not start: {self._fatal_text()}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(3)
            self._process.kill()
            self._process.wait()
        self._reader.join(2)

    @property
    def zero(self) -> float:
        """Start of the load, by the monotonic clock."""
        return self._zero

    def now(self) -> float:
        return time.monotonic() - self._zero

    def sleep_until(self, t: float) -> None:
        """Returns at once when `t` has passed."""
        time.sleep(max(0.0, t - self.now()))

    def transaction_ends(self) -> list[float]:
        """Rising end times of transactions, with a resolution of MARKS s."""
        return [place * MARKS - self._zero for place in sorted(self.ends)]

    def is_on(self) -> bool:
        return self._process.poll() is None

    def finish(self) -> dict[str, Any]:
        """Waits for the end and returns the totals. Raises Failed."""
        left = self.plan.warmup + self.plan.measured + END_GRACE - self.now()
        try:
            code = self._process.wait(max(1.0, left))
        except subprocess.TimeoutExpired as error:
            raise Failed(f"sysbench had not ended {END_GRACE:.0f} s after its time: its threads are blocked") from error
        self._reader.join(5)
        if code != 0 or self.total is None:
            raise Failed(f"sysbench ended with code {code}: {self._fatal_text()}")
        return self.total

    def executed(self) -> Counter[str]:
        """Counts for `emit_executed`. sysbench counts writes that matched nothing together with BEGIN and COMMIT; a
        retried transaction begins again."""
        counts, controls = self.counts, CONTROLS.get(self.plan.test, 0)
        control = controls * counts["transactions"] + (counts["errors"] if controls else 0)
        found = Counter({name: counts[name] for name in ("reads", "writes", "errors")})
        found["unmatched"] = max(0, counts["others"] - control)
        return found

    def _fatal_text(self) -> str:
        return "; ".join(self._fatal[:3]) or "no reason given"

    def _read(self) -> None:
        stream = self._process.stdout
        assert stream is not None  # noqa: S101  (opened as a pipe above)
        with stream:
            for text in stream:
                self._take(text.rstrip("\r\n"))

    def _take(self, text: str) -> None:
        if text.startswith("@") and text[1:].isdigit():
            self.ends.add(int(text[1:]))
            return
        if text.startswith("Threads started!"):
            self._zero = time.monotonic()
            if self.origin is None:
                self.origin = self._zero
            if self.tool:
                emit_begin(self.tool, zero=self._zero)
            self._started.set()
        if text.startswith("FATAL: "):
            # Printed again by the program when it ends, so that the reason is on one line.
            self._fatal.append(text.removeprefix("FATAL: "))
            return
        if not text.startswith('{"kind":"'):
            line(text)
            return
        found: dict[str, Any] = json.loads(text)
        kind = found.pop("kind")
        if kind == "interval":
            counts = found["counts"]
            self.intervals.append(LoadInterval(found["t"], found["seconds"], counts["transactions"]))
        elif kind == "total":
            self.total = dict(found)
            self.counts.update(found["counts"])  # each total covers the time since the one before
        offset = self._zero - (self.origin or self._zero)
        for name in ("t", "from", "to"):
            if name in found:
                found[name] = round(found[name] + offset, 4)
        emit(kind, **found)


def prepare(plan: SysbenchPlan, secrets: Secrets, password_file: Path, step: str = "prepare") -> None:
    """sysbench's prepare or cleanup. Raises Failed."""
    done = subprocess.run(
        (*plan.argv(secrets, password_file), step),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "SPLASH_TEST": plan.test},
    )
    if done.returncode:
        failures = [text for text in done.stdout.splitlines() if "FATAL" in text] or done.stdout.splitlines()[-1:]
        raise Failed(f"sysbench {step}: {'; '.join(failures)[:500]}")


def password_text(secrets: Secrets) -> str:
    """sysbench strips the outer quotes and has no escapes; the configuration rejects passwords that need any."""
    return f'mysql-password="{secrets.password}"\n'
