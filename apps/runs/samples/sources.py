"""Sampled sources of a run, derived from the keys of its series. Pure."""

from collections.abc import Iterable

import numpy as np

from apps.runs.samples.columns import CLIENT, SampledNode

# The database server's sources differ in the second word of their keys.
SERVER = "mysql"


def samplers_of(nodes: Iterable[SampledNode]) -> list[str]:
    """Sorted texts, one per kind of node, for example "writer: host, innodb, process, status, every 1 s".

    The load tool's own output does not count.
    """
    return sorted({text for node in nodes if (text := _of_node(node))})


def _of_node(node: SampledNode) -> str:
    sources = {_source(key) for key in (*node.changing, *node.constants)} - {CLIENT}
    if not sources:
        return ""
    every = f", every {_seconds(node)}" if len(node.clock) > 1 else ""
    return f"{node.role or node.name}: {', '.join(sorted(sources))}{every}"


def _source(key: str) -> str:
    first, _, rest = key.partition(".")
    return rest.partition(".")[0] if first == SERVER else first


def _seconds(node: SampledNode) -> str:
    """The median sampling interval: in whole seconds from 1 s, since no clock is exact."""
    step = float(np.median(np.diff(node.clock)))
    return f"{step:.0f} s" if step >= 0.95 else f"{step:.1g} s"
