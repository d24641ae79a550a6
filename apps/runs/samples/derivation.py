"""Derived metrics of sampled nodes, computed from their inputs. Pure.

With a counter among the inputs, values cover the intervals between samples, like rates, and gauges are taken at the
interval's end. Otherwise they are values of instants, on the node's clock.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from apps.catalog.pure import DerivedSpec, MetricSpec, derived_metrics, formula
from apps.runs.samples import rates, time_series
from apps.runs.samples.columns import SampledNode
from apps.runs.samples.rates import Phase, SeriesStatistics
from apps.runs.samples.time_series import TimeSeries

Floats = NDArray[np.float64]


class Inputs:
    """Values of a node's stored series, each computed once."""

    def __init__(self, node: SampledNode) -> None:
        self.node = node
        self.keys = _same(frozenset((*node.changing, *node.constants)))
        self._lines: dict[str, TimeSeries | None] = {}

    def specs(self) -> list[DerivedSpec]:
        """The node's derived metrics."""
        return derived_metrics.available(self.keys)

    def line(self, key: str) -> TimeSeries | None:
        """The values of a series; None: the node has no such series."""
        if key not in self._lines:
            column = self.node.column(key)
            spec = _described(key)
            self._lines[key] = None if column is None else time_series.of_column(spec, self.node.clock, column)
        return self._lines[key]

    def keep(self, found: Mapping[str, TimeSeries]) -> None:
        """Adds series computed elsewhere, if a derived metric needs them."""
        needed = _needed(self.keys)
        self._lines |= {key: line for key, line in found.items() if key in needed}

    def all_of(self, pattern: str) -> list[TimeSeries]:
        """The series that match a key of a formula."""
        keys = _fitting(pattern, self.keys) if "*" in pattern else [pattern]
        return [line for line in map(self.line, keys) if line is not None]


@lru_cache(maxsize=256)
def _same(keys: frozenset[str]) -> frozenset[str]:
    """One object for equal keys: what is kept by them is then found without comparing hundreds of texts."""
    return keys


@lru_cache(maxsize=1024)
def _fitting(pattern: str, keys: frozenset[str]) -> Sequence[str]:
    return tuple(sorted(formula.fitting(pattern, keys)))


@lru_cache(maxsize=1024)
def _needed(keys: frozenset[str]) -> frozenset[str]:
    """Inputs of the derived metrics of a node with `keys`."""
    patterns = {pattern for spec in derived_metrics.available(keys) for pattern in spec.formula.inputs}
    return frozenset(key for pattern in patterns for key in (_fitting(pattern, keys) if "*" in pattern else [pattern]))


def keys(node: SampledNode) -> list[str]:
    """Keys of the node's derived metrics, observed or not."""
    return [spec.key for spec in derived_metrics.available({*node.changing, *node.constants})]


def columns(inputs: Inputs) -> dict[str, TimeSeries]:
    """The node's derived metrics by key, without those never observed."""
    found = ((spec.key, _on_node(spec, inputs)) for spec in inputs.specs())
    return {key: line for key, line in found if len(line.at) and not np.isnan(line.values).all()}


def statistics(line: TimeSeries, phases: Sequence[Phase]) -> list[SeriesStatistics]:
    """Statistics over each of `phases`. A value of an interval belongs to the phase that contains its middle, and is
    weighted by its length."""
    seen = ~np.isnan(line.values)
    at, lengths = line.at[seen], None
    if line.since is not None:
        lengths = at - line.since[seen]
        at = at - lengths / 2
    return rates.of_values(at, line.values[seen], phases, lengths=lengths)


def evaluate(spec: DerivedSpec, nodes: Sequence[Inputs], how: str = time_series.SUM) -> TimeSeries | None:
    """The derived metric of one node; for several, the formula over the sums (or means, `how`) of its inputs, so that
    a ratio is that of the totals. None: every node lacks an input, or there are too few samples.
    """
    having = [node for node in nodes if formula.has_all(spec.formula.inputs, node.keys)]
    if not having:
        return None
    line = _on_node(spec, having[0]) if len(having) == 1 else _over_nodes(spec, having, how)
    return line if len(line.at) else None


def _on_node(spec: DerivedSpec, node: Inputs) -> TimeSeries:
    clock = node.node.clock
    length = max(len(clock) - spec.has_rates, 0)
    groups = {pattern: node.all_of(pattern) for pattern in spec.formula.inputs}
    every = [line for group in groups.values() for line in group]
    found = spec.formula.evaluate({pattern: _sum(group, length) for pattern, group in groups.items()})
    at, since = clock[len(clock) - length :], None
    if spec.has_rates:
        # Rates over different intervals, where one input missed a sample, are not combined.
        since, *others = (line.since for line in every if line.since is not None)
        for other in others:
            if not np.array_equal(other, since):
                found = np.where(other == since, found, np.nan)
    return TimeSeries(at, found, since, _resets(every))


def _sum(group: Sequence[TimeSeries], length: int) -> Floats:
    rows = [line.values[len(line.values) - length :] for line in group]
    return (
        rows[0]
        if len(rows) == 1
        else time_series.total(np.stack(rows), np.stack([time_series.alive(row) for row in rows]))[0]
    )


def _over_nodes(spec: DerivedSpec, nodes: Sequence[Inputs], how: str) -> TimeSeries:
    clock = time_series.common_clock([node.node.clock for node in nodes])
    values, parts = {}, np.zeros(0, np.intp)
    for pattern in reversed(spec.formula.inputs):
        rows = [_on_clock(node.all_of(pattern), clock, spec) for node in nodes]
        values[pattern], parts = time_series.total(*map(np.stack, zip(*rows, strict=True)))
        if how == time_series.MEAN:
            values[pattern] /= np.maximum(parts, 1)
    resets = _resets([line for node in nodes for pattern in spec.formula.inputs for line in node.all_of(pattern)])
    at, since = (clock[1:], clock[:-1]) if spec.has_rates else (clock, None)
    return TimeSeries(at, spec.formula.evaluate(values), since, resets, parts)


def _on_clock(group: Sequence[TimeSeries], clock: Floats, spec: DerivedSpec) -> tuple[Floats, NDArray[np.bool_]]:
    """The sum of a node's `group` on another `clock`, and where the node takes part."""
    length = len(clock) - spec.has_rates
    placed = [time_series.on_grid(line, clock) for line in group]
    rows, there = zip(*((values[-length:], alive[-length:]) for values, alive in placed), strict=True)
    found, parts = time_series.total(np.stack(rows), np.stack(there))
    return found, parts > 0


def _resets(every: Iterable[TimeSeries]) -> tuple[float, ...]:
    return tuple(sorted({reset for line in every for reset in line.resets}))


@lru_cache(maxsize=4096)
def _described(key: str) -> MetricSpec:
    return derived_metrics.describe(key)[0]
