"""Tables like sysbench's with reproducible content, for generators other than sysbench."""

import random
from collections import defaultdict
from collections.abc import Iterable
from contextlib import closing

from workers.agent.programs.report import Secrets

BATCH = 1000  # rows an INSERT
SEED = 20151106


def table(number: int) -> str:
    """Name of the table `number`, from 1."""
    return f"sbtest{number}"


def columns(source: random.Random, rows: int) -> str:
    """Columns k, c and pad of one row, as SQL."""
    return f"{source.randint(1, rows)},'{_digits(source, 10)}','{_digits(source, 5)}'"


def make(secrets: Secrets, *, tables: int, rows: int) -> None:
    """Raises pymysql.MySQLError."""
    with closing(secrets.connect()) as connection, connection.cursor() as cursor:
        for number in range(1, tables + 1):
            source = random.Random(SEED + number)  # noqa: S311  (rows, not secrets)
            cursor.execute(
                f"CREATE TABLE {table(number)} (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, k INT NOT NULL, "
                f"c CHAR(120) NOT NULL, pad CHAR(60) NOT NULL, KEY k_{number} (k)) ENGINE=InnoDB"
            )
            for first in range(1, rows + 1, BATCH):
                ids = range(first, min(first + BATCH, rows + 1))
                values = ",".join(f"({row},{columns(source, rows)})" for row in ids)
                cursor.execute(f"INSERT INTO {table(number)} (id,k,c,pad) VALUES {values}")  # noqa: S608


def drop(secrets: Secrets, *, tables: int) -> None:
    """Raises pymysql.MySQLError."""
    with closing(secrets.connect()) as connection, connection.cursor() as cursor:
        for number in range(1, tables + 1):
            cursor.execute(f"DROP TABLE IF EXISTS {table(number)}")


def count(secrets: Secrets, *, tables: int) -> int:
    """Rows in all tables. Raises pymysql.MySQLError."""
    with closing(secrets.connect()) as connection, connection.cursor() as cursor:
        found = 0
        for number in range(1, tables + 1):
            cursor.execute(f"SELECT COUNT(*) FROM {table(number)}")  # noqa: S608  (names are ours)
            found += int((cursor.fetchone() or (0,))[0])
        return found


def missing(secrets: Secrets, keys: Iterable[tuple[str, int]]) -> int:
    """Number of `keys` (table, id) without a row. Raises pymysql.MySQLError."""
    wanted = defaultdict[str, set[int]](set)
    for name, row in keys:
        wanted[name].add(row)
    found = 0
    with closing(secrets.connect()) as connection, connection.cursor() as cursor:
        for name, rows in wanted.items():
            cursor.execute(f"SELECT COUNT(*) FROM {name} WHERE id IN %s", (rows,))  # noqa: S608  (names are ours)
            found += int((cursor.fetchone() or (0,))[0])
    return sum(map(len, wanted.values())) - found


def _digits(source: random.Random, groups: int) -> str:
    return "-".join(f"{source.randrange(10**11):011d}" for _ in range(groups))
