"""Sealed runs with series: sampling of them is given as arrays."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from apps.catalog.services import metrics_for
from apps.runs.models import Run
from apps.runs.samples import derivation
from apps.runs.samples.columns import SampledNode
from apps.runs.samples.rates import Phase
from apps.runs.storage import blocks
from apps.runs.storage.codec import Column, Number
from tests.support.builders import a_measured_run


def a_node(
    name: str,
    clock: ArrayLike,
    changing: Mapping[str, ArrayLike],
    constants: Mapping[str, Number] | None = None,
    *,
    role: str = "writer",
) -> SampledNode:
    columns = {key: Column(np.asarray(values), np.ones(np.size(values), np.bool_)) for key, values in changing.items()}
    return SampledNode(name, role, np.asarray(clock, float), columns, constants or {})


def seconds_of(values: Sequence[float], key: str = "client.throughput") -> SampledNode:
    """What the load generator printed, second by second."""
    return a_node("client", np.arange(1.0, len(values) + 1), {key: np.asarray(values, float)}, role="client")


def a_sampled_run(nodes: Sequence[SampledNode], values: dict[str, float], **fields: Any) -> Run:
    """A sealed run of a minute with headline `values` and the series of `nodes`."""
    run = a_measured_run(values, **fields)
    keys = {key for node in nodes for key in (*node.changing, *node.constants, *derivation.keys(node))}
    assert run.measured_from is not None
    assert run.measured_to is not None
    phase = Phase(run.measured_from, run.measured_to)
    blocks.write(run=run, nodes=nodes, metrics=metrics_for(sorted(keys)), phase=phase)
    return run
