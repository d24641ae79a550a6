"""Writes that go on after the load, while the struck node comes back: what its return costs the clients."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from workers.agent.faults import phases
from workers.agent.faults.lanes import Attempt, Lane, LoadClock
from workers.agent.faults.phases import Gap, Write
from workers.agent.faults.record import Record

BEFORE = 1.0  # s of these writes before a repair begins
AFTER = 3.0  # s that they go on once every node is in sync


class Onward:
    """Inserts on the schedule of the load, at `rate` 1/s. Their numbers begin at `first`: those of the load are below.

    `lane` makes their lane.
    """

    def __init__(
        self, clock: LoadClock, record: Record, lane: Callable[[Callable[[Attempt], None]], Lane], rate: float
    ) -> None:
        self._clock, self._record, self._rate = clock, record, rate
        self._lane = lane(record.insert_onward)
        self.first = 0

    def start(self, since: float) -> None:
        """From second `since` of the load's clock on, or now. Raises pymysql.MySQLError or OSError."""
        self._lane.warm()
        self.first = int(max(since, self._clock.now()) * self._rate) + 1
        self._lane.start(since=self.first / self._rate)
        time.sleep(BEFORE)

    def finish(self) -> None:
        time.sleep(AFTER)
        self.stop()

    def stop(self) -> None:
        self._lane.stop()
        self._lane.finish()

    def gap(self, began: float) -> Gap | None:
        """The longest time without an acknowledged write from `began` on; None: no write was due then."""
        loads = (self._record.writes(), self._record.writes_onward())
        found = [gap for writes in loads if (gap := longest(writes, since=began)) is not None]
        return max(found, key=lambda gap: gap.length, default=None)


def longest(writes: Sequence[Write], *, since: float) -> Gap | None:
    """Of one load: the longest gap from `since` on, of one open then only what follows; None: its last write was due
    before."""
    until = max((write.due for write in writes), default=since)
    first = min((write.due for write in writes), default=since)
    if until <= since:
        return None
    found = phases.gaps(writes, start=first, until=until)
    after = [replace(gap, start=max(gap.start, since)) for gap in found if gap.end is None or gap.end > since]
    return max(after, key=lambda gap: gap.length, default=None)
