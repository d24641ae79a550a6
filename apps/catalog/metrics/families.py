"""Metric families: metrics whose keys contain a name, such as a backend's or a class of waits. Pure."""

from dataclasses import replace
from functools import lru_cache

from apps.catalog.metrics import agent_sources, formula
from apps.catalog.metrics.counter_rules import MetricSpec
from apps.catalog.metrics.standard import read

FAMILIES = tuple(read(agent_sources.FAMILIES + agent_sources.of_connections(agent_sources.REPLICATION)).values())
BEGINNINGS = tuple({spec.key.partition("<")[0] for spec in FAMILIES})


@lru_cache(maxsize=4096)
def find(key: str) -> MetricSpec | None:
    """The metric of `key`; None: it belongs to no family."""
    if not key.startswith(BEGINNINGS):
        return None
    for family in FAMILIES:
        placeholders = formula.placeholders(family.key, key)
        if placeholders:
            return replace(family, key=key, name=f"{family.name} ({', '.join(placeholders.values())})"[:160])
    return None
