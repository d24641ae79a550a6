"""The agent's configuration: one TOML file and its includes. Passwords stay here: no message carries them."""

import glob
import os
import platform
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from workers.agent.runtime import monitors
from workers.agent.runtime.monitors import MonitoringConfig
from workers.agent.runtime.toml_table import SLUG, ConfigError, TomlTable
from workers.protocol.wire import AwsMessage, HardwareMessage

TOKEN_VARIABLE = "SPLASHBOARD_AGENT_TOKEN"  # noqa: S105  (the name of the variable)
SCHEMA = re.compile(r"[A-Za-z0-9_]{1,64}")
ROLES = re.compile(r"[a-z][a-z0-9_-]{0,15}")
DRIVER, SAMPLER = "driver", "sampler"
SYSTEM_ROLES = re.compile(f"{DRIVER}|{SAMPLER}")
PROXY = "proxy"  # role of the node in front of the servers
MEBIBYTE = 1024 * 1024
NODE_CONTROLS = ("kill", "stop", "freeze", "thaw", "start_alone", "start", "cut", "heal")
# watch: prints the log of the system's own manager, as `tail -F`; check: succeeds while that manager works; restart:
# starts its servers anew between sessions.
SYSTEM_CONTROLS = ("switch", "watch", "check", "restart")

Controls = Mapping[str, Mapping[str, tuple[str, ...]]]  # node, or "" for the system -> control -> argv
Signature = tuple[tuple[str, int, int], ...]  # path, mtime in ns and size of every file read


@dataclass(frozen=True)
class ServerAddress:
    """Address of a database server: a socket file, or else host and port."""

    host: str = "127.0.0.1"
    port: int = 3306
    socket: str = ""

    def __str__(self) -> str:
        return self.socket or f"{self.host}:{self.port}"

    def is_local(self) -> bool:
        if self.socket or self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False


@dataclass(frozen=True)
class NodeConfig:
    """A server whose counters are sampled. `local`: on this host, so that the host's counters are the node's.

    `asked`: its server is queried for counters; a sampler may see the host alone. `sampled`: by this agent.
    `instances`: of the system's Prometheus, those whose series are of this node.
    """

    name: str
    role: str
    zone: str
    address: ServerAddress
    local: bool
    asked: bool = True
    sampled: bool = True
    instances: tuple[str, ...] = ()


@dataclass(frozen=True)
class ProxyConfig:
    """HAProxy in front of the servers; `address`: its stats socket; `settings`: those of its checks, which the socket
    does not report (`inter`, `fall`, `rise`)."""

    name: str
    zone: str
    address: ServerAddress
    settings: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SystemConfig:
    slug: str
    name: str
    platform: str
    hardware_class: str
    address: ServerAddress
    user: str
    password: str = field(repr=False)
    database: str
    nodes: tuple[NodeConfig, ...]
    settings: dict[str, str] = field(default_factory=dict)
    controls: Controls = field(default_factory=dict)
    proxy: ProxyConfig | None = None
    aws: AwsMessage | None = None
    cpus: frozenset[int] = frozenset()  # to which its servers on this host are restricted; empty: to none
    monitoring: MonitoringConfig | None = None
    scratch: str = ""  # a directory on the disk measured by fileio; empty: the directory of the agent's spool


@dataclass(frozen=True)
class Config:
    file: Path
    url: str
    token: str = field(repr=False)
    name: str
    labels: tuple[str, ...]
    spool: Path
    minimum_free: int  # bytes
    flush_interval: float  # s
    poll_interval: float  # s
    systems: dict[str, SystemConfig]
    sampled: dict[str, SystemConfig]  # systems whose nodes it samples in runs driven by other agents
    hardware: tuple[HardwareMessage, ...]
    signature: Signature


