"""Deletes many runs with all that belongs to them, and files that no run has."""

import logging
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.db.models import CASCADE, SET_NULL, ForeignObjectRel, QuerySet

from apps.core.problems import FieldProblem, Invalid
from apps.runs.models import Artifact, Run
from apps.runs.storage import artifacts

AT_ONCE = 1000
LOCK = 5_204_731  # of PostgreSQL, this module's own
# Of a file without a run: an upload, or a restore that stores files before rows, may be under way.
LEFT_AFTER = timedelta(days=1)
# Of the store's folders, named by the first two digits of their files: all within a day, a part each hour.
FOLDERS, PARTS = 256, 24
# In each part; more are unusual, unless there are as many files with a run.
FEW = 10

log = logging.getLogger(__name__)


def delete_runs(runs: "QuerySet[Run]") -> Iterator[int]:
    """In steps of AT_ONCE, each complete; yields the number of runs deleted so far. Files that no run has any more go
    too. Raises Invalid while a backup is made, IntegrityError where something else still needs one of the runs."""
    done = 0
    while ids := list(runs.order_by("pk").values_list("pk", flat=True)[:AT_ONCE]):
        own = Artifact.objects.filter(run__in=ids).order_by()
        hashes = list(own.values_list("sha256", flat=True).distinct())
        _delete(ids)
        artifacts.remove_unused(hashes)
        done += len(ids)
        yield done


def remove_leftovers(*, now: datetime) -> int:
    """Removes files that no run has, of a process that was killed between file and row; returns how many. Looks at one
    part of the store, which depends on the hour; leaves it while a backup is made."""
    part = int(now.timestamp() // 3600) % PARTS
    folders = [f"{number:02x}" for number in range(part, FOLDERS, PARTS)]
    with _without_backup() as may_delete:
        if not may_delete or not Artifact.objects.exists():
            return 0
        stored = {name for folder in folders for name in artifacts.stored_in(folder)}
        known = set(Artifact.objects.filter(sha256__in=stored).values_list("sha256", flat=True))
        lost = [sha256 for sha256 in sorted(stored - known)[:AT_ONCE] if artifacts.age(sha256, now=now) > LEFT_AFTER]
        if len(lost) > max(FEW, len(known)):
            log.error("%d files have no run, %d have one: is this another installation's store?", len(lost), len(known))
            return 0
        return artifacts.remove_unused(lost)


@contextmanager
def _without_backup() -> Iterator[bool]:
    """False: one is being made."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [LOCK])
        is_free = cursor.fetchone()[0]
        try:
            yield is_free
        finally:
            if is_free:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK])


@contextmanager
def no_deletion() -> Iterator[None]:
    """For a backup, whose snapshot lists files that it reads later. Enter it outside a transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock_shared(%s)", [LOCK])
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock_shared(%s)", [LOCK])


@transaction.atomic
def _delete(ids: Collection[int]) -> None:
    """Table by table: Django would load every row first to find references. In any order: PostgreSQL checks references
    at the end of the transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK])
        if not cursor.fetchone()[0]:
            raise Invalid([FieldProblem("backup", "it is being made and needs all files", "try again when it is done")])
        for relation in Run._meta.get_fields(include_hidden=True):
            if isinstance(relation, ForeignObjectRel):
                _let_go(cursor, relation, ids)
        cursor.execute("DELETE FROM runs_run WHERE id = ANY(%s)", [list(ids)])


def _let_go(cursor: CursorWrapper, relation: ForeignObjectRel, ids: Collection[int]) -> None:
    table, column = relation.field.model._meta.db_table, relation.field.column  # our own names
    if relation.on_delete is CASCADE:
        cursor.execute(f"DELETE FROM {table} WHERE {column} = ANY(%s)", [list(ids)])  # noqa: S608
    elif relation.on_delete is SET_NULL:
        cursor.execute(f"UPDATE {table} SET {column} = NULL WHERE {column} = ANY(%s)", [list(ids)])  # noqa: S608
