"""Monitoring systems that see a system's nodes: `[systems.prometheus]`, read after a run, and `[systems.aws]`."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from workers.agent.prometheus.source import Access
from workers.agent.runtime.toml_table import TomlTable
from workers.protocol.wire import AwsMessage

REGION = re.compile(r"[a-z]{2,}(-[a-z]+)+-[0-9]")
IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,62}")


@dataclass(frozen=True)
class MonitoringConfig:
    """`match`: regular expression of names; empty: all of the instances. `step`: as in collect."""

    access: Access
    match: str = ""
    step: float | None = None


def read_prometheus(system: TomlTable, secret: Callable[[str, TomlTable], str]) -> MonitoringConfig | None:
    """None: the system has none. `secret`: content of the file that a key of a table names. Raises ConfigError."""
    if not system.has("prometheus"):
        for node in system.tables("nodes"):
            if node.has("prometheus"):
                raise node.fail("prometheus", 'names instances of no server; add [systems.prometheus] with url = "…"')
        return None
    table = system.table("prometheus")
    access = Access(
        url=table.text("url"),
        user=table.text("user", default=""),
        password=_secret(table, "password_file", secret),
        bearer=_secret(table, "bearer_file", secret),
        tenant=table.text("tenant", default=""),
        ca=str(table.file.parent / table.text("ca")) if table.has("ca") else "",
        insecure=table.flag("insecure", default=False),
        timeout=table.number("timeout", low=1, high=600, default=20),
    )
    if access.password and not access.user:
        raise table.fail("user", 'is missing beside password_file; add user = "…"')
    if problem := access.problem():
        raise table.fail("url", f"is unusable: {problem}")
    step = table.number("step", low=0.1, high=3600, default=0.1) if table.has("step") else None
    found = MonitoringConfig(access, table.text("match", default=""), step)
    table.done()
    return found


def _secret(table: TomlTable, key: str, secret: Callable[[str, TomlTable], str]) -> str:
    return secret(key, table) if table.has(key) else ""


def read_aws(table: TomlTable) -> AwsMessage:
    """The system's identity at AWS for the server; the agent itself sends nothing to AWS."""
    region = table.text("region", pattern=REGION)
    if table.has("cluster") == table.has("instance"):
        raise table.fail("cluster", "or instance is needed, one of them; name the Aurora cluster or the RDS instance")
    key = "cluster" if table.has("cluster") else "instance"
    identifier = table.text(key, pattern=IDENTIFIER).lower()
    table.done()
    return AwsMessage(region=region, **{key: identifier})
