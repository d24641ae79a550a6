"""The agent's own connections to a database: version, variables, sizes and the benchmark's schema."""

import re
import secrets
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import pymysql
from pymysql.connections import Connection
from pymysql.cursors import Cursor

from workers.agent.runtime.config import ServerAddress, SystemConfig
from workers.protocol.secrets import without_secrets

CONNECT_TIMEOUT = 5  # s
# A server ends connections that are idle for 8 h, many after a minute; some of ours are for a whole load.
STAY = f"SET SESSION wait_timeout = {7 * 86_400}"
ANSWER_TIMEOUT = 600  # s: counting and dropping large tables takes long
# To a schema, to the server, to a table, and to an action that needs a global privilege.
DENIED = (1044, 1045, 1142, 1227)
# As load tools print it.
DENIAL = re.compile(rf"(?:\berror:? |\()(?:{'|'.join(map(str, DENIED))})\b", re.IGNORECASE)
LOCK_TIMEOUT = 60  # s: the transactions of a killed load tool may hold their tables for a while

# Positions in the binary log change by themselves: state, not configuration.
STATE = re.compile(r"gtid_(binlog_pos|binlog_state|current_pos|slave_pos|executed|purged)", re.IGNORECASE)
WHOLE = re.compile(r"-?[0-9]+")
# MariaDB reports a value's origin; a compiled or automatic value is the default. MySQL reports no default for a
# variable that was set.
DEFAULTS = (
    "SELECT VARIABLE_NAME, IF(GLOBAL_VALUE_ORIGIN IN ('COMPILE-TIME', 'AUTO'), GLOBAL_VALUE, DEFAULT_VALUE)"
    " FROM information_schema.SYSTEM_VARIABLES WHERE GLOBAL_VALUE IS NOT NULL",
    "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.variables_info"
    " JOIN performance_schema.global_variables USING (VARIABLE_NAME) WHERE VARIABLE_SOURCE = 'COMPILED'",
)
# InnoDB's files, by MariaDB's name and by MySQL's.
TABLESPACES = ("INNODB_SYS_TABLESPACES", "INNODB_TABLESPACES")
MARKER = "splashboard_job"  # a table of the workspace: its comment says whose the other tables are


class DatabaseFailed(Exception):
    """The database cannot be reached or refuses; the text names it, the attempt and the server's error."""


class AccessDenied(DatabaseFailed):
    """The account lacks a privilege, or is not known: no further attempt succeeds."""


class SchemaOccupied(Exception):
    """The benchmark's schema holds tables that the agent did not create."""


class Unmarked(Exception):
    """Tables have the names of a job's and lack its mark: somebody else may have made them."""


class WrongData(Exception):
    """The data set is not the requested one."""


class AgentConnection(Connection):
    """PyMySQL's, with TLS where the server offers it, unverified. PyMySQL reads the system's certificates for each
    connection, though it verifies none: 20 to 30 ms of processor time, under Python's lock.
    """

    def _create_ssl_ctx(self, sslp: Any) -> ssl.SSLContext:
        return super()._create_ssl_ctx(sslp) if sslp else _unverified()  # type: ignore[misc]


@cache
def _unverified() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


@contextmanager
def session(
    system: SystemConfig, *, doing: str, address: ServerAddress | None = None, timeout: float = ANSWER_TIMEOUT
) -> Iterator[Cursor]:
    """A cursor of a new connection. Raises DatabaseFailed, whose text includes `doing`."""
    try:
        opened = connect(system, address=address or system.address, timeout=timeout)
        with closing(opened), opened.cursor() as cursor:
            yield cursor
    except (pymysql.MySQLError, OSError) as error:
        kind = AccessDenied if error.args and error.args[0] in DENIED else DatabaseFailed
        raise kind(
            f"system {system.slug} at {address or system.address}: cannot {doing}: {error_text(error)}"
        ) from error


def connect(system: SystemConfig, *, address: ServerAddress, timeout: float) -> "Connection[Cursor]":
    """`timeout`: s per answer. Raises pymysql.MySQLError or OSError."""
    return AgentConnection(
        host=address.host,
        port=address.port,
        unix_socket=address.socket or None,
        user=system.user,
        password=system.password,
        connect_timeout=CONNECT_TIMEOUT,
        read_timeout=timeout,
        write_timeout=timeout,
        init_command=STAY,
        autocommit=True,
        program_name="splashboard-agent",
    )


