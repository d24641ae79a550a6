"""Deletes many runs with all that belongs to them."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.db.models import CASCADE, SET_NULL, ForeignObjectRel, QuerySet

from apps.core.problems import FieldProblem, Invalid
from apps.runs.models import Artifact, Run
from apps.runs.storage import artifacts

AT_ONCE = 1000
LOCK = 5_204_731  # of PostgreSQL, this module's own


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
