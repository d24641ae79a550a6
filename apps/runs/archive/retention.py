"""Retention of archived runs' samples: moved out of the database after a time, and fetched back when read."""

import logging
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from typing import TypeVar

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from apps.runs.archive import manifest, refill, store, write
from apps.runs.archive.troubles import ArchiveTrouble, Damaged
from apps.runs.ingest.seal_queue import LONGEST_PAUSE, pause_after
from apps.runs.models import ArchiveAttempt, ArchivedRun, Block, Run
from apps.runs.storage import blocks

log = logging.getLogger(__name__)
T = TypeVar("T")

# Fetched samples are kept for a while: they may be read again soon.
FETCHED_STAYS = timedelta(days=1)


def waiting() -> "QuerySet[Run]":
    """Sealed runs that are not in the archive as they are now, without those of the scale rig, never archived."""
    sealed = Run.objects.filter(Q(archived=None) | Q(archived__is_outdated=True), state=Run.State.SEALED)
    return sealed.exclude(provenance=Run.Provenance.RIG)


def due(*, now: datetime, limit: int) -> list[int]:
    """Runs to be archived, newest first; none without an archive."""
    if store.configured() is None:
        return []
    found = waiting().exclude(pk__in=_paused(now).values("run_id"))
    return list(found.order_by("-id").values_list("id", flat=True)[:limit])


def _paused(now: datetime) -> QuerySet[ArchiveAttempt]:
    """Runs whose next attempt is not due. Further ahead than the longest pause: the clock was set back since."""
    return ArchiveAttempt.objects.filter(due_at__gt=now, due_at__lte=now + LONGEST_PAUSE)


def attempt(*, run_id: int, now: datetime) -> bool:
    """Archives a run. A failure is stored with its reason and retried with exponential backoff."""
    return _attempt(write.archive, "archived", run_id=run_id, now=now)


def attempt_move(*, run_id: int, now: datetime) -> bool:
    """As `attempt`, of a move."""
    return _attempt(move, "moved to the archive", run_id=run_id, now=now)


def _attempt(act: Callable[..., bool], done: str, *, run_id: int, now: datetime) -> bool:
    tried = ArchiveAttempt.objects.filter(run_id=run_id).values_list("attempts", flat=True).first() or 0
    # Counted first, in case the attempt kills its worker.
    due_at = now + pause_after(tried + 1)
    ArchiveAttempt.objects.update_or_create(run_id=run_id, defaults={"attempts": tried + 1, "due_at": due_at})
    try:
        return act(run_id=run_id, now=now)
    except ArchiveTrouble as error:
        ArchiveAttempt.objects.filter(run_id=run_id).update(problem=str(error))
        log.error("run %s could not be %s: %s", run_id, done, error)
        return False


def movable(*, now: datetime, days: int, limit: int, waiting_too: bool = False) -> list[int]:
    """Archived runs that ended over `days` ago and still have samples in the database, oldest first. `days` 0: none.
    `waiting_too`: also those that failed and are to be tried later."""
    if not days or store.configured() is None:
        return []
    held = Exists(Block.objects.filter(run=OuterRef("run"), data__isnull=False))
    unread = Q(fetched_at=None) | Q(fetched_at__lt=now - FETCHED_STAYS)
    found = ArchivedRun.objects.filter(unread, held, moved_at=None, run__ended_at__lt=now - timedelta(days=days))
    if not waiting_too:
        found = found.exclude(run_id__in=_paused(now).values("run_id"))
    return list(found.order_by("run_id").values_list("run_id", flat=True)[:limit])


def move(*, run_id: int, now: datetime) -> bool:
    """Removes an archived run's samples from the database after verifying all its files. False: not archived, already
    moved, or files are damaged; the run is then archived again.

    Raises NoArchive, StoreUnreachable.
    """
    storage = store.archive_storage()
    with transaction.atomic():
        run = write.locked(run_id)
        known = ArchivedRun.objects.filter(run=run, moved_at=None).first() if run else None
        if known is None:
            return False
        try:
            write.verify(storage, known)
        except Damaged as error:
            log.error("run %s is archived again: %s", run_id, error)
            known.delete()
            return False
        Block.objects.filter(run=run).update(data=None)
        ArchivedRun.objects.filter(run=run).update(moved_at=now, fetched_at=None)
        ArchiveAttempt.objects.filter(run=run).delete()
    return True


def fetch(run_ids: Collection[int], *, held_too: bool = False) -> int:
    """Fetches moved samples back into the database and returns the number of runs. Concurrent calls have the effect of
    one. `held_too`: also replaces samples of archived runs that were not moved.

    Raises NoArchive, Damaged, StoreUnreachable; runs before the failing one stay fetched.
    """
    return sum(_fetch(run_id, held_too=held_too) for run_id in sorted(set(run_ids)))


@transaction.atomic
def _fetch(run_id: int, *, held_too: bool) -> bool:
    run = Run.objects.select_for_update(no_key=True).filter(pk=run_id, state=Run.State.SEALED).first()
    known = ArchivedRun.objects.filter(run=run).first() if run else None
    if run is None or known is None or not (known.moved_at or held_too):
        return False
    storage = store.archive_storage()
    found = manifest.read(storage, known.manifest, sha256=known.manifest_sha256)
    refill.refill(storage, found, run)
    ArchivedRun.objects.filter(run=run).update(moved_at=None, fetched_at=timezone.now())
    return True


def with_samples(read: Callable[[], T]) -> T:
    """The result of `read`; moved samples are fetched first. Raises ArchiveTrouble."""
    try:
        return read()
    except blocks.Moved as moved:
        fetch(moved.run_ids)
    return read()