def error_text(error: Exception) -> str:
    """The server's error text."""
    return " ".join(str(part) for part in error.args) or type(error).__name__


def version(system: SystemConfig) -> str:
    """The server's version. Aurora reports only MySQL's, so its own is appended. Raises DatabaseFailed."""
    own = None
    with session(system, doing="ask for its version", timeout=CONNECT_TIMEOUT) as cursor:
        cursor.execute("SELECT VERSION()")
        row = cursor.fetchone()
        if system.aws:
            cursor.execute("SHOW GLOBAL VARIABLES LIKE 'aurora_version'")
            own = cursor.fetchone()
    return with_aurora(str(row[0]) if row else "", str(own[1]) if own else "")


def with_aurora(version: str, own: str) -> str:
    """`own`: Aurora's version; empty on other servers."""
    return f"{version} Aurora {own}" if own else version


def variables(system: SystemConfig, address: ServerAddress) -> dict[str, str]:
    """SHOW GLOBAL VARIABLES without secrets and without positions. Raises DatabaseFailed."""
    with session(system, doing="read its variables", address=address, timeout=30) as cursor:
        cursor.execute("SHOW GLOBAL VARIABLES")
        return configuration({str(name): str(value) for name, value in cursor.fetchall()})


def defaults(system: SystemConfig, address: ServerAddress) -> dict[str, str] | None:
    """The default of each variable, as far as the server reports it; None: it reports none."""
    for statement in DEFAULTS:
        try:
            with session(system, doing="read its defaults", address=address, timeout=30) as cursor:
                cursor.execute(statement)
                rows = cursor.fetchall()
        except DatabaseFailed:
            continue
        return configuration({str(name).lower(): str(value) for name, value in rows if value is not None})
    return None


def configuration(values: dict[str, str]) -> dict[str, str]:
    """Variables without secrets and without positions."""
    return {name: value for name, value in without_secrets(values).items() if not STATE.fullmatch(name)}


@dataclass(frozen=True)
class Workspace:
    """The schema of one job and its tables. `created`: the schema did not exist before; `mark`: the comment of its
    table MARKER, unique; empty: of an agent before marks, whose tables are known by their names."""

    schema: str
    tables: tuple[str, ...]
    created: bool
    mark: str = ""


def plan_workspace(system: SystemConfig, tables: Sequence[str], *, owner: str = "") -> Workspace:
    """Plans the workspace without changing anything. Raises SchemaOccupied, DatabaseFailed."""
    with session(system, doing=f"look at schema {system.database}") as cursor:
        exists = _is_there(cursor, system.database)
        present = _tables(cursor, system.database)
    if present:
        some = ", ".join(present[:3]) + (", …" if len(present) > 3 else "")
        raise SchemaOccupied(
            f"schema {system.database} of system {system.slug} already holds {len(present)} tables that this agent did "
            f"not create ({some}); empty it, or name another schema as `database` in the agent's configuration"
        )
    mark = f"{owner[:200]} {secrets.token_hex(8)}".lstrip()
    return Workspace(schema=system.database, tables=tuple(tables), created=not exists, mark=mark)


def is_marked(system: SystemConfig, workspace: Workspace) -> bool:
    """Whether its tables are the job's. Raises DatabaseFailed."""
    with session(system, doing=f"look at schema {workspace.schema}") as cursor:
        return _is_marked(cursor, workspace)


def create_schema(system: SystemConfig, workspace: Workspace) -> None:
    """Creates the schema if missing, and the mark. Raises DatabaseFailed."""
    with session(system, doing=f"{'create' if workspace.created else 'mark'} schema {workspace.schema}") as cursor:
        if workspace.created:
            cursor.execute(f"CREATE DATABASE `{workspace.schema}`")
        cursor.execute(
            f"CREATE TABLE `{workspace.schema}`.`{MARKER}` (id INT PRIMARY KEY) ENGINE=InnoDB COMMENT = %s",
            (workspace.mark,),
        )


def check_rows(system: SystemConfig, workspace: Workspace, rows: Mapping[str, int]) -> None:
    """`rows`: table -> expected count. Raises WrongData when a table's count differs; DatabaseFailed."""
    if not rows:
        return
    with session(system, doing="count the prepared rows") as cursor:
        for table, expected in rows.items():
            cursor.execute(f"SELECT COUNT(*) FROM `{workspace.schema}`.`{table}`")  # noqa: S608  (names are ours)
            found = int((cursor.fetchone() or (0,))[0])
            if found != expected:
                raise WrongData(f"table {table} holds {found} rows after prepare, not {expected}")


