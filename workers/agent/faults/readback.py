"""The outcome of every write: the table, read from the writer and every node, compared with the client's record."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pymysql
from pymysql.cursors import DictCursor

from workers.agent.faults.system import TABLE, TargetSystem
from workers.agent.measure import group
from workers.agent.runtime.config import ServerAddress

READ_TIMEOUT = 60.0  # s
EVERY = 2**31 - 1
UNKNOWN_TABLE = 1146
NO_SOURCE = "it has no source"
Row = tuple[int, int, str]  # id, the client's number, when it was made: an insert sent again makes another row
THREADS = ("Slave_IO_Running", "Slave_SQL_Running", "Replica_IO_Running", "Replica_SQL_Running")


@dataclass(frozen=True)
class WriteAccount:
    """The inserts of one run, numbered by the client. `present`: number -> rows in the table."""

    acknowledged: frozenset[int]
    failed: frozenset[int]
    present: Mapping[int, int]

    @property
    def missing(self) -> list[int]:
        """Lost: acknowledged, but not in the table."""
        return sorted(self.acknowledged - self.present.keys())

    @property
    def failed_present(self) -> list[int]:
        """Never acknowledged, yet in the table: a client that resends them duplicates them."""
        return sorted(self.failed & self.present.keys())

    @property
    def twice(self) -> list[int]:
        """Numbers with more than one row."""
        return sorted(sequence for sequence, rows in self.present.items() if rows > 1)

    @property
    def duplicated(self) -> int:
        """Rows beyond the first of each insert."""
        return sum(rows - 1 for rows in self.present.values())

    @property
    def unknown(self) -> list[int]:
        """In the table, but never sent."""
        return sorted(self.present.keys() - self.acknowledged - self.failed)

    @property
    def rows(self) -> int:
        return sum(self.present.values())

    def expected(self) -> int:
        """The row count that follows from the other counts."""
        return len(self.acknowledged) - len(self.missing) + len(self.failed_present) + self.duplicated

    def words(self) -> str:
        return (
            f"{len(self.acknowledged)} inserts acknowledged, {len(self.missing)} of them missing; {len(self.failed)} "
            f"failed, {len(self.failed_present)} of them present; {self.duplicated} rows twice; {self.rows} rows in all"
        )


def account(outcomes: Iterable[tuple[int, bool]], present: Mapping[int, int]) -> WriteAccount:
    """`outcomes`: number and whether acknowledged, of every attempt."""
    acknowledged, tried = set(), set()
    for sequence, ok in outcomes:
        tried.add(sequence)
        if ok:
            acknowledged.add(sequence)
    return WriteAccount(frozenset(acknowledged), frozenset(tried - acknowledged), present)


def read_back(system: TargetSystem, address: ServerAddress, run: str, *, below: int = EVERY) -> Counter[int]:
    """Number -> rows in the table, of numbers under `below`. Raises pymysql.MySQLError or OSError."""
    table = f"`{system.schema}`.`{TABLE}`"
    statement = f"SELECT seq, COUNT(*) FROM {table} WHERE run = %s AND seq < %s GROUP BY seq"  # noqa: S608
    rows = system.ask(address, statement, run, below, timeout=READ_TIMEOUT)
    return Counter({int(seq): int(count) for seq, count in rows})


def rows_of(system: TargetSystem, address: ServerAddress, run: str) -> Counter[Row]:
    """Every row of the run. Raises pymysql.MySQLError or OSError."""
    statement = f"SELECT id, seq, UNIX_TIMESTAMP(made_at) FROM `{system.schema}`.`{TABLE}` WHERE run = %s"  # noqa: S608
    rows = system.ask(address, statement, run, timeout=READ_TIMEOUT)
    return Counter((int(row), int(seq), str(made_at)) for row, seq, made_at in rows)


def own_rows(system: TargetSystem, node: str, run: str) -> Counter[Row] | None:
    """The rows of a source that came back and follows nobody yet: its own data, not those of its successor. None: not
    known."""
    try:
        return rows_of(system, system.nodes[node], run) if has_no_source(system, node) else None
    except (pymysql.MySQLError, OSError):
        return None


def has_no_source(system: TargetSystem, node: str) -> bool:
    """False also for Galera's nodes, each of which may have got its data from another, and where it does not answer."""
    try:
        return _not_replicating(system, system.nodes[node]) == NO_SOURCE
    except (pymysql.MySQLError, OSError):
        return False


def errant(own: Counter[Row], present: Counter[Row]) -> Counter[int]:
    """Number -> rows that are in `own` and not in `present`."""
    found: Counter[int] = Counter()
    for (_, sequence, _), rows in (own - present).items():
        found[sequence] += rows
    return found


def out_of_step(
    system: TargetSystem, node: str, run: str, present: Mapping[int, int], *, is_writer: bool, below: int = EVERY
) -> str:
    """Why `node` does not have the same rows as the writer, of numbers under `below`, or does not replicate; empty when
    it is in sync."""
    address = system.nodes[node]
    try:
        if not is_writer and (reason := _not_replicating(system, address)):
            return reason
        rows = read_back(system, address, run, below=below)
    except (pymysql.MySQLError, OSError) as error:
        if error.args and error.args[0] == UNKNOWN_TABLE:
            return "it does not have the table"
        return f"it does not answer: {' '.join(map(str, error.args))}"
    if rows != present:
        return f"it has {rows.total()} rows of the run, the writer has {sum(present.values())}"
    return ""


def _not_replicating(system: TargetSystem, address: ServerAddress) -> str:
    status = _named(system, address, "SHOW STATUS LIKE 'wsrep_local_state_comment'")
    state = status.get("wsrep_local_state_comment", "")
    if state and _named(system, address, "SHOW VARIABLES LIKE 'wsrep_on'").get("wsrep_on") == "ON":
        return "" if state == "Synced" else f"Galera's state is {state}"
    if system.platform == "aurora":
        return ""
    if view := _group(system, address):
        return "" if view.serves else f"its state in the group is {view.own.state}"
    row = _replication(system, address)
    if not row:
        return NO_SOURCE
    stopped = [name for name, value in row.items() if name in THREADS and value != "Yes"]
    errors = [str(row[name]) for name in ("Last_IO_Error", "Last_SQL_Error") if row.get(name)]
    return " ".join([f"{' and '.join(stopped)} is not Yes", *errors]) if stopped else ""


def _group(system: TargetSystem, address: ServerAddress) -> group.GroupView | None:
    connection = system.connect(address, timeout=READ_TIMEOUT)
    try:
        with connection.cursor() as cursor:
            return group.look(cursor)
    finally:
        connection.close()


def _replication(system: TargetSystem, address: ServerAddress) -> dict[str, Any] | None:
    connection = system.connect(address, timeout=READ_TIMEOUT)
    try:
        with connection.cursor(DictCursor) as cursor:
            try:
                cursor.execute("SHOW REPLICA STATUS")
            except pymysql.ProgrammingError:  # before MySQL 8.0.22
                cursor.execute("SHOW SLAVE STATUS")
            return cursor.fetchone()
    finally:
        connection.close()


def _named(system: TargetSystem, address: ServerAddress, statement: str) -> dict[str, str]:
    return {str(name): str(value) for name, value in system.ask(address, statement, timeout=READ_TIMEOUT)}
