"""Those beside an ALTER: the transaction in its way, and the writers of another table."""

import threading
import time
from contextlib import closing, suppress
from dataclasses import dataclass

import pymysql

from workers.agent.programs.load import Load
from workers.agent.programs.report import Secrets, emit

LOOK = 0.05  # s between polls, and between writes to the other table
OTHER = "splash_other"
ROWS = 100


class Holder:
    """A transaction that has read `table` stays open until second `until` of the load's clock, or until the server
    rolls it back: on Galera a schema change kills what is in its way.

    Leaving waits for its end. Raises pymysql.MySQLError when it cannot begin.
    """

    def __init__(self, secrets: Secrets, load: Load, table: str, *, until: float) -> None:
        self._secrets, self._load, self._table, self._until = secrets, load, table, until
        self._opened = threading.Event()
        self._refusal: pymysql.MySQLError | None = None
        self.start = self.end = 0.0
        self.code, self.failure = 0, ""  # of its end; empty: it committed

    def __enter__(self) -> "Holder":
        self._thread = threading.Thread(target=self._hold, name="holder", daemon=True)
        self._thread.start()
        self._opened.wait()
        if self._refusal:
            raise self._refusal
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()
        words = f", until it was rolled back: {self.failure}" if self.failure else ""
        emit(
            "event",
            event="phase",
            label=f"a transaction holds {self._table}{words}",
            **{"from": round(self.start, 4), "to": round(self.end, 4)},
            detail={"is_lost": bool(self.failure), "code": self.code},
        )

    def _hold(self) -> None:
        try:
            with closing(self._secrets.connect()) as connection, connection.cursor() as cursor:
                cursor.execute("BEGIN")
                cursor.execute(f"SELECT id FROM {self._table} LIMIT 1")  # noqa: S608  (a constant)
                self.start = self._load.now()
                self._opened.set()
                try:
                    while self._load.now() < self._until:
                        time.sleep(LOOK)
                        # Touches no table; a transaction that was killed gets the error at its next statement.
                        cursor.execute("SELECT 1")
                    cursor.execute("COMMIT")
                except pymysql.MySQLError as error:
                    self.code, self.failure = reason(error)
        except pymysql.MySQLError as error:
            if self._opened.is_set():
                self.code, self.failure = reason(error)
            self._refusal = error
        self.end = self._load.now()
        self._opened.set()


@dataclass(frozen=True)
class OtherWrite:
    """A write to the other table that ended at second `end` of the load's clock; `code` 0: it succeeded."""

    end: float
    code: int = 0


class OtherWriters:
    """One connection that updates a row of a table of its own every LOOK s; each waits for the one before."""

    def __init__(self, secrets: Secrets, load: Load) -> None:
        self._secrets, self._load = secrets, load
        self._stop = threading.Event()
        self.writes: list[OtherWrite] = []

    def __enter__(self) -> "OtherWriters":
        self._thread = threading.Thread(target=self._work, name="other writers", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def ends(self) -> list[float]:
        """Of those that succeeded, rising."""
        return [write.end for write in self.writes if not write.code]

    def failed(self, *, since: float, until: float) -> int:
        return sum(1 for write in self.writes if write.code and since <= write.end < until)

    def _work(self) -> None:
        connection, number = None, 0
        while not self._stop.wait(LOOK):
            number += 1
            code = 0
            try:
                connection = connection or self._secrets.connect()
                with connection.cursor() as cursor:
                    cursor.execute(f"UPDATE {OTHER} SET n = {number} WHERE id = {number % ROWS + 1}")  # noqa: S608
            except pymysql.MySQLError as error:
                code = reason(error)[0]
                if connection is not None:
                    with suppress(pymysql.MySQLError):
                        connection.close()
                connection = None
            self.writes.append(OtherWrite(self._load.now(), code))
        if connection is not None:
            with suppress(pymysql.MySQLError):
                connection.close()


def make_other(secrets: Secrets) -> None:
    """Creates the table of OtherWriters. Raises pymysql.MySQLError."""
    drop_other(secrets)
    with closing(secrets.connect()) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {OTHER} (id INT PRIMARY KEY, n INT NOT NULL)")
        rows = ", ".join(f"({number}, 0)" for number in range(1, ROWS + 1))
        cursor.execute(f"INSERT INTO {OTHER} VALUES {rows}")  # noqa: S608  (constants)


def drop_other(secrets: Secrets) -> None:
    """Raises pymysql.MySQLError."""
    with closing(secrets.connect()) as connection, connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {OTHER}")


def reason(error: pymysql.MySQLError) -> tuple[int, str]:
    """Code (1 when the error has none) and text, never empty."""
    code = int(error.args[0]) if error.args and isinstance(error.args[0], int) and error.args[0] else 1
    return code, f"error {code}: {error.args[-1] if error.args else type(error).__name__}"