def empty_tables(system: SystemConfig, schema: str, tables: Sequence[str]) -> None:
    """Raises DatabaseFailed."""
    with session(system, doing="empty the tables of the run before") as cursor:
        for table in tables:
            cursor.execute(f"TRUNCATE TABLE `{schema}`.`{table}`")


def data_bytes(system: SystemConfig, schema: str) -> int | None:
    """Size of the schema's tables with indexes, but for MARKER, bytes: the larger of table statistics, which lag behind
    a load, and file sizes. None: the server reports neither."""
    asked = [
        (
            "SELECT SUM(DATA_LENGTH + INDEX_LENGTH) FROM information_schema.TABLES"
            " WHERE TABLE_SCHEMA = %s AND TABLE_NAME <> %s AND TABLE_TYPE = 'BASE TABLE'",
            (schema, MARKER),
        ),
        *(
            (
                f"SELECT SUM(FILE_SIZE) FROM information_schema.{name} WHERE NAME LIKE %s AND NAME <> %s",  # noqa: S608
                (f"{_escaped(schema)}/%", f"{schema}/{MARKER}"),
            )
            for name in TABLESPACES
        ),
    ]
    found = [size for statement, names in asked if (size := _size(system, statement, names)) is not None]
    return max(found, default=None)


def _size(system: SystemConfig, statement: str, names: tuple[str, str]) -> int | None:
    try:
        with session(system, doing="ask for the size of its tables", timeout=30) as cursor:
            cursor.execute(statement, names)
            row = cursor.fetchone()
    except DatabaseFailed:
        return None  # another kind of server, or the file sizes are not readable
    return None if row is None or row[0] is None else int(row[0])


def _escaped(name: str) -> str:
    """Escapes the name for LIKE."""
    return re.sub(r"([\\%_])", r"\\\1", name)


def status(system: SystemConfig) -> dict[str, int]:
    """Integer values of SHOW GLOBAL STATUS, from the server behind the endpoint. Raises DatabaseFailed."""
    with session(system, doing="read its status", timeout=30) as cursor:
        cursor.execute("SHOW GLOBAL STATUS")
        return {str(name): int(value) for name, value in cursor.fetchall() if WHOLE.fullmatch(str(value))}


def remove_workspace(system: SystemConfig, workspace: Workspace) -> list[str]:
    """Drops the job's own tables, its mark last, and schema; returns foreign tables that keep the schema from being
    dropped.

    Idempotent. Raises DatabaseFailed, and Unmarked, when nothing is dropped.
    """
    with session(system, doing="clean up") as cursor:
        cursor.execute("SET SESSION lock_wait_timeout = %s", (LOCK_TIMEOUT,))
        present = _tables(cursor, workspace.schema)
        own = [table for table in workspace.tables if table in present]
        if not _is_marked(cursor, workspace):
            if own:
                raise Unmarked(
                    f"schema {workspace.schema} of system {system.slug} holds {', '.join(own[:3])}, as an earlier job "
                    "did, but not the mark of that job: they are kept; drop them if nobody needs them"
                )
            return []
        for table in (*own, MARKER):
            cursor.execute(f"DROP TABLE IF EXISTS `{workspace.schema}`.`{table}`")
        foreign = [table for table in present if table not in (*own, MARKER)]
        if workspace.created and not foreign and _is_there(cursor, workspace.schema):
            cursor.execute(f"DROP DATABASE `{workspace.schema}`")
    return foreign


def _is_there(cursor: Cursor, schema: str) -> bool:
    cursor.execute("SELECT 1 FROM information_schema.schemata WHERE schema_name = %s", (schema,))
    return cursor.fetchone() is not None


def _is_marked(cursor: Cursor, workspace: Workspace) -> bool:
    """As its job did: not at all, of an agent before marks."""
    cursor.execute(
        "SELECT table_comment FROM information_schema.tables WHERE table_schema = %s AND table_name = %s",
        (workspace.schema, MARKER),
    )
    row = cursor.fetchone()
    found = None if row is None else str(row[0])
    return found == (workspace.mark or None)


def _tables(cursor: Cursor, schema: str) -> list[str]:
    cursor.execute(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = %s ORDER BY table_name", (schema,)
    )
    return [str(row[0]) for row in cursor.fetchall()]
