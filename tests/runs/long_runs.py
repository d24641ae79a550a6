"""Sealed runs of many samples, written without an upload."""

from collections.abc import Mapping

import numpy as np
from django.db import transaction

from apps.runs.models import Run
from apps.runs.samples.columns import SampledNode
from apps.runs.samples.rates import Phase
from apps.runs.storage import blocks
from apps.runs.storage.codec import Column, Number
from tests.support.builders import a_metric, a_run


def a_node(
    name: str = "db1", *, samples: int, series: int, constants: Mapping[str, Number] | None = None
) -> SampledNode:
    """Counters `mysql.status.Counter_<n>` that grow by random steps, a sample a second."""
    random = np.random.default_rng(series)
    everywhere = np.ones(samples, dtype=np.bool_)
    changing = {
        f"mysql.status.Counter_{number}": Column(
            values=np.cumsum(random.integers(0, 1000, samples)) + 2**53, observed=everywhere
        )
        for number in range(series)
    }
    return SampledNode(
        name=name,
        role="writer",
        clock=np.arange(samples, dtype=np.float64) + 0.25,
        changing=changing,
        constants=constants or {},
    )


def a_long_run(*nodes: SampledNode) -> Run:
    run = a_run()
    keys = {key for node in nodes for key in (*node.changing, *node.constants)}
    metrics = {key: a_metric(key, unit="statements", kind="counter", direction="neutral") for key in keys}
    with transaction.atomic():
        blocks.write(run=run, nodes=nodes, metrics=metrics, phase=Phase(0, 60))
    return run
