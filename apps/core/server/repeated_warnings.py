"""Warnings that whoever asks again and again would repeat without end: one of a kind in a while, in each process."""

import logging
import time
from collections.abc import Callable, Hashable

LOGGED_EVERY = 600.0  # s
MOST_KINDS = 1_000


class RepeatedWarnings:
    """`clock`: s."""

    def __init__(self, log: logging.Logger, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._log = log
        self._clock = clock
        self._logged: dict[Hashable, float] = {}

    def warn(self, kind: Hashable, message: str, *values: object) -> None:
        """Logs `message` unless one of this `kind` was logged within LOGGED_EVERY."""
        now = self._clock()
        if now - self._logged.get(kind, -LOGGED_EVERY) < LOGGED_EVERY:
            return
        if len(self._logged) >= MOST_KINDS:
            self._logged.clear()
        self._logged[kind] = now
        self._log.warning(message, *values)
