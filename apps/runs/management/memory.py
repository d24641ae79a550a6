"""A bound on the memory of a command that reads files of strangers: Arrow has none of its own."""

import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def bounded(most: int) -> Iterator[None]:
    """Whoever takes over `most` bytes more than the process has now gets a MemoryError (RLIMIT_AS of setrlimit(2)).

    Only Linux counts a process' addresses; elsewhere nothing is bounded.
    """
    if sys.platform != "linux":
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    there = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limits = [each for each in (soft, hard, there + most) if each != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
