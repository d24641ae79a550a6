"""The clock of a run, and its offset to the server's clock, by which agents on several hosts share a run's zero."""

import queue
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from workers.agent.runtime.client import LeaseGone, Rejected, ServerClient, Unreachable

TRIES = 7
T = TypeVar("T")


class RunClock:
    """Seconds since `zero`, a time of the monotonic clock, by default now; `started_at` is the wall-clock time of zero.

    All waits until a time of this clock go through it.
    """

    def __init__(self, zero: float | None = None) -> None:
        now = time.monotonic()
        self.zero = now if zero is None else zero
        self.started_at = datetime.fromtimestamp(time.time() - (now - self.zero), UTC)

    def now(self) -> float:
        return time.monotonic() - self.zero

    def iso_now(self) -> str:
        """The wall clock, as if nobody had set it since zero: a run is as long as it lasted."""
        return (self.started_at + timedelta(seconds=self.now())).isoformat()

    def wait(self, event: threading.Event, timeout: float) -> bool:
        return event.wait(timeout)

    def get(self, source: "queue.SimpleQueue[T]", timeout: float | None = None) -> T:
        """Raises queue.Empty."""
        return source.get(timeout=timeout)


@dataclass(frozen=True)
class Bearing:
    """The server's clock, s since the epoch, is this host's monotonic clock plus `offset` ± `uncertainty`."""

    offset: float
    uncertainty: float

    def ahead(self, clock: RunClock) -> float:
        """s by which the server's clock is ahead of this host's wall clock at the zero of `clock`."""
        return clock.zero + self.offset - clock.started_at.timestamp()


class ServerClock:
    """Offset of the server's clock, measured by requests; the answer with the shortest round trip wins."""

    def __init__(self, client: ServerClient) -> None:
        self._client = client
        self.last: Bearing | None = None

    def measure(self) -> Bearing | None:
        """None when the server does not answer; the previous value then stays in `last`."""
        best: Bearing | None = None
        for _ in range(TRIES):
            asked = time.monotonic()
            try:
                server_time = self._client.clock()
            except (Unreachable, Rejected, LeaseGone):
                break
            way = time.monotonic() - asked
            if best is None or way / 2 < best.uncertainty:
                best = Bearing(offset=server_time - (asked + way / 2), uncertainty=way / 2)
        self.last = best or self.last
        return best


def iso_now() -> str:
    return datetime.now(UTC).isoformat()
