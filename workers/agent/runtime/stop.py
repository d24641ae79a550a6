"""Early end of a job: the reasons, and the outcomes reported for each."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass

log = logging.getLogger("splashboard.agent.job")
POLL = 0.1  # s


@dataclass(frozen=True)
class Stop:
    """Outcomes to report for the current run and job; `job` empty: no longer this agent's to report. `is_permanent`: a
    further attempt would fail alike."""

    run: str
    job: str
    reason: str
    is_permanent: bool = False


CANCELLED = Stop("cancelled", "cancelled", "cancelled by request")
# The job failed, it was not cancelled: a later attempt may succeed once an agent is back.
AGENT_STOPPED = Stop("cancelled", "failed", "the agent was stopped")


def lease_lost(words: str) -> Stop:
    return Stop("cancelled", "", f"lease lost: {words}" if words else "lease lost")


def failed(reason: str, *, is_permanent: bool = False) -> Stop:
    return Stop("failed", "failed", reason, is_permanent)


class Stopped(Exception):
    """The job is to end now."""

    def __init__(self, stop: Stop) -> None:
        super().__init__(stop.reason)
        self.stop = stop


class StopSwitch:
    """Any thread may `ask`; the working thread sees it at its next check."""

    def __init__(self) -> None:
        self.asked: Stop | None = None
        self._event = threading.Event()

    def ask(self, stop: Stop) -> None:
        """The first reason wins, except that a lost lease overrides it: then there is nothing to report."""
        if self.asked is None or not stop.job:
            log.info("stopping: %s", stop.reason)
            self.asked = stop
        self._event.set()

    def check(self) -> None:
        """Raises Stopped."""
        if self.asked:
            raise Stopped(self.asked)

    def wait_until(self, done: Callable[[], bool], *, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Calls `meanwhile` several times a second. Raises Stopped and exceptions of `meanwhile`."""
        while not done():
            self.check()
            meanwhile()
            self._event.wait(POLL)
