"""Binary transfer of bytes to and from PostgreSQL: Django's own cursor sends them as text of twice the length."""

import select
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, LiteralString

import psycopg
from django.db import connection


@contextmanager
def cursor() -> Iterator[psycopg.Cursor[Any]]:
    """A cursor in Django's connection and transaction. Write bytes as `%(name)b`, read them with `binary=True`."""
    if _has_unread_input():
        connection.close_if_health_check_failed()
    connection.ensure_connection()
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as found:
        yield found


def _has_unread_input() -> bool:
    """Whether a kept connection has unread input, usually its end. Costs nothing; Django's own check is a query."""
    kept = connection.connection
    if kept is None or kept.closed:
        return kept is not None
    poll = select.poll()
    poll.register(kept.fileno(), select.POLLIN)
    return bool(poll.poll(0))


def fetch(
    query: LiteralString, parameters: Sequence[object] | Mapping[str, object], *, prepare: bool = False
) -> list[Any]:
    """The rows of `query`. `prepare`: caches the plan in the connection; planning is most of a small query's time."""
    if connection.queries_logged:
        connection.queries_log.append({"sql": query, "time": ""})
    with cursor() as found:
        found.execute(query, parameters, binary=True, prepare=prepare)
        return list(found.fetchall())
