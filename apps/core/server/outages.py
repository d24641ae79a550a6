"""Whether an error says that the database is away, so that the same request works again later."""

import psycopg
from django.db import InterfaceError, OperationalError

RETRY_AFTER = 5  # s
# Classes and codes of SQLSTATE: a connection lost or refused; a server that stops, crashed or is starting; too many
# connections. Errors of a statement, such as a deadlock, are others.
LOST = "08"
STATES = frozenset({"57P01", "57P02", "57P03", "57P05", "53300"})


def database_is_away(error: BaseException | None) -> bool:
    if isinstance(error, InterfaceError):  # the connection is closed
        return True
    cause = error.__cause__ if isinstance(error, OperationalError) else None
    if not isinstance(cause, psycopg.OperationalError):
        return False
    state = cause.sqlstate  # None: no server answered
    return state is None or state.startswith(LOST) or state in STATES
