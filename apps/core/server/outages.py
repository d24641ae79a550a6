"""Whether an error says that the database or the object store is away, so that the same request works again later."""

import psycopg
from django.db import InterfaceError, OperationalError

RETRY_AFTER = 5  # s
# Classes and codes of SQLSTATE: a connection lost or refused; a server that stops, crashed or is starting; too many
# connections. Errors of a statement, such as a deadlock, are others.
LOST = "08"
STATES = frozenset({"57P01", "57P02", "57P03", "57P05", "53300"})

BOTOCORE = "botocore.exceptions"
SERVER_ERROR = 500
BUSY = frozenset({"SlowDown", "RequestTimeout"})


def database_is_away(error: BaseException | None) -> bool:
    if isinstance(error, InterfaceError):  # the connection is closed
        return True
    cause = error.__cause__ if isinstance(error, OperationalError) else None
    if not isinstance(cause, psycopg.OperationalError):
        return False
    state = cause.sqlstate  # None: no server answered
    return state is None or state.startswith(LOST) or state in STATES


def store_is_away(error: BaseException | None) -> bool:
    """Of the object store, also as the cause of `error`. Not so a refusal, such as of an unknown bucket."""
    while error is not None:
        # By name: the library takes half a second to import, and most installations have no object store.
        names = {kind.__name__ for kind in type(error).__mro__ if kind.__module__ == BOTOCORE}
        if "ClientError" in names:
            response = getattr(error, "response", {})
            status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
            return bool(status >= SERVER_ERROR or response.get("Error", {}).get("Code") in BUSY)
        if "BotoCoreError" in names:
            return True
        error = error.__cause__ or error.__context__
    return False
