"""What the server is told of a run: the system, the workload, the run."""

from __future__ import annotations

import platform as this_platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional, Union

from splashboard.failures import Misuse
from splashboard.wrap import machine
from splashboard.wrap.target import Target
from splashboard.wrap.tools import MACHINE_TESTS, ToolCommand

NUMBERS = re.compile(r"\d+(?:\.\d+)+")
NAMES = {"mariadb": "MariaDB", "mysql": "MySQL", "percona": "Percona Server", "aurora": "Aurora"}
NO_SYSTEM = (
    "which server does the command load? Give --dsn (its facts are then recorded and sampled), or --platform and "
    "--server-version, or --system with the key of one that is registered"
)


@dataclass(frozen=True)
class SystemOptions:
    """Options about the system; None: not given."""

    system: Optional[str]
    platform: Optional[str]
    server_version: Optional[str]
    hardware: Optional[str]
    variant: Optional[str]


def platform_of(facts: Mapping[str, Any]) -> str:
    """Key of the platform, from what the server says of itself."""
    variables = facts.get("variables", {})
    words = f"{facts['server_version']} {variables.get('version_comment', '')}".lower()
    if "aurora_version" in variables or "aurora" in words:
        return "aurora"
    return next((name for name in ("mariadb", "percona") if name in words), "mysql")


def system_of(
    options: SystemOptions, *, facts: Optional[Mapping[str, Any]], target: Optional[Target], tool: Optional[ToolCommand]
) -> Union[str, dict[str, Any]]:
    """The key of a registered system, or one to register. Raises Misuse with what is missing."""
    platform, version = options.platform, options.server_version
    if facts is not None:
        platform, version = platform or platform_of(facts), version or facts["server_version"]
    elif tool is not None and tool.tool in MACHINE_TESTS and not platform:
        platform, version = this_platform.system().lower(), version or this_platform.release()
    if not platform or not version:
        if options.system and not options.variant:
            return options.system
        raise Misuse(NO_SYSTEM if not options.system else "--variant: needs --dsn, or --platform and --server-version")
    elsewhere = next((each for each in (target and not target.is_local and target.host, ) if each), "")
    if elsewhere and not options.hardware:
        raise Misuse(
            f"--hardware: {elsewhere} is another machine: name its hardware class as on the Catalog page, for example "
            "--hardware my-database-host"
        )
    found = NUMBERS.match(version)
    short = found[0] if found else version
    where = elsewhere or machine.host()
    slug = options.system or machine.slug(where, platform, short, options.variant or "")
    name = f"{NAMES.get(platform, platform)} {short} on {where}" + (f", {options.variant}" if options.variant else "")
    described: dict[str, Any] = {
        "slug": slug,
        "name": name[:120],
        "platform": platform,
        "version": version[:80],
        "hardware_class": options.hardware or machine.hardware()["slug"],
        "endpoint": target.endpoint if target else "",
        "settings": {"variant": options.variant} if options.variant else {},
        "nodes": [{"name": "db1", "role": "writer"}],
    }
    return described if options.hardware else {**described, "hardware": [machine.hardware()]}


def words_of(system: Union[str, Mapping[str, Any]]) -> str:
    return f"System {system}" if isinstance(system, str) else f"System {system['slug']}: {system['name']}"


def key_of(system: Union[str, Mapping[str, Any]]) -> str:
    return system if isinstance(system, str) else str(system["slug"])


def workload_of(
    stated: Optional[str], parameters: Mapping[str, Any], tool: Optional[ToolCommand], name: str
) -> Union[int, dict[str, Any], None]:
    """An id, or the tool with its parameters; None: not known. `stated`: an id or a name; `name`: of the format's tool
    where no command line was seen."""
    if stated and stated.isdecimal():
        return int(stated)
    known = {**(tool.parameters if tool else {}), **parameters}
    if tool is None and not parameters:
        return None
    found: dict[str, Any] = {"parameters": known}
    if tool is not None or name:
        found["tool"] = tool.tool if tool is not None else name
    return {**found, "name": stated} if stated else found
