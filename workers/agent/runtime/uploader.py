"""Sends the spooled messages, each group in order, until the server has stored all of them."""

import logging
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from workers.agent.runtime.client import MessageFate, ServerClient
from workers.agent.runtime.spool import Corrupt, Spool, SpoolEntry

log = logging.getLogger("splashboard.agent.upload")
LONGEST_PAUSE = 10.0  # s
FIRST_PAUSE = 0.5  # s
# Failures after which the pause is the longest.
MANY = 6


def pause_after(failures: int, chance: float) -> float:
    """Seconds to wait after `failures` consecutive failures; `chance` in [0, 1) spreads the agents."""
    return min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(failures - 1, 10)) * (0.5 + chance / 2)


@dataclass
class _Failures:
    failures: int
    until: float


class Uploader:
    """One thread. `on_refused(entry, reason)` is called for every quarantined message."""

    def __init__(self, *, spool: Spool, client: ServerClient, on_refused: Callable[[SpoolEntry, str], None]) -> None:
        self._spool = spool
        self._client = client
        self._on_refused = on_refused
        self._trouble: dict[str, _Failures] = {}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="uploader", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, *, timeout: float) -> None:
        """Lets the spool drain for at most `timeout` seconds; the rest stays on disk for the next start."""
        deadline = time.monotonic() + timeout
        while not self._spool.is_empty() and time.monotonic() < deadline:
            self._trouble.clear()
            self._spool.wait(min(0.2, timeout))
        self._stopping.set()
        self._thread.join(timeout=2)

    def _work(self) -> None:
        while not self._stopping.is_set():
            if not self._send_what_may_go():
                self._spool.wait(0.2)

    def _send_what_may_go(self) -> bool:
        """Whether anything left the spool."""
        moved = False
        for entry in self._spool.heads():
            trouble = self._trouble.get(entry.group)
            if self._stopping.is_set() or (trouble and time.monotonic() < trouble.until):
                continue
            try:
                moved |= self._send(entry)
            except Exception as error:  # of any kind: the other messages must still be sent
                log.exception("cannot work with %s; trying again", entry.file)
                self._postpone(entry, str(error))
        return moved

    def _send(self, entry: SpoolEntry) -> bool:
        try:
            message = self._spool.read(entry)
        except Corrupt as problem:
            self._quarantine(entry, f"corrupt: {problem}")
            return True
        sent = self._client.send(message)
        match sent.fate:
            case MessageFate.STORED:
                self._trouble.pop(entry.group, None)
                self._spool.delete(entry)
                return True
            case MessageFate.REFUSED:
                self._trouble.pop(entry.group, None)
                self._quarantine(entry, f"{message.method} {message.path}: {sent.text}")
                return True
            case MessageFate.FOREIGN:
                self._postpone(entry, f"{sent.text} (not Splashboard's answer: a proxy's?)", at_least=MANY)
                return False
            case MessageFate.UNAUTHORIZED:
                log.error("the server does not accept this agent's token (%s); give it a valid one", sent.text)
        self._postpone(entry, sent.text)
        return False

    def _postpone(self, entry: SpoolEntry, why: str, *, at_least: int = 1) -> None:
        before = self._trouble.get(entry.group)
        failures = max(at_least, before.failures + 1 if before else 1)
        pause = pause_after(failures, random.random())  # noqa: S311  (spreads load, guards nothing)
        if before is None:
            log.warning("upload of %s waits: %s", entry.file.name, why)
        self._trouble[entry.group] = _Failures(failures, time.monotonic() + pause)

    def _quarantine(self, entry: SpoolEntry, reason: str) -> None:
        log.error("%s was quarantined in %s: %s", entry.file.name, self._spool.refused, reason)
        self._spool.quarantine(entry, reason)
        self._on_refused(entry, reason)
