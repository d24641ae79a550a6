"""The one way to wait for what happens by itself, with a limit that only a defect reaches."""

import time
from collections.abc import Callable

LIMIT = 120  # s: a busy machine is no failure, and a limit that is not reached costs nothing
PAUSE = 0.03  # s


def eventually(
    condition: Callable[[], object], *, what: str, timeout: float = LIMIT, why: Callable[[], str] = lambda: ""
) -> None:
    """`why()`: what to show with a failure, such as a log."""
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, f"did not happen within {timeout} s: {what}\n{why()}"
        time.sleep(PAUSE)
