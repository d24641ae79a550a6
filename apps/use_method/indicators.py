"""How a resource and its indicators are declared. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from apps.use_method.values import Aspect, NodeFacts, RuleResult, RunFacts

# Roles of nodes that run no database server; the cluster is what CloudWatch tells of all instances together.
NOT_SERVERS = ("proxy", "manager", "client", "agent", "cluster")
# None: the indicator says nothing of this node (its kind of server has no such thing).
Rule = Callable[[NodeFacts, RunFacts], RuleResult | None]


def on_servers(node: NodeFacts, _: RunFacts) -> bool:
    return node.role not in NOT_SERVERS


@dataclass(frozen=True, kw_only=True)
class Indicator:
    """One way to see an aspect of a resource.

    `metrics`: keys of the series that the rule reads, stored or derived; a `*` stands for the name of a disk and the
    like. `formula` tells a reader how the value comes from them. `limits`: from when the level is watch, saturated or
    error, in words that quote the constants; `reason`: why there; `literature`: who says so. `sources`: where the
    counters come from on each kind of platform ("Linux", "MariaDB and MySQL", "Galera", "Aurora" …); a platform that
    cannot show them is named with the reason. `asks`: how a sampler calls what it could not see, if it could not.
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
    """A row of the panel. `layer`: machine, server, replication, proxy or client. `on`: on which nodes it is looked
    for; a node on which it is looked for and not seen is "not observable", any other has no cell."""

    key: str
    title: str
    layer: str
    question: str
    indicators: tuple[Indicator, ...]
    on: Callable[[NodeFacts, RunFacts], bool] = on_servers
