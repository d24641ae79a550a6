"""A source's own connection to a database server, and the meaning of the server's errors."""

from typing import Any

import pymysql
from pymysql.connections import Connection
from pymysql.cursors import Cursor

from workers.agent.measure import database
from workers.agent.runtime.config import ServerAddress, SystemConfig
from workers.agent.samplers import SourceFailed

ANSWER_TIMEOUT = 10  # s
DENIED = frozenset({1044, 1142, 1143, 1227, 1370})
UNKNOWN = frozenset({1054, 1064, 1109, 1146, 1193, 3167})


class Denied(SourceFailed):
    """The account lacks the privilege."""


class NotSupported(SourceFailed):
    """The server does not support the statement: another version, or another product."""


class Asking:
    """Connects at the first statement, and again after a failure. `statements`: number executed so far."""

    def __init__(self, system: SystemConfig, address: ServerAddress) -> None:
        self._system = system
        self._address = address
        self._connection: Connection[Cursor] | None = None
        self.statements = 0

    def ask(self, statement: str) -> tuple[tuple[Any, ...], ...]:
        """The rows. Raises Denied, NotSupported, SourceFailed."""
        return self.table(statement)[1]

    def table(self, statement: str) -> tuple[list[str], tuple[tuple[Any, ...], ...]]:
        """Column names and rows. Raises Denied, NotSupported, SourceFailed."""
        try:
            if self._connection is None:
                self._connection = database.connect(self._system, address=self._address, timeout=ANSWER_TIMEOUT)
            with self._connection.cursor() as cursor:
                self.statements += 1
                cursor.execute(statement)
                return [column[0] for column in cursor.description or ()], cursor.fetchall()
        except (pymysql.MySQLError, OSError) as error:
            code = error.args[0] if error.args else None
            if code in DENIED:
                raise Denied(database.error_text(error)) from error
            if code in UNKNOWN:
                raise NotSupported(database.error_text(error)) from error
            self.close()
            raise SourceFailed(database.error_text(error)) from error

    def close(self) -> None:
        opened, self._connection = self._connection, None
        if opened is not None and opened.open:
            try:
                opened.close()
            except (pymysql.MySQLError, OSError):
                return  # already closed by the server
