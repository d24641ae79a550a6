"""`splashboard-agent check`: reachability and privileges of a configuration, line by line."""

from collections.abc import Sequence
from contextlib import closing

from workers.agent.grants import lacking, privileges_on
from workers.agent.measure import database
from workers.agent.measure.nodes import sources
from workers.agent.measure.wholeness import require_whole
from workers.agent.prometheus.source import PrometheusSource, PrometheusTrouble
from workers.agent.runtime.client import ServerClient
from workers.agent.runtime.config import Config, ProxyConfig, SystemConfig
from workers.agent.runtime.monitors import MonitoringConfig
from workers.agent.samplers import NothingObserved, SampleSource, SourceFailed
from workers.agent.samplers.haproxy import HAProxySource
from workers.agent.tools import ToolMissing
from workers.agent.tools.registry import TOOLS

NEEDED = frozenset({"CREATE", "DROP", "SELECT", "INSERT", "UPDATE", "DELETE", "INDEX"})


def check(config: Config, *, server_only: bool = False) -> list[tuple[bool, str]]:
    """(ok, sentence) per check. Read-only. `server_only`: without tools and databases."""
    lines = [_server(config)]
    if server_only:
        return lines
    lines += _tools()
    if not config.systems and not config.sampled:
        lines.append((False, f"{config.file}: no [[systems]]; describe at least one"))
    for system in config.systems.values():
        lines += _system(system)
    for system in config.sampled.values():
        lines.append((True, f"sampler of system {system.slug}"))
        lines += _nodes(system)
    return lines


def _server(config: Config) -> tuple[bool, str]:
    with closing(ServerClient(url=config.url, token=config.token)) as client:
        reached, words = client.health()
    return reached, f"server {config.url}: {words}"


def _tools() -> list[tuple[bool, str]]:
    lines = []
    for name, tool in TOOLS.items():
        try:
            lines.append((True, f"tool {name}: {tool.version()}"))
        except ToolMissing as problem:
            if tool.is_optional:
                lines.append((True, f"tool {name}: not installed, its workloads cannot run here ({problem})"))
            else:
                lines.append((False, f"tool {name}: {problem}"))
    return lines


def _system(system: SystemConfig) -> list[tuple[bool, str]]:
    try:
        lines = [(True, f"system {system.slug} at {system.address}: {database.version(system)}")]
        with database.session(system, doing="read its grants", timeout=30) as cursor:
            cursor.execute("SHOW GRANTS")
            grants = [str(row[0]) for row in cursor.fetchall()]
        workspace = database.plan_workspace(system, ())
        require_whole(system)
    except (database.DatabaseFailed, database.SchemaOccupied) as problem:
        return [(False, str(problem))]
    lines.append(
        (True, f"  schema {workspace.schema}: {'will be created' if workspace.created else 'empty, will be kept'}")
    )
    lines.append(_rights(workspace.schema, grants))
    return lines + _nodes(system)


def _rights(schema: str, grants: Sequence[str]) -> tuple[bool, str]:
    missing = lacking(NEEDED, privileges_on(schema, grants))
    if not missing:
        return True, f"  may create, fill and drop schema {schema}"
    return False, f"  lacks {', '.join(missing)} on schema {schema}; GRANT ALL ON `{schema}`.* TO its account"


def _nodes(system: SystemConfig) -> list[tuple[bool, str]]:
    lines = []
    for number, node in enumerate(system.nodes):
        if node.sampled:
            lines += _node(system, number)
    if system.proxy:
        lines.append(_proxy(system.proxy))
    if system.monitoring:
        lines.append(_prometheus(system.monitoring))
    return lines


def _prometheus(config: MonitoringConfig) -> tuple[bool, str]:
    try:
        PrometheusSource(config.access).now()
    except PrometheusTrouble as trouble:
        return False, f"  Prometheus: {trouble}"
    return True, f"  Prometheus at {config.access.url}: answers"


def _node(system: SystemConfig, number: int) -> list[tuple[bool, str]]:
    """One line per source of the node; only its server's counters are required."""
    node, lines = system.nodes[number], []
    if node.asked:
        try:
            settings = len(database.variables(system, node.address))
        except database.DatabaseFailed as problem:
            return [(False, f"  node {node.name}: {problem}")]
        lines.append((True, f"  node {node.name}: {settings} variables"))
    for place, source in enumerate(sources(system, number)):
        with closing(source):
            seen, words = _seen(source)
        lines.append((seen or place > 0, f"  node {node.name}, {source.name}: {words}"))
    return lines


def _proxy(proxy: ProxyConfig) -> tuple[bool, str]:
    seen, words = _seen(HAProxySource(proxy.address))
    return seen, f"  proxy {proxy.name}: {words}"


def _seen(source: SampleSource) -> tuple[bool, str]:
    try:
        reading = source.read()
    except (SourceFailed, NothingObserved) as problem:
        return False, f"not observable: {problem}"
    hidden = "".join(f"; not observable: {each}" for each in reading.hidden)
    return True, f"{len(reading.values)} counters{hidden}"
