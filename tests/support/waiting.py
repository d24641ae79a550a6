"""The one way to wait for what happens by itself: for a state, with a limit that only a defect reaches."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")
LIMIT = 240.0  # s: several suites on two busy cores stay far below it, and a limit that is not reached costs nothing
LIMIT_MS = 1000 * LIMIT
PAUSE = 0.03  # s between two looks


def eventually(
    look: Callable[[], Found | None],
    *,
    what: str,
    timeout: float = LIMIT,
    seen: Callable[[], object] = lambda: "nothing else",
) -> Found:
    """What `look` gives once that is true. `seen`: what stood there instead, such as a log, for the failure."""
    deadline = time.monotonic() + timeout
    while not (found := look()):
        assert time.monotonic() < deadline, f"did not happen within {timeout:.0f} s: {what}; seen: {seen()}"
        time.sleep(PAUSE)
    return found
