"""The supervisor's child processes, and the guard that stops them when the supervisor is killed."""

import contextlib
import fcntl
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from config.launch import guard, processes
from config.launch.console import LaunchProblem, LaunchStep, Screen
from config.launch.guard import Child
from config.launch.places import Places

PROGRAMS, STORES = 2, 1  # ranks: programs stop before the stores they use


class RunLock:
    """One supervisor per var/. The guard holds the lock too, until all processes of a killed supervisor are gone."""

    def __init__(self, places: Places, screen: Screen) -> None:
        self.path = places.var / "supervisor.lock"
        self.file = open(self.path, "a+")  # noqa: SIM115 - held for the life of the process
        step = LaunchStep(screen, "Waiting for the previous run to end")
        while not self._take():
            holder = self.holder(self.path)
            if holder:
                self.file.close()
                raise LaunchProblem(
                    f"Splashboard is running already (process {holder}, its data in {places.var}): "
                    "stop it with Ctrl-C there or `make stop`, or give this one its own SPLASHBOARD_VAR."
                )
            processes.Signals.check()
            step.tick()
            time.sleep(processes.POLL)
        step.done()
        self.file.truncate(0)
        self.file.write(f"{os.getpid()} {guard.started_at(os.getpid())}\n")
        self.file.flush()

    def release(self) -> None:
        self.file.close()

    def _take(self) -> bool:
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    @staticmethod
    def holder(path: Path) -> int | None:
        """Process id of the supervisor if it is alive."""
        try:
            pid, started = path.read_text().split()
        except (FileNotFoundError, ValueError):
            return None
        return int(pid) if guard.started_at(int(pid)) == started else None


@dataclass
class Children:
    """Our process groups. Also written to var/children, for a start after both supervisor and guard were killed."""

    places: Places
    lock: RunLock
    _guard: "subprocess.Popen[bytes] | None" = None
    _known: dict[str, tuple[Child, "subprocess.Popen[bytes]"]] = field(default_factory=dict)

    def add(self, name: str, process: "subprocess.Popen[bytes]", *, rank: int, signum: int) -> None:
        child = Child(rank, process.pid, guard.started_at(process.pid), signum)
        self._known[name] = (child, process)
        self._report(f"add {child.to_line()}")
        self._write()

    def drop(self, name: str) -> None:
        """Removes an ended process and kills the rest of its group."""
        child, _ = self._known.pop(name)
        processes.kill_group(child.pid)
        self._report(f"drop {child.pid}")
        self._write()

    def process(self, name: str) -> "subprocess.Popen[bytes]":
        return self._known[name][1]

    def ended(self) -> list[tuple[str, int]]:
        """Name and exit code of each ended child."""
        return [(name, p.returncode) for name, (_, p) in self._known.items() if p.poll() is not None]

    def start_guard(self) -> None:
        self._guard = subprocess.Popen(
            [sys.executable, "-I", "-S", str(Path(guard.__file__))],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
            pass_fds=[self.lock.file.fileno()],
        )
        for child, _ in self._known.values():
            self._report(f"add {child.to_line()}")

    def keep_guard(self) -> None:
        """Start the guard again if it was killed."""
        if self._guard is None or self._guard.poll() is not None:
            self.start_guard()

    def _report(self, line: str) -> None:
        if self._guard and self._guard.stdin:
            with contextlib.suppress(BrokenPipeError):  # keep_guard starts another and resends all children
                self._guard.stdin.write(f"{line}\n".encode())
                self._guard.stdin.flush()

    def _write(self) -> None:
        text = "".join(f"{child.to_line()}\n" for child, _ in self._known.values())
        part = self.places.var / "children.part"
        with contextlib.suppress(OSError):  # a full disk: the guard knows them
            part.write_text(text)
            part.replace(self.places.var / "children")

    def stop_leftovers(self, screen: Screen) -> None:
        """Stops processes of an earlier run whose supervisor and guard were both killed."""
        with contextlib.suppress(FileNotFoundError):
            lines = (self.places.var / "children").read_text().splitlines()
            left = [child for child in map(Child.from_line, lines) if guard.is_ours(child)]
            if left:
                screen.line(f"  Stopping {len(left)} programs that a killed run left behind.")
                guard.stop(left)

    def stop_all(self, screen: Screen, *, grace: float = guard.GRACE) -> None:
        """Stops everything, programs first, and releases the lock; a second signal kills at once."""
        step = LaunchStep(screen, "Stopping")
        for rank in (PROGRAMS, STORES):
            group = {name: pair for name, pair in self._known.items() if pair[0].rank == rank}
            for child, _ in group.values():
                guard.signal_group(child.pid, child.signum)
            deadline = time.monotonic() + grace
            while any(p.poll() is None for _, p in group.values()) and time.monotonic() < deadline:
                try:
                    processes.Signals.check()
                except processes.Interrupted:
                    break
                step.tick(", ".join(name for name, (_, p) in group.items() if p.poll() is None))
                time.sleep(processes.POLL)
            for name, (_, process) in group.items():
                processes.kill_group(process.pid)
                process.wait()
                self.drop(name)
        step.done()
        if self._guard:
            self._guard.communicate(b"bye\n")
            self._guard = None
        self.lock.release()
