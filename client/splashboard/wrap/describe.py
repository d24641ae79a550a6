"""What the server gets of a run: the system, the workload, the run."""

from __future__ import annotations

import platform as this_platform
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from splashboard.failures import Misuse
from splashboard.wrap import machine, postgresql, redact
from splashboard.wrap.measure import WrappedRun
from splashboard.wrap.plan import BenchmarkPlan, SystemOptions
from splashboard.wrap.target import POSTGRESQL, LoadedServer, is_local
from splashboard.wrap.tool_command import ToolCommand
from splashboard.wrap.tools import STATES_WORK, WITHOUT_DATABASE, Asked

PGBENCH = "pgbench"
NUMBERS = re.compile(r"\d+(?:\.\d+)+")
NAMES = {
    "mariadb": "MariaDB",
    "mysql": "MySQL",
    "percona": "Percona Server",
    "aurora": "Aurora",
    "postgresql": "PostgreSQL",
}
NO_SYSTEM = (
    "which server does the command load? Give --dsn (its facts are then recorded and sampled), or --platform and "
    "--server-version, or --system with the key of one that is registered"
)
NO_POSTGRESQL = (
    "--server-version: psql could not ask the server of PostgreSQL: state it, for example --server-version 15.18, "
    "or give --system with the key of one that is registered"
)
NO_WORKLOAD = (
    "workload: not known, since no command line of a load tool was seen: give --workload ID, or --parameter NAME=VALUE "
    "for each of its parameters, as in `splashboard submit --pending --workload ID`"
)
NO_CHECKPOINT = (
    "--warmup: the output has no checkpoint, so its totals cover the warm-up too and none is stated: let the script "
    "pass --report-checkpoints=$SPLASHBOARD_WARMUP"
)
NO_WARMUP = "--warmup: the totals of this tool cover everything that it ran, so no warm-up is stated"
CUT_OFF = "the final report of sysbench is missing"
SYSBENCH_END = b"execution time (avg/stddev):"
LONGEST_COMMAND = 20_000  # characters


def platform_of(facts: Mapping[str, Any]) -> str:
    """Key of the platform, from what the server says of itself."""
    variables = facts.get("variables", {})
    words = f"{facts['server_version']} {variables.get('version_comment', '')}".lower()
    if "aurora_version" in variables or "aurora" in words:
        return "aurora"
    return next((name for name in ("mariadb", "percona") if name in words), "mysql")


def target_of(tool: ToolCommand | None) -> LoadedServer | None:
    """The server that a tool's command line names; None: none."""
    if tool is None:
        return None
    if tool.tool == PGBENCH:
        return LoadedServer(
            user="",
            password=tool.password,
            host=tool.host,
            port=tool.port,
            kind=POSTGRESQL,
            connection=tool.connection,
        )
    return LoadedServer(user="", host=tool.host, port=tool.port or LoadedServer.port) if tool.host else None


def facts_of(target: LoadedServer | None) -> Mapping[str, Any]:
    """What a server of PostgreSQL says of itself; empty: nothing, or it is none."""
    if target is None or target.kind != POSTGRESQL:
        return {}
    return postgresql.facts(target.connection, target.password)


