"""The agent's share of the processors: its threads that read clocks and counters go before others where allowed.

Of a machine whose processors are all taken, they would else read late what happened earlier.
"""

import contextlib
import os
import threading
from pathlib import Path

NICE = -10
AUTOGROUP = Path("/proc/self/autogroup")  # sched(7): where it exists, niceness counts within a session only


def go_first() -> bool:
    """Raises the priority of this thread alone, so that no program that the agent starts inherits it. False: not
    allowed (it takes CAP_SYS_NICE)."""
    try:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
    except OSError:
        return False
    with contextlib.suppress(OSError):
        AUTOGROUP.write_text(str(NICE))
    return True


class ProcessorWait:
    """Time for which the agent's threads were ready to run and had no processor."""

    def __init__(self) -> None:
        self._of: dict[str, int] = {}  # thread -> ns; of one that ended, what it had waited when last seen

    def seconds(self) -> float | None:
        """Sum over all threads, s; None: this kernel does not tell."""
        for task in os.listdir("/proc/self/task"):
            try:
                self._of[task] = int(Path(f"/proc/self/task/{task}/schedstat").read_text().split()[1])
            except ProcessLookupError:
                continue  # it has ended
            except FileNotFoundError:
                if not Path("/proc/self/schedstat").exists():
                    return None
        return sum(self._of.values()) / 1e9
