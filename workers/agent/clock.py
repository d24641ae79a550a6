"""A run's clock."""

import time
from datetime import UTC, datetime


class RunClock:
    """Seconds since it was made, on the monotonic clock; `started_at` is the wall clock at its zero."""

    def __init__(self) -> None:
        self.started_at = datetime.now(UTC)
        self._zero = time.monotonic()

    def now(self) -> float:
        return time.monotonic() - self._zero


def iso_now() -> str:
    return datetime.now(UTC).isoformat()