def load(file: Path) -> Config:
    """Raises ConfigError, whose text is one sentence with the remedy."""
    file = file.absolute()
    signature = {file: _stamp(file)}
    main = _read(file)
    patterns = main.texts("include", default=["agent.d/*.toml"])
    parts = [main]
    for pattern in patterns:
        for name in sorted(glob.glob(str(file.parent / pattern))):
            signature[Path(name)] = _stamp(Path(name))
            parts.append(_read(Path(name)))
    server = main.table("server")
    url = _url(server)
    token = _token(server, signature)
    server.done()
    agent = main.table("agent")
    name = agent.text("name", default=platform.node() or "agent")
    labels = tuple(agent.texts("labels", default=[]))
    spool = (file.parent / agent.text("spool", default="agent-spool")).resolve()
    minimum_free = agent.integer("minimum_free_mb", low=1, high=1_000_000, default=200) * MEBIBYTE
    flush_interval = agent.number("flush_interval", low=0.2, high=60, default=2)
    poll_interval = agent.number("poll_interval", low=0.05, high=60, default=1)
    agent.done()

    systems: dict[str, SystemConfig] = {}
    sampled: dict[str, SystemConfig] = {}
    hardware: dict[str, HardwareMessage] = {}
    for part in parts:
        for table in part.tables("hardware"):
            machine = _hardware(table)
            hardware.setdefault(machine.slug, machine)
        for table in part.tables("systems"):
            is_sampler = table.text("role", default=DRIVER, pattern=SYSTEM_ROLES) == SAMPLER
            system = _sampled_system(table, signature) if is_sampler else _system(table, signature)
            if system.slug in systems or system.slug in sampled:
                raise table.fail("slug", f"{system.slug!r} is given twice; give each system a slug of its own")
            (sampled if is_sampler else systems)[system.slug] = system
        part.done()
    return Config(
        file=file,
        url=url,
        token=token,
        name=name,
        labels=labels,
        spool=spool,
        minimum_free=minimum_free,
        flush_interval=flush_interval,
        poll_interval=poll_interval,
        systems=systems,
        sampled=sampled,
        hardware=tuple(hardware.values()),
        signature=_ordered(signature),
    )


def has_changed(config: Config) -> bool:
    """Whether a file that `config` was read from, or the set of included files, has changed."""
    files = {Path(path) for path, _, _ in config.signature}
    try:
        main = _read(config.file)
        for pattern in main.texts("include", default=["agent.d/*.toml"]):
            files |= {Path(name) for name in glob.glob(str(config.file.parent / pattern))}
        return _ordered({file: _stamp(file) for file in files}) != config.signature
    except ConfigError:
        return True


def _ordered(signature: dict[Path, tuple[int, int]]) -> Signature:
    return tuple((str(file), *stamp) for file, stamp in sorted(signature.items()))


def _stamp(file: Path) -> tuple[int, int]:
    try:
        status = file.stat()
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read ({error.strerror}); create it or name another file") from error
    return status.st_mtime_ns, status.st_size


def _read(file: Path) -> TomlTable:
    try:
        return TomlTable(file, "", tomllib.loads(file.read_text()))
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read ({error.strerror}); create it or name another file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: is not TOML: {error}; correct that line") from error


def _secret(table: TomlTable, key: str, signature: dict[Path, tuple[int, int]]) -> str:
    file = table.file.parent / table.text(key)
    try:
        signature[file] = _stamp(file)
        return file.read_text(encoding="utf-8").strip("\r\n")
    except (OSError, ConfigError) as error:
        raise table.fail(key, f"names {file}, which cannot be read; create it with mode 0600") from error
    except UnicodeDecodeError as error:
        raise table.fail(key, f"names {file}, which is not UTF-8; save it as UTF-8 text") from error


def _url(server: TomlTable) -> str:
    url = server.text("url").rstrip("/")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise server.fail("url", f"is {url!r}; it must look like https://splashboard.example")
    return url


def _token(server: TomlTable, signature: dict[Path, tuple[int, int]]) -> str:
    from_file = _secret(server, "token_file", signature).strip() if server.has("token_file") else ""
    token = os.environ.get(TOKEN_VARIABLE, "").strip() or from_file
    if not token:
        raise server.fail(
            "token_file", f"is missing or empty; name a file with the agent's token or set {TOKEN_VARIABLE}"
        )
    return token


def _hardware(table: TomlTable) -> HardwareMessage:
    slug = table.text("slug", pattern=SLUG)
    machine = HardwareMessage(
        slug=slug,
        name=table.text("name", default=slug),
        vcpu=table.integer("vcpu", low=1, high=100_000),
        memory_bytes=table.integer("memory_mb", low=1, high=10**9) * MEBIBYTE,
        storage=table.text("storage", default=""),
    )
    table.done()
    return machine


def _address(table: TomlTable, *, default: ServerAddress) -> ServerAddress:
    socket = table.text("socket", default="")
    if not socket and not (table.has("host") or table.has("port")):
        return default
    return ServerAddress(
        host=table.text("host", default=default.host),
        port=table.integer("port", low=1, high=65535, default=default.port),
        socket=socket,
    )


def _password(table: TomlTable, signature: dict[Path, tuple[int, int]]) -> str:
    if table.has("password_file"):
        if table.has("password"):
            raise table.fail("password", "and password_file are both given; remove one of them")
        key, password = "password_file", _secret(table, "password_file", signature)
    else:
        key, password = "password", table.text("password", default="")
    if '"' in password or "\n" in password:
        # sysbench's option file has no escape for them, and its command line would show the password in `ps`.
        raise table.fail(key, "holds a double quote or a line break, which sysbench cannot read; choose another")
    return password


