"""All numbers of SHOW GLOBAL STATUS, under the names that the server gives them."""

import re
from collections.abc import Callable, Iterable, Mapping

import pymysql
from pymysql.connections import Connection
from pymysql.cursors import Cursor

from workers.agent import database
from workers.agent.config import Address, SystemConfig
from workers.agent.samplers import SourceFailed
from workers.wire import Number

ANSWER_TIMEOUT = 10  # s
WHOLE = re.compile(r"-?[0-9]+")
DECIMAL = re.compile(r"-?[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?")
WORDS = {"ON": 1, "YES": 1, "TRUE": 1, "OFF": 0, "NO": 0, "FALSE": 0}


class GlobalStatus:
    name = "mysql"

    def __init__(self, system: SystemConfig, address: Address) -> None:
        self._open: Callable[[], Connection[Cursor]] = lambda: database.connect(
            system, address=address, timeout=ANSWER_TIMEOUT
        )
        self._connection: Connection[Cursor] | None = None

    def read(self) -> Mapping[str, Number]:
        try:
            if self._connection is None:
                self._connection = self._open()
            with self._connection.cursor() as cursor:
                cursor.execute("SHOW GLOBAL STATUS")
                return numbers(cursor.fetchall())
        except (pymysql.MySQLError, OSError) as error:
            self.close()
            raise SourceFailed(database.said(error)) from error

    def close(self) -> None:
        opened, self._connection = self._connection, None
        if opened is not None and opened.open:
            try:
                opened.close()
            except (pymysql.MySQLError, OSError):
                return  # the server went first; nothing is held any more


def numbers(rows: Iterable[tuple[object, ...]]) -> dict[str, Number]:
    """`mysql.status.<Name>` -> number; names whose value is a text are left out."""
    found: dict[str, Number] = {}
    for name, value in rows:
        number = number_of(str(value))
        if number is not None:
            found[f"mysql.status.{name}"] = number
    return found


def number_of(text: str) -> Number:
    """None for what is no number."""
    if WHOLE.fullmatch(text):
        number = int(text)
        # The server prints some signed values without their sign: just below zero looks like just below 2^64.
        return number - 2**64 if 2**63 <= number < 2**64 else number
    if DECIMAL.fullmatch(text):
        return float(text)
    return WORDS.get(text.upper())
