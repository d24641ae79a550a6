"""Nodes and runs for the rules, with what a test does not care about left out."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from apps.catalog.metrics import derived_metrics
from apps.runs.samples.columns import SampledNode
from apps.runs.samples.derivation import Inputs, evaluate
from apps.use_method.values import Floats, MetricSamples, NodeFacts, Panel, Reading, RunFacts, Span


def samples(values: Sequence[float], *, start: float = 0.0, step: float = 1.0) -> MetricSamples:
    """One value a step, the first at `start + step`."""
    at: Floats = start + step * np.arange(1, len(values) + 1, dtype=np.float64)
    return MetricSamples(at, np.array(values, np.float64))


def steady(value: float, *, seconds: int = 60) -> MetricSamples:
    return samples([value] * seconds)


def a_node(name: str = "db1", role: str = "writer", **more: Any) -> NodeFacts:
    return NodeFacts(name=name, role=role, **more)


def facts(*nodes: NodeFacts, **more: Any) -> RunFacts:
    return RunFacts(**{"tool": "sysbench_oltp", "platform": "mariadb", "measured": (0.0, 60.0), "nodes": nodes} | more)


def of_sampled(sampled: SampledNode, between: Span, **more: Any) -> NodeFacts:
    """A recorded node as the rules see it, derived metrics too, cut to `between`."""
    inputs = Inputs(sampled)
    series: dict[str, MetricSamples] = {}
    for key in inputs.keys:
        line = inputs.line(key)
        if line is not None and not np.isnan(line.values).all():
            series[key] = MetricSamples(line.at, line.values, line.resets, since=line.since)
    for spec in derived_metrics.available(inputs.keys):
        line = evaluate(spec, [inputs])
        if line is not None and not np.isnan(line.values).all():
            series[spec.key] = MetricSamples(line.at, line.values, line.resets, since=line.since)
    return NodeFacts(name=sampled.name, role=sampled.role, series=cut(series, between), **more)


def cut(series: Mapping[str, MetricSamples], between: Span) -> dict[str, MetricSamples]:
    found = {key: one.cut(one.inside(between)) for key, one in series.items()}
    return {key: one for key, one in found.items() if len(one.at)}


def lit(panel: Panel, *, levels: Sequence[str] = ("saturated", "error")) -> set[tuple[str, str]]:
    """(indicator, node) of the cells with one of `levels`."""
    return {(reading.indicator, reading.node) for reading in panel.readings if reading.level in levels}


def reading(panel: Panel, indicator: str, node: str) -> Reading:
    [found] = [one for one in panel.readings if (one.indicator, one.node) == (indicator, node)]
    return found
