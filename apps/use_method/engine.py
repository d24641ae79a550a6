"""Panel of a run from its facts: every indicator of the table on every node. Pure."""

from collections.abc import Iterable

from apps.catalog.pure import derived_metrics
from apps.use_method.indicators import Indicator, Resource
from apps.use_method.resource_table import RESOURCES
from apps.use_method.values import NodeFacts, Panel, Reading, RuleResult, RunFacts, UseLevel

# Raised when a rule or a limit changes: stored panels are then judged again.
VERSION = 8


def panel(facts: RunFacts, resources: Iterable[Resource] = RESOURCES) -> Panel:
    nodes = [*facts.nodes, *([facts.client] if facts.client else [])]
    readings = [
        _reading(indicator, node, found)
        for resource in resources
        for node in nodes
        if resource.on(node, facts)
        for indicator in resource.indicators
        if (found := indicator.rule(node, facts) or _unseen(indicator, node, facts))
    ]
    return Panel(facts.measured, tuple((node.name, node.role) for node in nodes), tuple(readings))


def _reading(indicator: Indicator, node: NodeFacts, found: RuleResult) -> Reading:
    return Reading(
        indicator.key, node.name, found.level, found.value, found.words, found.metric, found.peak, found.spans
    )


def _unseen(indicator: Indicator, node: NodeFacts, facts: RunFacts) -> RuleResult:
    return RuleResult(UseLevel.NOT_OBSERVABLE, None, why(indicator, node, facts))


def why(indicator: Indicator, node: NodeFacts, facts: RunFacts) -> str:
    """Reason for a missing observation: the sampler's, else the platform's, else the missing counters."""
    for hidden in node.hidden:
        if any(asked in hidden.what for asked in indicator.asks):
            return f"{hidden.reason}; {hidden.remedy}" if hidden.remedy else hidden.reason
    if facts.aws:
        return indicator.sources.get("Aurora", "AWS shows its guests neither the machine nor its counters")
    if not node.series:
        return "this node was not sampled"
    lacking = [key for key in indicator.metrics if key not in node.series] or indicator.metrics
    names = (derived_metrics.describe(key)[0].name.replace(" (*)", "") for key in lacking)
    return f"not sampled: {', '.join(list(dict.fromkeys(names))[:3])}"
