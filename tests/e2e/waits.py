"""The one wait of these tests: for a state, never for a time."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")
# A bound for what never comes: also several busy suites on two cores stay far below it.
LIMIT = 240.0  # s
LIMIT_MS = 1000 * LIMIT
PAUSE = 0.1  # s between two looks


def eventually(
    look: Callable[[], Found | None], *, what: str, seen: Callable[[], object] = lambda: "nothing else"
) -> Found:
    """What `look` gives once that is true. `seen`: what stood there instead, for the failure's message."""
    deadline = time.monotonic() + LIMIT
    while not (found := look()):
        assert time.monotonic() < deadline, f"not within {LIMIT:.0f} s: {what}; seen: {seen()}"
        time.sleep(PAUSE)
    return found
