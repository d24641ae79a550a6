"""`splashboard-agent check`: what this configuration can reach and may see, line by line."""

from contextlib import closing

import pymysql

from workers.agent import database
from workers.agent.client import Client
from workers.agent.config import Config, NodeConfig, SystemConfig
from workers.agent.samplers import SourceFailed
from workers.agent.samplers.host import HostCounters
from workers.agent.samplers.mysql import numbers
from workers.agent.samplers.process import ServerProcess, server_pid
from workers.agent.tools import ToolMissing
from workers.agent.tools.registry import TOOLS

NEEDED = frozenset({"ALL PRIVILEGES", "CREATE", "DROP", "SELECT", "INSERT", "UPDATE", "DELETE", "INDEX"})


def check(config: Config) -> list[tuple[bool, str]]:
    """Whether it is well, and a sentence, for everything that was tried. Changes nothing anywhere."""
    lines = [_server(config), *_tools()]
    if not config.systems:
        lines.append((False, f"{config.file}: no [[systems]]; describe at least one"))
    for system in config.systems.values():
        lines += _system(system)
    return lines


def _server(config: Config) -> tuple[bool, str]:
    with closing(Client(url=config.url, token=config.token)) as client:
        reached, words = client.health()
    return reached, f"server {config.url}: {words}"


def _tools() -> list[tuple[bool, str]]:
    lines = []
    for name, tool in TOOLS.items():
        try:
            lines.append((True, f"tool {name}: {tool.version()}"))
        except ToolMissing as problem:
            lines.append((False, f"tool {name}: {problem}"))
    return lines


def _system(system: SystemConfig) -> list[tuple[bool, str]]:
    try:
        lines = [(True, f"system {system.slug} at {system.address}: {database.version(system)}")]
        with database.session(system, doing="read its grants", timeout=30) as cursor:
            cursor.execute("SHOW GRANTS")
            grants = [str(row[0]) for row in cursor.fetchall()]
        workspace = database.plan_workspace(system, ())
    except (database.DatabaseFailed, database.SchemaOccupied) as problem:
        return [(False, str(problem))]
    lines.append(
        (True, f"  schema {workspace.schema}: {'will be created' if workspace.created else 'empty, will be kept'}")
    )
    allowed = {word for word in NEEDED if any(word in grant for grant in grants)}
    if "ALL PRIVILEGES" in allowed or allowed >= NEEDED - {"ALL PRIVILEGES"}:
        lines.append((True, "  may create, fill and drop its schema"))
    else:
        missing = ", ".join(sorted(NEEDED - allowed - {"ALL PRIVILEGES"}))
        lines.append((False, f"  lacks {missing}; GRANT ALL ON `{system.database}`.* to its account"))
    for node in system.nodes:
        lines += _node(system, node)
    return lines


def _node(system: SystemConfig, node: NodeConfig) -> list[tuple[bool, str]]:
    try:
        with database.session(system, doing="read its counters", address=node.address, timeout=30) as cursor:
            cursor.execute("SHOW GLOBAL STATUS")
            counters = len(numbers(cursor.fetchall()))
        settings = len(database.variables(system, node.address))
    except (database.DatabaseFailed, pymysql.MySQLError) as problem:
        return [(False, f"  node {node.name}: {problem}")]
    lines = [(True, f"  node {node.name}: {counters} counters, {settings} variables")]
    if node.local:
        try:
            lines.append((True, f"  node {node.name}: {len(HostCounters().read())} counters of this host"))
            seen = sorted(ServerProcess(lambda: server_pid(system, node.address)).read())
            lines.append((True, f"  node {node.name}: of its process {', '.join(seen)}"))
        except SourceFailed as problem:
            lines.append((True, f"  node {node.name}: not seen, which is no hindrance: {problem}"))
    return lines
