"""Rules over the parts of a machine (disks, network interfaces), and combination of sources."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from apps.use_method.indicators import Rule
from apps.use_method.values import Floats, MetricSamples, NodeFacts, RuleResult, RunFacts

AWS = "aws.rds."


def worst(found: Mapping[str, RuleResult | None]) -> RuleResult | None:
    """The worst of the named parts, with its name before the words. None: nothing was observed."""
    seen = [(name, one) for name, one in found.items() if one is not None]
    if not seen:
        return None
    name, one = max(seen, key=lambda part: (part[1].level.severity, part[1].value or 0.0))
    return replace(one, words=f"{name}: {one.words}" if one.words else name)


def either(*rules: Rule) -> Rule:
    """The first rule with a result."""

    def rule(node: NodeFacts, facts: RunFacts) -> RuleResult | None:
        return next((found for each in rules if (found := each(node, facts))), None)

    return rule


def held_at(samples: MetricSamples, at: Floats) -> Floats:
    """Values at the times `at`; for rates, that of the interval around each; NaN beyond the last."""
    places = np.searchsorted(samples.at, at - 1e-6)
    found: Floats = np.append(samples.values, np.nan)[places]
    return found
