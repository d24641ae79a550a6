"""Declaration of a resource and its indicators. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated

from apps.core.answers import Hidden, Words, component
from apps.use_method.values import Aspect, NodeFacts, RuleResult, RunFacts

POSTGRESQL = "postgresql"  # key of the platform
UPTIME_OF_POSTGRESQL = "postgresql.uptime"
# Roles of nodes without a database server; "cluster": CloudWatch's metrics over all instances.
NOT_SERVERS = ("proxy", "manager", "client", "agent", "cluster")
# None: the indicator does not apply to this node (its kind of server lacks the feature).
Rule = Callable[[NodeFacts, RunFacts], RuleResult | None]


def on_servers(node: NodeFacts, _: RunFacts) -> bool:
    return node.role not in NOT_SERVERS


def on_mysql(node: NodeFacts, facts: RunFacts) -> bool:
    """Servers of MySQL's family."""
    return on_servers(node, facts) and not on_postgresql(node, facts)


def on_postgresql(node: NodeFacts, facts: RunFacts) -> bool:
    """By the platform, or by what was sampled: a platform may be stated otherwise."""
    return on_servers(node, facts) and (facts.platform == POSTGRESQL or UPTIME_OF_POSTGRESQL in node.series)


@component(text="One indicator of an aspect of a resource.")
@dataclass(frozen=True, kw_only=True)
class Indicator:
    """One observation of an aspect of a resource.

    `metrics`: keys of the series that the rule reads, stored or derived; `*` stands for the name of a disk and the
    like. `formula`: how the value is computed, for readers. `limits`: thresholds of watch, saturated and error, as text
    that quotes the constants; `reason` for them; `literature`: their source. `sources`: origin of the counters per kind
    of platform ("Linux", "MariaDB and MySQL", "Galera", "Aurora" …); for a platform without them, the reason. `asks`:
    the sampler's names for what it could not observe.
    """

    key: str
    aspect: Aspect
    title: str
    unit: str
    metrics: Annotated[tuple[str, ...], "series that it reads; a * stands for the name of a disk and the like"]
    formula: str
    limits: Annotated[Words, "from when it is watch, saturated or error"]
    reason: Annotated[str, "why the limits are there"]
    literature: str
    sources: Annotated[Mapping[str, str], "by platform, where the counters come from, or why they cannot be had"]
    rule: Hidden[Rule]
    asks: Hidden[tuple[str, ...]] = ()
    digits: Hidden[int] = 3


@dataclass(frozen=True, kw_only=True)
class Resource:
    """A row of the panel. `layer`: machine, server, replication, proxy or client. `on`: whether it applies to a node;
    if it applies but was not observed, the cell is "not observable", otherwise there is no cell."""

    key: str
    title: str
    layer: Annotated[str, "machine, server, replication, proxy or client"]
    question: str
    indicators: tuple[Indicator, ...]
    on: Hidden[Callable[[NodeFacts, RunFacts], bool]] = on_servers
