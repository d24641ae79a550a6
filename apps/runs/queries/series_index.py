"""Index of a live or sealed run's series, with their statistics."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.catalog.pure import MetricSpec, period_of
from apps.runs.models import Run, RunNode, Series
from apps.runs.queries import nodes
from apps.runs.queries.metric_descriptions import described, kind_of, unit_of
from apps.runs.samples import derivation, rates, statistics
from apps.runs.samples.columns import SampledNode, constant_column, covers_interval
from apps.runs.samples.rates import COUNTER, WHOLE_RUN, Phase, SeriesStatistics
from apps.runs.storage import codec
from apps.runs.storage.blocks import STATISTICS
from apps.runs.storage.codec import Number

Floats = NDArray[np.float64]
# Statistics that are equal for a constant series.
ALIKE = ("mean", "minimum", "maximum", "p1", "p5", "p50", "p95", "p99", "first", "last")


@dataclass(frozen=True)
class SeriesInfo:
    """A series of a run with its statistics over the measured phase and the whole run (of a live run, both cover the
    data so far). `constant`: it never changed; a counter's rate is then 0.
    """

    metric: str
    name: str
    unit: str
    direction: str
    kind: str
    resource: str
    aspect: str
    node: str
    constant: bool
    statistics: SeriesStatistics
    whole: SeriesStatistics


@dataclass(frozen=True)
class _IndexEntry:
    """`still`: it never changed."""

    metric: str
    node: str
    statistics: SeriesStatistics
    whole: SeriesStatistics
    still: bool = False


def series_index(run_id: int) -> list[SeriesInfo]:
    """All series of a run, derived ones included, by metric and node. Four queries."""
    return series_indexes([run_id])[run_id]


def series_indexes(run_ids: Sequence[int]) -> dict[int, list[SeriesInfo]]:
    """Those of each run. Four queries."""
    tails = nodes.live(run_ids)
    rows: dict[int, list[RunNode]] = {run_id: [] for run_id in run_ids}
    for row in RunNode.objects.filter(run_id__in=run_ids, run__state=Run.State.SEALED).select_related("run"):
        rows[row.run_id].append(row)
    names = {(run_id, row.number): row.name for run_id, held in rows.items() for row in held}
    indexed = {
        run_id: _IndexedRun(held, [] if held else tails.get(run_id, []), list[_IndexEntry]())
        for run_id, held in rows.items()
    }
    for run_id, entry in _stored(run_ids, names):
        if entry.node:
            indexed[run_id].entries.append(entry)
    known = described({key for one in indexed.values() for key in one.metrics()})
    return {run_id: one.infos(known) for run_id, one in indexed.items()}


class _IndexedRun:
    """`rows`: nodes of a sealed run; `live`: of one that is not. `entries`: stored ones."""

    def __init__(self, rows: Sequence[RunNode], live: Sequence[SampledNode], entries: list[_IndexEntry]) -> None:
        self.rows, self.live, self.entries = rows, live, entries

    def metrics(self) -> set[str]:
        constants = [row.constants for row in self.rows] + [node.constants for node in self.live]
        keys = {entry.metric for entry in self.entries} | {key for held in constants for key in held}
        return keys | {key for node in self.live for key in (*node.changing, *derivation.keys(node))}

    def infos(self, known: Mapping[str, MetricSpec]) -> list[SeriesInfo]:
        entries = [*self.entries]
        for node in self.live:
            entries += _of_live(node, known)
            entries += _constants(node.name, node.constants, known, node.clock, WHOLE_RUN)
        for row in self.rows:
            entries += _constants(row.name, row.constants, known, _clock(row), _measured(row.run))
        found = [_info(known[entry.metric], entry) for entry in entries]
        return sorted(found, key=lambda info: (info.metric, info.node))


def _stored(run_ids: Sequence[int], names: Mapping[tuple[int, int], str]) -> Iterator[tuple[int, _IndexEntry]]:
    """Changing series and derived ones, with their run."""
    whole = [f"whole_{name}" for name in STATISTICS]
    rows = Series.objects.filter(run_id__in=run_ids).values_list(
        "run_id", "node", "metric__key", "length", *STATISTICS, *whole
    )
    for run_id, node, key, length, *values in rows:
        measured, throughout = (
            SeriesStatistics(*values[: len(STATISTICS)]),
            SeriesStatistics(*values[len(STATISTICS) :]),
        )
        # Series with stored samples have changed.
        still = not length and throughout.minimum == throughout.maximum
        yield run_id, _IndexEntry(key, names.get((run_id, node), ""), measured, throughout, still=still)


def _of_live(node: SampledNode, known: Mapping[str, MetricSpec]) -> Iterator[_IndexEntry]:
    for key, (so_far,) in statistics.of_node(node, known, (WHOLE_RUN,)):
        still = key not in node.changing and so_far.minimum == so_far.maximum
        yield _IndexEntry(key, node.name, so_far, so_far, still=still)


def _constants(
    node: str, constants: Mapping[str, Number], known: Mapping[str, MetricSpec], clock: Floats, phase: Phase
) -> Iterator[_IndexEntry]:
    """Constant series. The number of their values depends only on kind and covered interval."""
    ones = constant_column(1, len(clock))
    counts: dict[tuple[bool, bool, int | None], list[int]] = {}
    for key, value in constants.items():
        metric = known[key]
        sort = metric.kind == COUNTER, covers_interval(key), period_of(key)
        if sort not in counts:
            counts[sort] = [one.count for one in rates.of_phases(metric, clock, ones, (phase, WHOLE_RUN))]
        measured, throughout = (_constant(metric, value, count) for count in counts[sort])
        yield _IndexEntry(key, node, measured, throughout, still=True)


def _constant(metric: MetricSpec, value: Number, count: int) -> SeriesStatistics:
    if value is None or not count:
        return SeriesStatistics(count=0)
    is_counter = metric.kind == COUNTER
    return _flat(0.0 if is_counter else float(value), count, 0.0 if is_counter else None)


@lru_cache(maxsize=1024)  # most constants are counters that never change
def _flat(level: float, count: int, increase: float | None) -> SeriesStatistics:
    alike: dict[str, Any] = dict.fromkeys(ALIKE, level)
    return SeriesStatistics(count=count, stddev=0.0, increase=increase, **alike)


def _clock(row: RunNode) -> Floats:
    """Sample times of a node; empty when the clock is damaged, as its samples then are."""
    try:
        return codec.decode_floats(row.clock) if row.samples else np.zeros(0)
    except codec.BadBlock:
        return np.zeros(0)


def _measured(run: Run) -> Phase:
    if run.measured_from is None or run.measured_to is None:
        return WHOLE_RUN
    return Phase(run.measured_from, run.measured_to)


def _info(metric: MetricSpec, entry: _IndexEntry) -> SeriesInfo:
    return SeriesInfo(
        metric=metric.key,
        name=metric.name,
        unit=unit_of(metric),
        direction=metric.direction,
        kind=kind_of(metric),
        resource=metric.resource,
        aspect=metric.aspect,
        node=entry.node,
        constant=entry.still,
        statistics=entry.statistics,
        whole=entry.whole,
    )
