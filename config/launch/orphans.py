"""Programs that outlive the process that started them: this process becomes their parent and ends them by their ids."""

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from config.launch.guard import GRACE

PR_SET_CHILD_SUBREAPER = 36
_libc = ctypes.CDLL(None, use_errno=True)


class Orphans:
    """Children of ours that we did not start. `own`: children that we did."""

    def __init__(self, own: set[int]) -> None:
        self._own = own

    def keep(self, pid: int) -> None:
        """A child that we started: its caller waits for it."""
        self._own.add(pid)

    def reap(self) -> list[int]:
        """Removes the ended ones, which would stay as zombies; returns those that run."""
        while found := [pid for pid in children() if pid not in self._own]:
            if running := [pid for pid in found if not _has_ended(pid)]:
                return running
            # All ended since they were listed: what they had started became ours only then.
        return []

    def end(self) -> None:
        """SIGKILL, again and again for at most GRACE: children of one that ended become ours too."""
        deadline = time.monotonic() + GRACE
        while (running := self.reap()) and time.monotonic() < deadline:
            for pid in running:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)


@contextmanager
def adopted() -> Iterator[Orphans]:
    """During the block orphans below us become our children instead of init's; at its end they are stopped."""
    orphans = Orphans(set(children()))
    _libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield orphans
    finally:
        orphans.end()
        _libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def children() -> list[int]:
    """Process ids of all our children, ended ones too."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                fields = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
                if int(fields[1]) == os.getpid():
                    found.append(int(entry))
    return found


def _has_ended(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True