def _system(table: TomlTable, signature: dict[Path, tuple[int, int]]) -> SystemConfig:
    slug = table.text("slug", pattern=SLUG)
    address = _address(table, default=ServerAddress())
    if not (table.has("socket") or table.has("host") or table.has("port")):
        raise table.fail("host", "is missing; give the database's host and port, or its socket")
    nodes = tuple(_node(node, address) for node in table.tables("nodes")) or (
        NodeConfig(name="db1", role="writer", zone="", address=address, local=address.is_local()),
    )
    proxy = _proxy(table.table("proxy")) if table.has("proxy") else None
    names = [*(node.name for node in nodes), *([proxy.name] if proxy else [])]
    for name in names:
        if name in ("client", "agent", *SYSTEM_CONTROLS) or names.count(name) > 1:
            raise table.fail(
                "nodes", f"uses the name {name!r} twice, for the load generator or for a control; name each node once"
            )
    system = SystemConfig(
        slug=slug,
        name=table.text("name", default=slug),
        platform=table.text("platform", pattern=SLUG),
        hardware_class=table.text("hardware_class", pattern=SLUG),
        address=address,
        user=table.text("user"),
        password=_password(table, signature),
        database=table.text("database", default="splashboard_bench", pattern=SCHEMA),
        nodes=nodes,
        settings=table.settings("settings"),
        controls=_controls(table.table("controls"), names),
        proxy=proxy,
        aws=monitors.read_aws(table.table("aws")) if table.has("aws") else None,
        cpus=frozenset(table.integers("cpus", low=0, high=(os.cpu_count() or 1) - 1, default=[])),
        monitoring=monitors.read_prometheus(table, lambda key, of: _secret(of, key, signature)),
        scratch=str(table.file.parent / table.text("scratch")) if table.has("scratch") else "",
    )
    table.done()
    return system


def _sampled_system(table: TomlTable, signature: dict[Path, tuple[int, int]]) -> SystemConfig:
    """A system as a sampler needs it: how to reach its own nodes."""
    slug = table.text("slug", pattern=SLUG)
    nodes = tuple(_sampled_node(node) for node in table.tables("nodes"))
    proxy = _proxy(table.table("proxy")) if table.has("proxy") else None
    if not nodes and not proxy:
        raise table.fail(
            "nodes", "is missing; name the nodes on this host, as the driving agent does: [[systems.nodes]]"
        )
    asked = any(node.asked for node in nodes)
    system = SystemConfig(
        slug=slug,
        name=slug,
        platform="",
        hardware_class="",
        address=ServerAddress(),
        user=table.text("user", default=None if asked else ""),
        password=_password(table, signature),
        database="",
        nodes=nodes,
        proxy=proxy,
    )
    table.done()
    return system


def _sampled_node(table: TomlTable) -> NodeConfig:
    node = NodeConfig(
        name=table.text("name", pattern=SLUG),
        role=table.text("role", default="writer", pattern=ROLES),
        zone=table.text("zone", default=""),
        address=_address(table, default=ServerAddress()),
        local=table.flag("local", default=True),
        asked=table.has("host") or table.has("port") or table.has("socket"),
    )
    table.done()
    return node


def _proxy(table: TomlTable) -> ProxyConfig:
    if not (table.has("socket") or table.has("port")):
        raise table.fail("socket", "is missing; name HAProxy's stats socket, or its host and port")
    proxy = ProxyConfig(
        name=table.text("name", default="proxy", pattern=SLUG),
        zone=table.text("zone", default=""),
        address=_address(table, default=ServerAddress()),
        settings=table.settings("settings"),
    )
    table.done()
    return proxy


def _controls(table: TomlTable, nodes: list[str]) -> Controls:
    """Programs that act on a node or the whole system: argv without a shell; exit code 0 means success."""
    found = {"": _argvs(table, SYSTEM_CONTROLS)}
    for node in nodes:
        if table.has(node):
            one = table.table(node)
            found[node] = _argvs(one, NODE_CONTROLS)
            one.done()
    table.done()
    return {node: argvs for node, argvs in found.items() if argvs}


def _argvs(table: TomlTable, names: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    found = {}
    for name in names:
        if table.has(name):
            found[name] = tuple(table.texts(name, default=[]))
            if not found[name] or not found[name][0]:
                raise table.fail(name, 'must name a program and its arguments; write ["program", "argument", …]')
    return found


def _node(table: TomlTable, default: ServerAddress) -> NodeConfig:
    address = _address(table, default=default)
    node = NodeConfig(
        name=table.text("name", pattern=SLUG),
        role=table.text("role", default="writer", pattern=ROLES),
        zone=table.text("zone", default=""),
        address=address,
        local=table.flag("local", default=address.is_local()),
        sampled=table.flag("sampled", default=True),
        instances=tuple(table.texts("prometheus", default=[])),
    )
    table.done()
    return node
