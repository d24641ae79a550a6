"""Bytes to and from PostgreSQL as they are: Django's own cursor writes them as text of twice the length."""

import select
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, LiteralString

import psycopg
from django.db import connection


@contextmanager
def cursor() -> Iterator[psycopg.Cursor[Any]]:
    """Within Django's connection and its transaction. Bytes are written as `%(name)b`, and read with `binary=True`."""
    if _has_word_from_the_server():
        connection.close_if_health_check_failed()
    connection.ensure_connection()
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as found:
        yield found


def _has_word_from_the_server() -> bool:
    """On a kept connection, unasked: mostly that it ended. To look costs nothing; Django's own check is a query."""
    kept = connection.connection
    if kept is None or kept.closed:
        return kept is not None
    poll = select.poll()
    poll.register(kept.fileno(), select.POLLIN)
    return bool(poll.poll(0))


def fetch(
    query: LiteralString, parameters: Sequence[object] | Mapping[str, object], *, prepare: bool = False
) -> list[Any]:
    """Its rows. `prepare`: the database keeps the plan for the connection, which is most of a small query's time."""
    if connection.queries_logged:
        connection.queries_log.append({"sql": query, "time": ""})
    with cursor() as found:
        found.execute(query, parameters, binary=True, prepare=prepare)
        return list(found.fetchall())
