"""Statistics of all series of a node at once, several times as fast as one by one. Pure."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from apps.runs.samples import derivation, time_series
from apps.runs.samples import rates as samples_rates
from apps.runs.samples.columns import SampledNode, covers_interval
from apps.runs.samples.derivation import Inputs
from apps.runs.samples.rates import COUNTER, Described, Phase, SeriesStatistics
from apps.runs.samples.time_series import TimeSeries
from apps.runs.storage.codec import Column

# 2 MB of float64: bounds the memory of long runs, and keeps short ones in the CPU's cache.
VALUES_AT_ONCE = 256 * 1024


def of_node(
    node: SampledNode, metrics: Mapping[str, Described], phases: Sequence[Phase]
) -> Iterator[tuple[str, list[SeriesStatistics]]]:
    """Key and statistics over each of `phases`, for all changing series and derived metrics."""
    inputs = Inputs(node)
    keys = sorted(node.changing)
    step = max(VALUES_AT_ONCE // max(len(node.clock), 1), 1)
    for start in range(0, len(keys), step):
        columns = {key: node.changing[key] for key in keys[start : start + step]}
        counters = {key: column for key, column in columns.items() if metrics[key].kind == COUNTER}
        rates = time_series.of_steady(node.clock, counters, counters).lines()
        inputs.keep(rates)
        found = _of_lines(rates, phases, counters) | _of_lines(_moments(node, columns, metrics), phases)
        yield from found.items()
        for key in columns.keys() - found.keys():
            yield key, samples_rates.of_phases(metrics[key], node.clock, columns[key], phases)
    derived = derivation.columns(inputs)
    whole = {key: line for key, line in derived.items() if _covers(line, node) and not np.isnan(line.values).any()}
    yield from _of_lines(whole, phases).items()
    for key in derived.keys() - whole.keys():
        yield key, derivation.statistics(derived[key], phases)


def _covers(line: TimeSeries, node: SampledNode) -> bool:
    """Whether `line` has a value for every interval of the node."""
    return line.since is not None and len(line.at) == len(node.clock) - 1


def _moments(
    node: SampledNode, columns: Mapping[str, Column], metrics: Mapping[str, Described]
) -> dict[str, TimeSeries]:
    """Gauges without missing samples."""
    return {
        key: TimeSeries(node.clock, column.as_float())
        for key, column in columns.items()
        if metrics[key].kind != COUNTER and not covers_interval(key) and column.observed.all()
    }


def _of_lines(
    rows: Mapping[str, TimeSeries], phases: Sequence[Phase], counters: Mapping[str, Column] | None = None
) -> dict[str, list[SeriesStatistics]]:
    """Statistics of series without gaps, all at the same times; `counters`: those of which `rows` are the rates."""
    if not rows:
        return {}
    first = next(iter(rows.values()))
    lengths = None if first.since is None else first.at - first.since
    places = [phase.within(first.at if lengths is None else first.at - lengths / 2) for phase in phases]
    values = np.stack([line.values for line in rows.values()])
    found: dict[tuple[int, int], list[SeriesStatistics]] = {}
    for start, stop in set(places):
        inside = slice(start, stop)
        increases = [_increase(counters[key], start, stop) for key in rows] if counters else None
        if start == stop:
            found[start, stop] = [SeriesStatistics(count=0)] * len(rows)
        else:
            weights = None if lengths is None else lengths[inside]
            found[start, stop] = samples_rates.of_rows(values[:, inside], weights, increases)
    return {key: [found[place][row] for place in places] for row, key in enumerate(rows)}


def _increase(counter: Column, start: int, stop: int) -> float:
    """Increase over the intervals [`start`, `stop`) of a counter that never fell."""
    return float(counter.values[stop] - counter.values[start])
