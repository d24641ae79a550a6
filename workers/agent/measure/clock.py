"""A run's clock, and the server's, by which agents on several hosts agree on what a run's zero is."""

import queue
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from workers.agent.runtime.client import LeaseGone, Rejected, ServerClient, Unreachable

TRIES = 7
T = TypeVar("T")


class RunClock:
    """Seconds since `zero`, a moment of the monotonic clock, by default now; `started_at` is the wall clock then.

    Whoever has to wait for something until a time on this clock waits by it.
    """

    def __init__(self, zero: float | None = None) -> None:
        now = time.monotonic()
        self.zero = now if zero is None else zero
        self.started_at = datetime.fromtimestamp(time.time() - (now - self.zero), UTC)

    def now(self) -> float:
        return time.monotonic() - self.zero

    def wait(self, event: threading.Event, timeout: float) -> bool:
        return event.wait(timeout)

    def get(self, source: "queue.SimpleQueue[T]", timeout: float | None = None) -> T:
        """Raises queue.Empty."""
        return source.get(timeout=timeout)


@dataclass(frozen=True)
class Bearing:
    """The server's clock, s since the epoch, is this host's monotonic clock plus `offset`, give or take."""

    offset: float
    uncertainty: float

    def ahead(self, clock: RunClock) -> float:
        """How far the server's clock is ahead of this host's wall clock at the zero of `clock`, s."""
        return clock.zero + self.offset - clock.started_at.timestamp()


class ServerClock:
    """Measured by asking; the answer with the shortest way there and back is the best one."""

    def __init__(self, client: ServerClient) -> None:
        self._client = client
        self.last: Bearing | None = None

    def measure(self) -> Bearing | None:
        """None: the server does not answer; what was known before stays."""
        best: Bearing | None = None
        for _ in range(TRIES):
            asked = time.monotonic()
            try:
                said = self._client.clock()
            except (Unreachable, Rejected, LeaseGone):
                break
            way = time.monotonic() - asked
            if best is None or way / 2 < best.uncertainty:
                best = Bearing(offset=said - (asked + way / 2), uncertainty=way / 2)
        self.last = best or self.last
        return best


def iso_now() -> str:
    return datetime.now(UTC).isoformat()
