"""Which series a run has, with their statistics, live or sealed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from apps.catalog.rules import MetricSpec
from apps.runs import derivation, summary
from apps.runs.codec import Number
from apps.runs.lines import Line
from apps.runs.models import Run, RunNode, Series
from apps.runs.queries import reading
from apps.runs.queries.describing import described, kind_of, unit_of
from apps.runs.sampled import SampledNode
from apps.runs.summary import COUNTER, WHOLE_RUN, Summary


@dataclass(frozen=True)
class SeriesInfo:
    """One series that a run has, with its statistics over the measured phase (of a live run: so far).

    None: not observed there. `constant`: it never changed; a counter's rate is then 0.
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
    mean: float | None
    minimum: float | None
    maximum: float | None
    resets: int


@dataclass(frozen=True)
class _Entry:
    """`still`: it never changed."""

    metric: str
    node: str
    statistics: Summary
    still: bool = False


def series_index(run_id: int) -> list[SeriesInfo]:
    """Every series of a run, derived ones too, by metric and node. Four queries."""
    live = reading.live([run_id]).get(run_id, [])
    rows = list(RunNode.objects.filter(run_id=run_id, run__state=Run.State.SEALED))
    names = {row.number: row.name for row in rows}
    entries = [entry for entry in _stored(run_id, names) if entry.node]
    constants = [(row.name, key, value) for row in rows for key, value in row.constants.items()]
    if rows:
        live = []
    derived = {node.name: derivation.columns(node) for node in live}
    constants += [(node.name, key, value) for node in live for key, value in node.constants.items()]
    keys = {entry.metric for entry in entries} | {key for _, key, _ in constants}
    keys |= {key for node in live for key in (*node.changing, *derived[node.name])}
    known = described(keys)
    for node in live:
        entries += _of_live(node, known, derived[node.name])
    entries += [_Entry(key, node, _constant(known[key], value), still=True) for node, key, value in constants]
    found = [_info(known[entry.metric], entry) for entry in entries]
    return sorted(found, key=lambda info: (info.metric, info.node))


def _stored(run_id: int, names: Mapping[int, str]) -> Iterator[_Entry]:
    """Those that changed, and the derived ones."""
    rows = Series.objects.filter(run_id=run_id).values_list(
        *("node", "metric__key", "length", "count", "mean", "minimum", "maximum", "resets"),
        *("whole_minimum", "whole_maximum"),
    )
    for node, key, length, count, mean, minimum, maximum, resets, lowest, highest in rows:
        statistics = Summary(count=count, mean=mean, minimum=minimum, maximum=maximum, resets=resets)
        # Where samples are stored, they changed.
        yield _Entry(key, names.get(node, ""), statistics, still=not length and lowest == highest)


def _of_live(node: SampledNode, known: Mapping[str, MetricSpec], derived: Mapping[str, Line]) -> Iterator[_Entry]:
    for key, column in node.changing.items():
        yield _Entry(key, node.name, summary.of_series(known[key], node.clock, column, WHOLE_RUN))
    for key, line in derived.items():
        (statistics,) = derivation.statistics(line, (WHOLE_RUN,))
        yield _Entry(key, node.name, statistics, still=statistics.minimum == statistics.maximum)


def _constant(metric: MetricSpec, value: Number) -> Summary:
    """Of a series that never changed."""
    if value is None:
        return Summary(count=0)
    level = 0.0 if metric.kind == COUNTER else float(value)
    return Summary(count=1, mean=level, minimum=level, maximum=level)


def _info(metric: MetricSpec, entry: _Entry) -> SeriesInfo:
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
        mean=entry.statistics.mean,
        minimum=entry.statistics.minimum,
        maximum=entry.statistics.maximum,
        resets=entry.statistics.resets,
    )