def system_of(
    options: SystemOptions, *, facts: Mapping[str, Any], target: LoadedServer | None, tool: ToolCommand | None
) -> str | dict[str, Any]:
    """The key of a registered system, or one to register. Raises Misuse with what is missing."""
    platform, version = options.platform, options.server_version
    if (target is not None and target.kind == POSTGRESQL) or (tool is not None and tool.tool == PGBENCH):
        platform = platform or POSTGRESQL
        version = version or facts.get("server_version", "")[:80]
        if not version and not options.system:
            raise Misuse(NO_POSTGRESQL)
    elif facts:
        platform, version = platform or platform_of(facts), version or facts["server_version"]
    elif tool is not None and tool.tool in WITHOUT_DATABASE and not platform:
        platform, version = this_platform.system().lower(), version or this_platform.release()
    if not platform or not version:
        if options.system and not options.variant:
            return options.system
        raise Misuse(NO_SYSTEM if not options.system else "--variant: needs --dsn, or --platform and --server-version")
    elsewhere = target.host if target is not None and not target.is_local else ""
    if elsewhere and not options.hardware:
        raise Misuse(
            f"--hardware: {elsewhere} is another machine: name its hardware class as on the Catalog page, for example "
            "--hardware my-database-host; one that the catalog lacks needs --cpus and --memory (GiB) too"
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
    if not options.hardware:
        described["hardware"] = [machine.hardware()]
    elif options.cpus and options.memory:
        described["hardware"] = [machine.described(options.hardware, cpus=options.cpus, gib=options.memory)]
    return described


def words_of(system: str | Mapping[str, Any]) -> str:
    return f"System {system}" if isinstance(system, str) else f"System {system['slug']}: {system['name']}"


def key_of(system: str | Mapping[str, Any]) -> str:
    return system if isinstance(system, str) else str(system["slug"])


def workload_of(
    stated: str | None, parameters: Mapping[str, Any], tool: ToolCommand | None, form: str = ""
) -> int | dict[str, Any] | None:
    """An id, or the tool with its parameters; None: not known. `stated`: an id or a name; `form`: the output's."""
    if stated and stated.isdecimal():
        return int(stated)
    known = {**(tool.parameters if tool else {}), **parameters}
    if tool is None and not parameters and form not in STATES_WORK:
        return None
    found: dict[str, Any] = {"parameters": known}
    if tool is not None:
        found["tool"] = tool.tool
    return {**found, "name": stated} if stated else found


@dataclass(frozen=True)
class DescribedRun:
    """`problem`: why it cannot be sent as it is; empty: it can."""

    description: Mapping[str, Any]
    problem: str
    notes: Sequence[str]


def run_of(
    plan: BenchmarkPlan,
    run: WrappedRun,
    asked: Asked,
    *,
    stated: str | Mapping[str, Any],
    facts: Mapping[str, Any],
    repetitions: Counter[str],
    reason: str,
) -> DescribedRun:
    """`stated`: the system; `repetitions`: counts runs by what they repeat; `reason`: why the command failed, if so."""
    stretch, tool = run.stretch, run.tool
    kind = plan.format or (tool.format if tool and tool.format != "sysbench" else stretch.kind)
    workload = workload_of(plan.workload, plan.parameters, tool, kind)
    threads = stretch.threads or asked.threads or (tool.threads if tool else None)
    # Where only the output states the work, the command line tells one from another.
    repeated = f"{workload}, {threads}, {run.command if kind in STATES_WORK else ''}"
    repetitions[repeated] += 1
    rate = tool.rate if tool is not None else None
    load = {
        **({"threads": threads} if stretch.threads is None and threads is not None else {}),
        **({"rate": rate} if rate is not None else {}),
    }
    variant = plan.system.variant
    description: dict[str, Any] = {
        "uid": run.uid,
        "system": stated,
        "started_at": run.started_at,
        "repetition": repetitions[repeated],
        "tags": sorted({*plan.tags, *([variant] if variant else [])}),
        "command": redact.command(run.command, plan.passwords)[:LONGEST_COMMAND],
        "host": machine.facts(),
    }
    known = {
        "format": kind,
        "workload": workload,
        "load_level": load,
        "server_version": facts.get("server_version") or plan.system.server_version,
        "variables": facts.get("variables"),
        "defaults": facts.get("defaults"),
        "data_bytes": run.data_bytes or facts.get("data_bytes"),
        "session": plan.session,
    }
    description.update({name: value for name, value in known.items() if value not in (None, "", {})})
    notes = []
    if stretch.format == "sysbench":
        reason = "" if SYSBENCH_END in stretch.content else "; ".join(filter(None, (reason, stretch.fatal))) or CUT_OFF
        if stretch.checkpoint is not None:
            description["warmup"] = stretch.checkpoint
        elif plan.warmup and not reason:
            notes.append(NO_CHECKPOINT)
    elif plan.warmup and not reason:
        notes.append(NO_WARMUP)
    if reason:
        description.update({"outcome": "failed", "reason": reason[:2000]})
    return DescribedRun(description, _problem(plan, tool, description), notes)


def _problem(plan: BenchmarkPlan, tool: ToolCommand | None, description: Mapping[str, Any]) -> str:
    if "workload" not in description:
        return NO_WORKLOAD
    described_here = not isinstance(description["system"], str) and plan.target is None and not plan.system.hardware
    if tool is not None and described_here and not is_local(tool.host):
        return (
            f"system: the load went to {tool.host}, which is another machine: name its hardware class by --hardware; "
            "one that the catalog lacks needs --cpus and --memory (GiB) too"
        )
    return ""
