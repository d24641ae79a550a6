"""The database server that the command loads: its address and account, from a DSN or an option file."""

from __future__ import annotations

import configparser
import getpass
import ipaddress
import urllib.parse
from collections.abc import Sequence
from dataclasses import dataclass, field

from splashboard import files
from splashboard.failures import Misuse
from splashboard.wrap import postgresql

MYSQL, POSTGRESQL = "mysql", "postgresql"  # MariaDB is one of the first kind
SCHEMES = {"mysql": MYSQL, "mariadb": MYSQL, "postgresql": POSTGRESQL, "postgres": POSTGRESQL}
GROUPS = ("client", "client-server", "client-mariadb", "mysql", "mariadb")
FORM = (
    "mysql://USER:PASSWORD@HOST:PORT/SCHEMA, mysql://USER:PASSWORD@/SCHEMA?socket=FILE, or "
    "postgresql://USER@HOST:PORT/DATABASE"
)


@dataclass(frozen=True)
class LoadedServer:
    """`kind`: MYSQL or POSTGRESQL; `connection`: psql's arguments, of PostgreSQL; `schema`: of MySQL."""

    user: str
    password: str = field(default="", repr=False)
    host: str = "127.0.0.1"
    port: int = 3306
    socket: str = ""
    schema: str = ""
    kind: str = MYSQL
    connection: Sequence[str] = ()

    @property
    def endpoint(self) -> str:
        return self.socket or f"{self.host or 'localhost'}:{self.port}"

    @property
    def is_local(self) -> bool:
        return bool(self.socket) or is_local(self.host)


def is_local(host: str) -> bool:
    """Whether a name, as a load tool gets it, is this machine's."""
    if host in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def of_dsn(text: str) -> LoadedServer:
    """Raises Misuse, without the password."""
    try:
        parts = urllib.parse.urlsplit(text)
        port = parts.port or LoadedServer.port
    except ValueError as error:
        raise Misuse(f"--dsn: its port is not a number: write it as {FORM}") from error
    if parts.scheme not in SCHEMES:
        raise Misuse(f"--dsn: does not begin with mysql:// or postgresql://: write it as {FORM}")
    if SCHEMES[parts.scheme] == POSTGRESQL:
        return _of_uri(text)
    asked = dict(urllib.parse.parse_qsl(parts.query))
    unknown = set(asked) - {"socket"}
    if unknown:
        raise Misuse(f"--dsn: unknown parameter {sorted(unknown)[0]!r}: write it as {FORM}")
    return LoadedServer(
        user=urllib.parse.unquote(parts.username or getpass.getuser()),
        password=urllib.parse.unquote(parts.password or ""),
        host=parts.hostname or "127.0.0.1",
        port=port,
        socket=asked.get("socket", ""),
        schema=urllib.parse.unquote(parts.path.strip("/")),
    )


def _of_uri(text: str) -> LoadedServer:
    """Of PostgreSQL, as its own programs take it, with all parameters."""
    uri, password = postgresql.without_password(text)
    parts = urllib.parse.urlsplit(uri)
    host = postgresql.of(uri, "host")
    return LoadedServer(
        user=urllib.parse.unquote(parts.username or getpass.getuser()),
        password=password,
        host="" if host.startswith(("/", "@")) else host,
        port=int(postgresql.of(uri, "port") or postgresql.PORT),
        kind=POSTGRESQL,
        connection=("-d", uri),
    )


def of_file(path: str) -> LoadedServer:
    """An option file of mysql's, `[client]`. Raises Misuse with the file."""
    reader = configparser.ConfigParser(
        allow_no_value=True, strict=False, interpolation=None, comment_prefixes=("#", ";", "!")
    )
    try:
        reader.read_string(files.read(path).decode("utf-8", "replace"), source=path)
    except configparser.Error as error:
        raise Misuse(f"--defaults-file: {path} is not an option file: {error.message.splitlines()[0]}") from error
    found: dict[str, str] = {}
    for group in GROUPS:
        if reader.has_section(group):
            found.update({name.replace("_", "-"): _plain(value or "") for name, value in reader.items(group)})
    if not found:
        raise Misuse(f"--defaults-file: {path} has no group [client]: put user, password and host or socket there")
    try:
        port = int(found.get("port", 3306))
    except ValueError as error:
        raise Misuse(f"--defaults-file: port in {path} is not a number") from error
    return LoadedServer(
        user=found.get("user", getpass.getuser()),
        password=found.get("password", ""),
        host=found.get("host", "127.0.0.1"),
        port=port,
        socket=found.get("socket", ""),
        schema=found.get("database", ""),
    )


def _plain(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value
