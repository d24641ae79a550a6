"""Restores many runs in several processes: a start waits for them."""

import gc
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context

import django
from django.core.files.storage import Storage
from django.db import connection

from apps.runs.api import archive

# With fewer runs, starting processes takes longer than it saves.
FEWEST = 20
AT_ONCE = 8
NICENESS = 5  # the server answers already
_known = archive.KnownRows()


@dataclass(frozen=True)
class RestoredExample:
    """`run`: its id; None: it was here already, or could not be restored for `problem`."""

    run: int | None
    problem: str


def restored(wanted: Sequence[tuple[Storage, str]], *, processes: int) -> Iterator[RestoredExample]:
    """One for each manifest of `wanted`, as they are done. In several processes, systems and workloads are created
    first, by one run of each, so that no two processes create the same."""
    # What was kept may have been deleted since.
    _known.metrics.clear()
    _known.configurations.clear()
    if processes == 1 or len(wanted) < FEWEST:
        yield from (_restore(each) for each in wanted)
        return
    first = list({path.rpartition("/")[0]: (source, path) for source, path in reversed(wanted)}.values())
    rest = [each for each in wanted if each not in first]
    # A process that was forked would share this one's connections.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=django.setup) as pool:
        for _ in range(processes):
            pool.submit(_begin)  # starts a process, while this one restores the first runs
        yield from (_restore(each) for each in first)
        yield from pool.map(_restore_in_pool, rest, chunksize=AT_ONCE)


@cache
def _begin() -> None:
    """Of each process of the pool."""
    gc.freeze()
    os.nice(NICENESS)
    # What a crash loses is restored by the next start.
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit TO off")


def _restore_in_pool(one: tuple[Storage, str]) -> RestoredExample:
    _begin()
    return _restore(one)


def _restore(one: tuple[Storage, str]) -> RestoredExample:
    source, path = one
    found = archive.restore(source, path=path, known=_known, siblings=False)
    return RestoredExample(found.run.pk if found.run else None, found.problem)
