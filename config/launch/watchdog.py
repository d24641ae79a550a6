"""What runs is started again when it ends or hangs, with growing pauses; what was, when and why is kept."""

import contextlib
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from apps.core.server import restarts
from config.launch import processes
from config.launch.children import Children
from config.launch.console import LaunchProblem, Screen
from config.launch.places import Places
from config.launch.pulses import Pulse

RESTARTS = 5  # consecutive; a program that ran for HEALTHY_AFTER resets the count
HEALTHY_AFTER = 60.0  # s
PULSES_EVERY = 1.0  # s
FULL_DISK_WAIT = 15.0  # s between starts while the disk is full, of which none is counted


@dataclass
class Watched:
    """`launch` starts it; `pulse`: None where its end is all that is looked for.

    `is_ready` of a store: whether it answers; the signs of life of programs are not missed while it does not.
    """

    launch: Callable[[], None]
    pulse: Pulse | None = None
    is_ready: Callable[[], bool] | None = None
    started: float = 0.0
    ended_in_a_row: int = 0
    again_at: float | None = None


@dataclass
class Watchdog:
    places: Places
    screen: Screen
    children: Children
    watched: dict[str, Watched] = field(default_factory=dict)
    _pulses_at: float = 0.0

    def keep(self, name: str, watched: Watched) -> None:
        """From now on; it runs."""
        self.watched[name] = watched
        self._begin(watched)

    def turn(self) -> None:
        """Looks once, without waiting. Raises LaunchProblem when something ended too often."""
        for name, code in self.children.ended():
            if name in self.watched:
                self.children.drop(name)
                self._plan(name, f"ended unexpectedly ({how(code)})")
        for watched in self.watched.values():
            if watched.again_at is not None and time.monotonic() >= watched.again_at:
                watched.launch()
                watched.again_at = None
                self._begin(watched)
        if time.monotonic() >= self._pulses_at:
            self._pulses_at = time.monotonic() + PULSES_EVERY
            self._look_at_pulses()

    def _look_at_pulses(self) -> None:
        can_work = self._stores_answer()
        for name, watched in self.watched.items():
            if watched.pulse is None or watched.again_at is not None:
                continue
            if not can_work:
                watched.pulse.begin()
            elif why := watched.pulse.trouble(time.monotonic()):
                self._end(name)
                self._plan(name, f"hung: {why}")

    def _stores_answer(self) -> bool:
        stores = [watched for watched in self.watched.values() if watched.is_ready]
        return all(store.again_at is None and store.is_ready and store.is_ready() for store in stores)

    @staticmethod
    def _begin(watched: Watched) -> None:
        watched.started = time.monotonic()
        if watched.pulse:
            watched.pulse.begin()

    def _end(self, name: str) -> None:
        """What hangs hears no other signal."""
        process = self.children.process(name)
        processes.kill_group(process.pid)
        process.wait()
        self.children.drop(name)

    def _plan(self, name: str, why: str) -> None:
        watched, now = self.watched[name], time.monotonic()
        report_end(self.places, self.screen, name, why)
        wait = FULL_DISK_WAIT
        if not self._disk_is_full():
            watched.ended_in_a_row = 1 if now - watched.started > HEALTHY_AFTER else watched.ended_in_a_row + 1
            if watched.ended_in_a_row > RESTARTS:
                raise LaunchProblem(
                    f"{name} ended {watched.ended_in_a_row} times in a row, so everything is stopped: "
                    f"{processes.cause(self.places.log_of(name)) or 'see its log and run again'}. "
                    f"The full log is {self.places.log_of(name)}."
                )
            wait = 2.0 ** (watched.ended_in_a_row - 1)
        watched.again_at = now + wait
        self.screen.line(f"  Starting {name} again in {wait:.0f} s.")
        with contextlib.suppress(OSError):  # a full disk; the line above is what remains
            restarts.note(self.places.var, restarts.Restart(name, time.time(), why))

    def _disk_is_full(self) -> bool:
        return shutil.disk_usage(self.places.var).free < processes.FULL


def report_end(places: Places, screen: Screen, name: str, why: str) -> None:
    log = places.log_of(name)
    screen.line(f"  {time.strftime('%Y-%m-%d %H:%M:%S')} {name} {why}. The end of {log}:")
    for line in processes.tail(log):
        screen.line(f"    | {line}")


def how(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
