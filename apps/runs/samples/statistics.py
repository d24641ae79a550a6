"""Statistics of all series of a node at once, several times as fast as one by one. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from apps.catalog.pure import period_of
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
        found: dict[str, list[SeriesStatistics]] = {}
        for (is_counter, period, _), own in _alike(columns, metrics).items():
            seen = next(iter(own.values())).observed
            whole = bool(seen.all())
            clock = node.clock if whole else node.clock[seen]
            held = own if whole else {key: _observed(column) for key, column in own.items()}
            if is_counter:
                rates = time_series.of_steady(clock, held, held).lines() if len(clock) > 1 else {}
                if whole:
                    inputs.keep(rates)
                found |= _of_lines(rates, phases, held)
            else:
                at = clock if period is None else samples_rates.interval_middles(clock, period or None)
                found |= _of_lines({key: TimeSeries(at, column.as_float()) for key, column in held.items()}, phases)
        yield from found.items()
        for key in columns.keys() - found.keys():
            yield key, samples_rates.of_phases(metrics[key], node.clock, columns[key], phases)
    for lines in _observed_alike(derivation.columns(inputs)):
        yield from _of_lines(lines, phases).items()


_Kind = tuple[bool, float | None, bytes]


def _alike(columns: Mapping[str, Column], metrics: Mapping[str, Described]) -> dict[_Kind, dict[str, Column]]:
    """The columns by what their statistics have in common: whether they are counters, the period that values cover
    (0: the time since the previous sample; None: instants), and which samples are missing."""
    found = defaultdict[_Kind, dict[str, Column]](dict)
    for key, column in columns.items():
        is_counter = metrics[key].kind == COUNTER
        covers = not is_counter and covers_interval(key)
        kind = is_counter, (period_of(key) or 0.0) if covers else None, column.observed.tobytes()
        found[kind][key] = column
    return found


def _observed(column: Column) -> Column:
    seen = column.observed
    return Column(column.values[seen], seen[seen])


def _observed_alike(lines: Mapping[str, TimeSeries]) -> Iterator[dict[str, TimeSeries]]:
    """The lines without their gaps, those with values at the same times together."""
    found = defaultdict[tuple[bytes, bytes | None], dict[str, TimeSeries]](dict)
    for key, line in lines.items():
        seen = ~np.isnan(line.values)
        cut = line if seen.all() else line.cut(seen)
        found[cut.at.tobytes(), None if cut.since is None else cut.since.tobytes()][key] = cut
    yield from found.values()


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
