"""Declaration of a resource and its indicators. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from apps.use_method.values import Aspect, NodeFacts, RuleResult, RunFacts

# Roles of nodes without a database server; "cluster": CloudWatch's metrics over all instances.
NOT_SERVERS = ("proxy", "manager", "client", "agent", "cluster")
# None: the indicator does not apply to this node (its kind of server lacks the feature).
Rule = Callable[[NodeFacts, RunFacts], RuleResult | None]


def on_servers(node: NodeFacts, _: RunFacts) -> bool:
    return node.role not in NOT_SERVERS


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
    metrics: tuple[str, ...]
    formula: str
    limits: str
    reason: str
    literature: str
    sources: Mapping[str, str]
    rule: Rule
    asks: tuple[str, ...] = ()
    digits: int = 3


@dataclass(frozen=True, kw_only=True)
class Resource:
    """A row of the panel. `layer`: machine, server, replication, proxy or client. `on`: whether it applies to a node;
    if it applies but was not observed, the cell is "not observable", otherwise there is no cell."""

    key: str
    title: str
    layer: str
    question: str
    indicators: tuple[Indicator, ...]
    on: Callable[[NodeFacts, RunFacts], bool] = on_servers
