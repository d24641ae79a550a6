"""A replica's threads, lag and positions as numbers; whether the server is writable."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from workers.agent.runtime.config import ServerAddress, SystemConfig
from workers.agent.samplers import HiddenFromSampler, NothingObserved, SourceReading
from workers.agent.samplers.connection import Asking, Denied, NotSupported
from workers.protocol.wire import Number

PREFIX = "mysql.replication."
# MariaDB with several connections; MySQL since 8.0.22; all earlier versions.
STATEMENTS = ("SHOW ALL SLAVES STATUS", "SHOW REPLICA STATUS", "SHOW SLAVE STATUS")
# MySQL's new names back to the old ones.
RENAMED = (("Replica_", "Slave_"), ("Source_", "Master_"), ("_Source", "_Master"))
NUMBERS = {
    "Seconds_Behind_Master": "seconds_behind",
    "Relay_Log_Space": "relay_log_space",
    "Read_Master_Log_Pos": "received_position",
    "Exec_Master_Log_Pos": "applied_position",
    "Slave_Transactional_Groups": "transactional_groups",
    "Slave_Non_Transactional_Groups": "non_transactional_groups",
    "Slave_DDL_Groups": "ddl_groups",
    "Last_IO_Errno": "io_error",
    "Last_SQL_Errno": "sql_error",
}
THREADS = {"Slave_IO_Running": "io_running", "Slave_SQL_Running": "sql_running"}
MARIADB_STATE = "SELECT @@global.read_only, @@global.gtid_current_pos, @@global.gtid_slave_pos"
MYSQL_STATE = "SELECT @@global.read_only, @@global.gtid_executed, ''"
PLAIN_STATE = "SELECT @@global.read_only, '', ''"
# Values of read_only and innodb_read_only with which a server accepts writes. MariaDB since 12.0.1 has the names OFF,
# ON, NO_LOCK and NO_LOCK_NO_ADMIN; other servers have 0 and 1.
WRITABLE = ("0", "OFF", "NO")
OF_GROUP = "group_replication_"  # channels of MySQL Group Replication, whose state the source `group` has
INTERVAL = re.compile(r"(\d+)(?:-(\d+))?")


class Replication:
    name = "replication"
    interval = 1
    prompt = False

    def __init__(self, system: SystemConfig, address: ServerAddress) -> None:
        self._server = Asking(system, address)
        self._user = system.user
        self._statements = list(STATEMENTS)
        self._state_statements = [MARIADB_STATE, MYSQL_STATE, PLAIN_STATE]
        self._denied: list[HiddenFromSampler] = []

    def read(self) -> SourceReading:
        before = self._server.statements
        _, ((read_only, position, applied),) = self._first_known(self._state_statements)
        rows = [] if self._denied else self._replicas()
        refuses = is_read_only(read_only)
        values: dict[str, Number] = {f"{PREFIX}read_only": int(refuses)}
        states = {"read_only": "ON" if refuses else "OFF"}
        if position:
            values[f"{PREFIX}gtid_position"] = transactions(position)
        if not rows and not self._denied:
            states["replication source"] = "none"
        for row in rows:
            values |= numbers(row, applied=applied)
            states |= states_of(row)
        return SourceReading(values, states=states, hidden=self._denied, statements=self._server.statements - before)

    def close(self) -> None:
        self._server.close()

    def _replicas(self) -> list[dict[str, Any]]:
        try:
            columns, rows = self._first_known(self._statements)
        except Denied as error:
            remedy = f"GRANT REPLICA MONITOR (MySQL: REPLICATION CLIENT) ON *.* to {self._user}"
            self._denied = [HiddenFromSampler("state of replication", str(error), remedy)]
            return []
        return from_sources([dict(zip(map(_older, columns), row, strict=True)) for row in rows])

    def _first_known(self, statements: list[str]) -> tuple[list[str], tuple[tuple[Any, ...], ...]]:
        """The result of the first of `statements` that the server supports; the earlier ones are dropped."""
        while True:
            try:
                return self._server.table(statements[0])
            except NotSupported as error:
                if len(statements) == 1:
                    hidden = HiddenFromSampler("state of replication", f"not reported by this server ({error})")
                    raise NothingObserved(hidden) from error
                del statements[0]


def is_read_only(value: object) -> bool:
    """Whether a server with this value of read_only or innodb_read_only refuses writes of ordinary accounts."""
    return str(value).upper() not in WRITABLE


def from_sources(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of a server's own sources, without the channels of a group."""
    return [row for row in rows if not connection_name(row).startswith(OF_GROUP)]


