"""Room on the disks that the server writes to: below a limit it is read-only, until there is clearly more again.

PostgreSQL stops when it has no room for its log, and then nobody reads either: writes end before that.
"""

import errno
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg
from django.conf import settings

from apps.core.units import with_unit

RETRY_AFTER = 30  # s
CLEARLY_MORE = 1.25  # times the limit: writing begins again
# s for which a write that failed ends all others: the disk may be that of another machine, whose room is not seen.
FAILED_FOR = 30.0
# No space on the device, or quota exceeded.
FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True)
class Shortage:
    """`folder`: relative to the parent of var/ where it is below; `free` and `needed` in bytes, None: unknown."""

    folder: str = ""
    free: int | None = None
    needed: int | None = None

    def sentence(self) -> str:
        if self.free is None or self.needed is None:
            return "a write found no room on a disk of the server, maybe that of its database: free some space there"
        free, needed = with_unit(self.free, "bytes"), with_unit(self.needed, "bytes")
        return f"{self.folder} has {free} free and needs {needed}: free some space there"


def is_shortage(error: BaseException) -> bool:
    """Whether a write failed for want of space: ours, or one of PostgreSQL's."""
    full_disk = isinstance(error, OSError) and error.errno in FULL
    return full_disk or isinstance(error.__cause__, psycopg.errors.DiskFull)


def free_bytes(folder: Path) -> int:
    """Raises OSError, for example where the folder is missing."""
    return shutil.disk_usage(folder).free


class SpaceGate:
    """Closed while a folder has too little room. One of a process."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._closed: set[Path] = set()
        self._failed_until = 0.0

    def note_failure(self) -> None:
        """A write has failed for want of space."""
        self._failed_until = self._clock() + FAILED_FOR

    def shortage(self) -> Shortage | None:
        """None: writes are accepted."""
        limit: int = settings.LEAST_FREE_BYTES
        folders: Sequence[Path] = settings.DISKS
        for folder in folders:
            needed = int(limit * CLEARLY_MORE) if folder in self._closed else limit
            try:
                free = free_bytes(folder)
            except OSError:  # not made yet, or another server's
                continue
            if free < needed:
                self._closed.add(folder)
                return Shortage(name_of(folder), free, int(limit * CLEARLY_MORE))
            self._closed.discard(folder)
        return Shortage() if self._clock() < self._failed_until else None


def name_of(folder: Path) -> str:
    """Relative to the parent of var/ where it is below."""
    top = settings.VAR_DIR.parent
    return str(folder.relative_to(top) if folder.is_relative_to(top) else folder)


gate = SpaceGate()
