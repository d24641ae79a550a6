"""A run's clock that passes only while all threads wait for it: what would take seconds takes none."""

import queue
import threading
from collections.abc import Callable
from typing import TypeVar

from tests.support.waiting import PAUSE, eventually
from workers.agent.measure.clock import RunClock

FOREVER = float("inf")
T = TypeVar("T")


class VirtualClock(RunClock):
    """Of `threads` threads that wait by it alone. Stands still at first, and beyond the time given to `pass_until`."""

    def __init__(self, *, threads: int) -> None:
        super().__init__()
        self._threads = threads
        self._seconds = 0.0
        self._until = 0.0
        self._changed = threading.Condition()
        self._waiting: dict[int, tuple[Callable[[], bool], float]] = {}  # by thread: what for, and until when at most

    def now(self) -> float:
        return self._seconds

    def sleep(self, seconds: float) -> None:
        self._wait(lambda: False, self._seconds + seconds)

    def wait(self, event: threading.Event, timeout: float) -> bool:
        self._wait(event.is_set, self._seconds + timeout)
        return event.is_set()

    def get(self, source: "queue.SimpleQueue[T]", timeout: float | None = None) -> T:
        self._wait(lambda: not source.empty(), FOREVER if timeout is None else self._seconds + timeout)
        return source.get_nowait()

    def pass_until(self, seconds: float) -> None:
        """Returns when nothing more happens before that."""
        with self._changed:
            self._until = seconds
        eventually(self._stands_still, what="all threads wait for a later time")
        self._seconds = seconds

    def _wait(self, has_come: Callable[[], bool], deadline: float) -> None:
        me = threading.get_ident()
        with self._changed:
            self._waiting[me] = (has_come, deadline)
            while not has_come() and self._seconds < deadline:
                self._advance()
                # What others put into a queue is not announced here: it is looked for now and then.
                self._changed.wait(PAUSE / 10)
            del self._waiting[me]

    def _advance(self) -> None:
        """To the next moment at which a thread goes on, when none can go on before it."""
        if self._all_wait() and (moment := self._next()) <= self._until:
            self._seconds = moment
            self._changed.notify_all()

    def _stands_still(self) -> bool:
        with self._changed:
            return self._all_wait() and self._next() > self._until

    def _all_wait(self) -> bool:
        waiting = self._waiting.values()
        return len(waiting) == self._threads and not any(
            has_come() or deadline <= self._seconds for has_come, deadline in waiting
        )

    def _next(self) -> float:
        return min(deadline for _, deadline in self._waiting.values())