def connection_name(row: Mapping[str, Any]) -> str:
    """Of MariaDB's connection or MySQL's channel; empty: the default one."""
    return str(row.get("Connection_name") or row.get("Channel_Name") or "")


def numbers(row: Mapping[str, Any], *, applied: str = "") -> dict[str, Number]:
    """Values of one connection of a replica. `applied`: gtid_slave_pos; empty without it, or on MySQL."""
    prefix = _prefix(row)
    values: dict[str, Number] = {}
    for name, key in NUMBERS.items():
        if name in row:
            values[prefix + key] = None if row[name] is None else int(row[name])
    for name, key in THREADS.items():
        values[prefix + key] = int(row.get(name) == "Yes")
    # Positions are comparable within one file only; the size of files in between is unknown.
    if row.get("Master_Log_File") == row.get("Relay_Master_Log_File"):
        values[f"{prefix}unapplied_bytes"] = int(row["Read_Master_Log_Pos"]) - int(row["Exec_Master_Log_Pos"])
    waiting = _waiting(row, applied)
    if waiting is not None:
        values[f"{prefix}unapplied_transactions"] = waiting
    return values


def states_of(row: Mapping[str, Any]) -> dict[str, str]:
    name = connection_name(row)
    of = f" of {name}" if name else ""
    states = {
        f"replication source{of}": f"{row.get('Master_Host')}:{row.get('Master_Port')}",
        f"replication IO thread{of}": str(row.get("Slave_IO_Running")),
        f"replication SQL thread{of}": str(row.get("Slave_SQL_Running")),
    }
    for thread in ("IO", "SQL"):
        # Without the retry count, which changes constantly.
        error = str(row.get(f"Last_{thread}_Error") or "").partition(" - retry-time")[0]
        states[f"replication {thread} error{of}"] = error or "none"
    return states


def transactions(position: str) -> int:
    """Number of transactions of a GTID position or set: MariaDB's sequence numbers per domain, or MySQL's counts."""
    if ":" in position:
        return sum(last - first + 1 for spans in _sets(position).values() for first, last in spans)
    return sum(_domains(position).values())


def _waiting(row: Mapping[str, Any], applied: str) -> int | None:
    """Transactions received but not applied; None: not reported as GTIDs."""
    if row.get("Retrieved_Gtid_Set"):
        received, done = _sets(str(row["Retrieved_Gtid_Set"])), _sets(str(row.get("Executed_Gtid_Set") or ""))
        return sum(_missing(span, done.get(source, [])) for source, spans in received.items() for span in spans)
    if row.get("Gtid_IO_Pos"):
        behind = _domains(applied)
        return sum(max(at - behind.get(domain, 0), 0) for domain, at in _domains(str(row["Gtid_IO_Pos"])).items())
    return None


def _domains(position: str) -> dict[str, int]:
    """Domain -> sequence number, parsed from `0-21-1710,1-22-5`."""
    parts = (part.strip().split("-") for part in position.split(",") if part.strip())
    return {domain: int(sequence) for domain, _, sequence in parts}


def _sets(text: str) -> dict[str, list[tuple[int, int]]]:
    """Source -> intervals, parsed from `uuid:1-8:10,uuid:1-3`."""
    found: dict[str, list[tuple[int, int]]] = {}
    for part in text.replace("\n", "").split(","):
        source, *spans = part.strip().split(":")
        for span in filter(None, map(INTERVAL.fullmatch, spans)):  # a tag is not an interval
            found.setdefault(source, []).append((int(span[1]), int(span[2] or span[1])))
    return found


def _missing(span: tuple[int, int], done: list[tuple[int, int]]) -> int:
    first, last = span
    return last - first + 1 - sum(max(min(last, end) - max(first, begin) + 1, 0) for begin, end in done)


def _older(name: str) -> str:
    for new, old in RENAMED:
        name = name.replace(new, old)
    return name


def _prefix(row: Mapping[str, Any]) -> str:
    connection = re.sub(r"[^A-Za-z0-9_-]", "_", connection_name(row))
    return f"{PREFIX}{connection}." if connection else PREFIX
