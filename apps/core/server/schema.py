"""Migrations wait for a lock for a moment only: while one waits, every later query of its table waits behind it."""

import time
from collections.abc import Callable
from typing import Any

from django.db import OperationalError, connection
from psycopg.errors import LockNotAvailable

LOCK_WITHIN = 5_000  # ms
PAUSE = 5.0  # s in which the queries that waited get their turn
TRIES = 24


class TableInUse(Exception):
    """A lock was not to be had; the text is the database's."""


def migrate(
    apply: Callable[[], object],
    *,
    report: Callable[[str], None],
    lock_within: int = LOCK_WITHIN,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Calls `apply` until every lock was had; migrations that it has completed stay. Raises TableInUse."""

    def patiently(execute: Callable[..., Any], sql: Any, *rest: Any) -> Any:
        """CONCURRENTLY waits for older transactions and stops nobody; given up, it leaves an index that is invalid."""
        if "CONCURRENTLY" not in str(sql):
            return execute(sql, *rest)
        _limit(0)
        done = execute(sql, *rest)
        _limit(lock_within)
        return done

    for number in range(1, TRIES + 1):
        _limit(lock_within)
        try:
            with connection.execute_wrapper(patiently):
                apply()
        except OperationalError as error:
            if not isinstance(error.__cause__, LockNotAvailable):
                raise
            if number == TRIES:
                raise TableInUse(str(error).strip()) from error
            report(f"a table is in use; try {number + 1} of {TRIES} follows in {PAUSE:.0f} s")
            sleep(PAUSE)
        else:
            break
    _limit(0)


def _limit(milliseconds: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, false)", [str(milliseconds)])
