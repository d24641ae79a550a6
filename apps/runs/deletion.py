"""Deletes many runs with all that belongs to them."""

from collections.abc import Iterator, Sequence

from django.db import connection, transaction
from django.db.models import CASCADE, QuerySet

from apps.runs.models import Run

AT_ONCE = 1000


def delete_runs(runs: "QuerySet[Run]") -> Iterator[int]:
    """In steps of AT_ONCE, each complete; yields the number of runs deleted so far."""
    done = 0
    while ids := list(runs.order_by("pk").values_list("pk", flat=True)[:AT_ONCE]):
        _delete(ids)
        done += len(ids)
        yield done


@transaction.atomic
def _delete(ids: Sequence[int]) -> None:
    """Table by table: Django would load every row first to find references. In any order: PostgreSQL checks references
    at the end of the transaction."""
    with connection.cursor() as cursor:
        for relation in Run._meta.related_objects:
            if relation.on_delete is CASCADE:
                table, column = relation.field.model._meta.db_table, relation.field.column
                cursor.execute(f"DELETE FROM {table} WHERE {column} = ANY(%s)", [list(ids)])  # noqa: S608  our own names
        cursor.execute("DELETE FROM runs_run WHERE id = ANY(%s)", [list(ids)])
