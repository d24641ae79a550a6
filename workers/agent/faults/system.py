"""The target system as the agent describes it: endpoint, nodes, controls; and connections to each of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pymysql
from pymysql.connections import Connection
from pymysql.cursors import Cursor

from workers.agent.measure.database import AgentConnection, error_text
from workers.agent.programs.report import Failed, secrets_of
from workers.agent.runtime.config import Controls, ServerAddress, SystemConfig

TABLE = "failover_probe"
ASK_TIMEOUT = 10.0  # s
RDS = "rds-mysql"  # a platform
IDENTITY = "SELECT @@hostname, @@port, @@server_id"

Identity = tuple[str, ...]


@dataclass(frozen=True)
class TargetSystem:
    """`nodes`: name -> direct address."""

    host: str
    port: int
    socket: str
    user: str
    schema: str
    platform: str
    password: str = field(repr=False)
    nodes: Mapping[str, ServerAddress]
    controls: Controls
    proxy: ServerAddress | None = None
    proxy_settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def endpoint(self) -> ServerAddress:
        return ServerAddress(self.host, self.port, self.socket)

    def connect(self, address: ServerAddress, *, timeout: float) -> "Connection[Cursor]":
        """An autocommit connection; `timeout`, s, to connect and per answer. Raises pymysql.MySQLError or OSError."""
        return AgentConnection(
            host=address.host,
            port=address.port,
            unix_socket=address.socket or None,
            user=self.user,
            password=self.password,
            connect_timeout=timeout,
            read_timeout=timeout,
            write_timeout=timeout,
            autocommit=True,
            program_name="splashboard-failover",
        )

    def ask(self, address: ServerAddress, statement: str, *values: Any, timeout: float) -> list[tuple[Any, ...]]:
        """Runs the statement on its own connection. Raises pymysql.MySQLError or OSError."""
        connection = self.connect(address, timeout=timeout)
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement, values)
                return list(cursor.fetchall())
        finally:
            connection.close()


def description(system: SystemConfig, schema: str) -> str:
    """The content of the secrets file."""
    return secrets_of(
        system,
        schema,
        platform=system.platform,
        nodes={node.name: _place(node.address) for node in system.nodes},
        controls={node: {name: list(argv) for name, argv in argvs.items()} for node, argvs in system.controls.items()},
        proxy=_place(system.proxy.address) if system.proxy else None,
        proxy_settings=system.proxy.settings if system.proxy else {},
    )


def read(file: Path) -> TargetSystem:
    """Raises Failed."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=TargetSystem)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Failed(f"{file} cannot be read: {error}") from error


def identity(connection: "Connection[Cursor]") -> Identity:
    """The server's identity behind a connection. Raises pymysql.MySQLError or OSError."""
    with connection.cursor() as cursor:
        cursor.execute(IDENTITY)
        return tuple(str(part) for part in cursor.fetchone() or ())


@dataclass(frozen=True)
class NodeNames:
    """`at`: of nodes known by their address, whatever server answers there: the only node, whose endpoint is a second
    address, and instances of RDS, where a standby on another host takes over the address."""

    of: Mapping[Identity, str]
    at: Mapping[ServerAddress, str]

    def get(self, found: Identity, address: ServerAddress) -> str | None:
        return self.at.get(address) or self.of.get(found)


def node_names(system: TargetSystem) -> NodeNames:
    """Raises Failed when a node does not answer, or is another one too."""
    found: dict[Identity, str] = {}
    for node, address in system.nodes.items():
        try:
            own = identity_at(system, address)
        except (pymysql.MySQLError, OSError) as error:
            raise Failed(f"node {node} at {address} does not answer: {error_text(error)}") from error
        if own in found:
            raise Failed(
                f"nodes {found[own]} and {node} are the same server, or have the same hostname, port and server_id "
                f"({':'.join(own)}): correct their addresses, or give each a server_id of its own"
            )
        found[own] = node
    fixed = {address: node for node, address in system.nodes.items()}
    if len(system.nodes) == 1:
        return NodeNames(found, {**fixed, system.endpoint: next(iter(system.nodes))})
    return NodeNames(found, fixed if system.platform == RDS else {})


def writer(system: TargetSystem, names: NodeNames) -> str:
    """The node behind the endpoint. Raises Failed, pymysql.MySQLError or OSError."""
    found = identity_at(system, system.endpoint)
    name = names.get(found, system.endpoint)
    if name is None:
        raise Failed(f"the server behind {system.endpoint} ({':'.join(found)}) is none of the system's nodes")
    return name


def identity_at(system: TargetSystem, address: ServerAddress) -> Identity:
    connection = system.connect(address, timeout=ASK_TIMEOUT)
    try:
        return identity(connection)
    finally:
        connection.close()


def _place(address: ServerAddress) -> dict[str, str | int]:
    return {"host": address.host, "port": address.port, "socket": address.socket}
