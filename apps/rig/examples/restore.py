"""Restores many runs in several processes: a start waits for them."""

import gc
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context

import django
from django.core.files.storage import Storage
from django.db import connection

from apps.runs.api import archive

AT_ONCE = 4
NICENESS = 5  # the server answers already
_known = archive.KnownRows()


@dataclass(frozen=True)
class RestoredExample:
    """`run`: its id; None: it was here already, or could not be restored for `problem`."""

    run: int | None
    problem: str


@contextmanager
def pool(processes: int) -> Iterator[Executor | None]:
    """Processes that restore, already starting; None for one."""
    # What was kept may have been deleted since.
    _known.forget()
    if processes == 1:
        yield None
        return
    # A process that was forked would share this one's connections.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=django.setup) as found:
        for _ in range(processes):
            found.submit(_begin)
        yield found


def restored(wanted: Sequence[tuple[Storage, str]], pool: Executor | None) -> Iterator[RestoredExample]:
    """One for each manifest of `wanted`, as they are done. Before several processes begin, one run of each platform:
    most of what runs share is there then, and few processes create the same."""
    if pool is None:
        yield from (_restore(each) for each in wanted)
        return
    first = list({_platform(path): (source, path) for source, path in reversed(wanted)}.values())
    rest = [each for each in wanted if each not in first]
    yield from (_restore(each) for each in first)
    yield from pool.map(_restore_in_pool, rest, chunksize=AT_ONCE)


def _platform(path: str) -> str:
    return next((part for part in path.split("/") if part.startswith("platform=")), "")


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
