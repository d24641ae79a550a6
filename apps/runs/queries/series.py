"""Series of live and sealed runs alike: as arrays for charts, and as an index of what there is.

The batches are read before the sealed series: sealing takes the ones away in the transaction that brings the others,
so a reader sees the live tail or the sealed series, never half of one.
"""

import logging
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.catalog import metrics as catalog_metrics
from apps.catalog import rules
from apps.catalog.models import Metric
from apps.runs import blocks, sampled, summary, thinning
from apps.runs.codec import Number
from apps.runs.models import Batch, Run, RunNode, Series
from apps.runs.parsers import sysbench
from apps.runs.sampled import SampledNode
from apps.runs.summary import Summary
from workers import wire

log = logging.getLogger(__name__)

Floats = NDArray[np.float64]
Described = Metric | rules.MetricSpec
RATE, GAUGE = "rate", "gauge"


@dataclass(frozen=True)
class SeriesValues:
    """`values` at `at` (s on the run's clock); NaN: not observed.

    Of a counter (`kind` is rate) the values are its rates over the time since the sample before, `unit` is theirs, and
    `resets` are the times at which it fell.
    """

    run_id: int
    metric: str
    name: str
    unit: str
    direction: str
    kind: str
    node: str
    at: Floats
    values: Floats
    resets: tuple[float, ...]


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


def load_series(
    *,
    run_ids: Sequence[int],
    metrics: Sequence[str],
    nodes: Sequence[str] | None = None,
    points: int | None = None,
) -> list[SeriesValues]:
    """The series of `metrics` (keys) on `nodes` (names; None: all), by run, metric and node as they were asked for.

    `points`: thinned to about so many, with gaps and extremes kept. What was never observed has no entry. Four queries.
    """
    runs = _live(run_ids)
    runs |= blocks.read(run_ids, metrics)
    described = _described(metrics)
    found = []
    for run_id in dict.fromkeys(run_ids):
        for key in dict.fromkeys(metrics):
            for node in runs.get(run_id, []):
                if nodes is None or node.name in nodes:
                    one = _values(run_id, described[key], node, points)
                    found += [one] if one else []
    return found


def series_index(run_id: int) -> list[SeriesInfo]:
    """Every series of a run, by metric and node. Four queries."""
    live = _live([run_id]).get(run_id, [])
    rows = list(RunNode.objects.filter(run_id=run_id, run__state=Run.State.SEALED))
    statistics = Series.objects.filter(run_id=run_id).values_list(
        "node", "metric__key", "count", "mean", "minimum", "maximum", "resets"
    )
    names = {row.number: row.name for row in rows}
    changing = {
        (names[node], key): Summary(count=count, mean=mean, minimum=minimum, maximum=maximum, resets=resets)
        for node, key, count, mean, minimum, maximum, resets in statistics
        if node in names
    }
    constants = {(row.name, key): value for row in rows for key, value in row.constants.items()}
    if not rows:
        constants = {(node.name, key): value for node in live for key, value in node.constants.items()}
    columns = [] if rows else [(node, key, column) for node in live for key, column in node.changing.items()]
    described = _described({key for _, key in (*changing, *constants)} | {key for _, key, _ in columns})
    for node, key, column in columns:
        changing[node.name, key] = summary.of_series(described[key], node.clock, column, summary.WHOLE_RUN)
    found = [_info(described[key], node, one, constant=False) for (node, key), one in changing.items()]
    found += [
        _info(described[key], node, _still(described[key], v), constant=True) for (node, key), v in constants.items()
    ]
    return sorted(found, key=lambda info: (info.metric, info.node))


def _live(run_ids: Sequence[int]) -> dict[int, list[SampledNode]]:
    """What has arrived of the runs that are not sealed, up to the first batch that is missing. One query."""
    payloads: dict[int, list[bytes]] = defaultdict(list)
    batches = Batch.objects.filter(run_id__in=list(run_ids)).order_by("run_id", "sequence")
    for run_id, sequence, payload in batches.values_list("run_id", "sequence", "payload"):
        if sequence == len(payloads[run_id]):
            payloads[run_id].append(bytes(payload))
    return {run_id: _tail(run_id, arrived) for run_id, arrived in payloads.items()}


def _tail(run_id: int, payloads: Sequence[bytes]) -> list[SampledNode]:
    try:
        decoded = wire.decode(payloads)
        nodes = sampled.nodes_of(decoded)
    except wire.BadBatch as error:
        # The seal will say so of the run and keep the batches; until then there is nothing to show.
        log.warning("run %s has a batch that cannot be read: %s", run_id, error)
        return []
    printed = "\n".join(line for _, line in decoded.output) + "\n"
    intervals = sysbench.parse(printed.encode()).intervals
    client = sampled.client_of(intervals, offset=sampled.offset_of(decoded.output) or 0.0)
    return sampled.joined([*([client] if client else []), *nodes])


def _described(keys: Collection[str]) -> dict[str, Described]:
    """The catalog's word for each key; for a key that only a live run has so far, what its rules say. One query."""
    known = {metric.key: metric for metric in Metric.objects.filter(key__in=list(keys))}
    return {key: known.get(key) or catalog_metrics.CURATED.get(key) or rules.describe(key) for key in keys}


def _values(run_id: int, metric: Described, node: SampledNode, points: int | None) -> SeriesValues | None:
    column = node.column(metric.key)
    if column is None or not column.observed.any():
        return None
    at, values, resets = node.clock, column.as_float(), []
    if metric.kind == Metric.Kind.COUNTER:
        rates = summary.rates(node.clock, column)
        at, values, resets = node.clock[1:], rates.on_clock(node.clock), rates.resets()
    if points is not None:
        chosen = thinning.thin(at, values, points)
        at, values = at[chosen], values[chosen]
    return SeriesValues(
        run_id=run_id,
        metric=metric.key,
        name=metric.name,
        unit=_unit(metric),
        direction=metric.direction,
        kind=_kind(metric),
        node=node.name,
        at=at,
        values=values,
        resets=tuple(resets),
    )


def _info(metric: Described, node: str, statistics: Summary, *, constant: bool) -> SeriesInfo:
    return SeriesInfo(
        metric=metric.key,
        name=metric.name,
        unit=_unit(metric),
        direction=metric.direction,
        kind=_kind(metric),
        resource=metric.resource,
        aspect=metric.aspect,
        node=node,
        constant=constant,
        mean=statistics.mean,
        minimum=statistics.minimum,
        maximum=statistics.maximum,
        resets=statistics.resets,
    )


def _still(metric: Described, value: Number) -> Summary:
    """Of a series that never changed."""
    if value is None:
        return Summary(count=0)
    level = 0.0 if metric.kind == Metric.Kind.COUNTER else float(value)
    return Summary(count=1, mean=level, minimum=level, maximum=level)


def _kind(metric: Described) -> str:
    return RATE if metric.kind == Metric.Kind.COUNTER else GAUGE


def _unit(metric: Described) -> str:
    return rules.rate_unit(metric.unit) if metric.kind == Metric.Kind.COUNTER else metric.unit
