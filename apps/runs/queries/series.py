"""Series of live and sealed runs, for many runs, metrics and nodes at once, as arrays."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from apps.catalog.models import Metric
from apps.catalog.pure import DerivedSpec, MetricSpec, derived_metrics, formula
from apps.runs.queries import nodes as queries_nodes
from apps.runs.queries.alignment import RUN_CLOCK, Alignment, zeros
from apps.runs.queries.metric_descriptions import GAUGE, described, kind_of, unit_of
from apps.runs.samples import downsample, time_series
from apps.runs.samples.columns import CLIENT, SampledNode
from apps.runs.samples.derivation import Inputs, evaluate
from apps.runs.samples.rates import COUNTER
from apps.runs.samples.time_series import SteadyRates, TimeSeries
from apps.runs.storage.codec import Column, Values

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SeriesValues:
    """`values` at `at` (s from `zero`, which is s on the run's clock); NaN: not observed.

    For a counter (`kind` is rate), values are rates over the time since the previous sample, `unit` is the rate's, and
    `resets` are the times at which it fell. Raw values (`kind` is counter) are totals in `unit`, of the sampled type,
    and `observed` marks the existing ones. Over nodes, `node` is "sum" or "mean", `nodes` are those with the metric,
    and `parts` is the number of nodes in each value.

    `since`: starts of the intervals that values cover, which end at `at`; None: values of instants, raw or downsampled.

    `problem`: a sentence with the reason for missing values; `at` and `values` are then empty, and `node` is empty if
    it concerns the whole run.
    """

    run_id: int
    metric: str
    name: str
    unit: str
    direction: str
    kind: str
    node: str
    at: Floats
    values: Values
    resets: tuple[float, ...]
    zero: float = 0.0
    observed: NDArray[np.bool_] | None = None
    nodes: tuple[str, ...] = ()
    parts: NDArray[np.intp] | None = None
    since: Floats | None = None
    problem: str = ""


def load_series(
    *,
    run_ids: Sequence[int],
    metrics: Sequence[str] | Mapping[int, Sequence[str]],
    nodes: Sequence[str] | None = None,
    points: int | None = None,
    between: tuple[float, float] | Mapping[int, tuple[float, float]] | None = None,
    align: Alignment = RUN_CLOCK,
    over_nodes: str | None = None,
    raw: bool = False,
) -> list[SeriesValues]:
    """The series of `metrics` (keys, of all or of each run) on `nodes` (names; None: all), in the given order of runs,
    metrics and nodes.

    `align`: definition of t = 0; `between`: first and last time, s from there, of all or of each run. `points`:
    downsampled to about so many, keeping gaps and the minimum and maximum of each bin; times between the samples of a
    slow series are left out, and steps without samples become gaps (see `time_series.spaced`). `raw`: stored samples
    instead of rates.

    `over_nodes`: one series per run and metric, the "sum" or "mean" over the nodes, on the clock of the one with the
    most samples (see `time_series.over_nodes`); without `nodes`, over all but the load generator, unless only that has
    the metric. A derived metric is then the formula over the sums or means of its inputs.

    Series never observed have no entry; unavailable ones have an entry with a `problem`. Five queries, six if aligned
    to another zero than the run's clock. Raises ValueError for options that exclude each other.
    """
    if over_nodes not in (None, time_series.SUM, time_series.MEAN) or (raw and over_nodes):
        raise ValueError("over nodes there is a sum or a mean, and none of raw samples")
    of_run = metrics if isinstance(metrics, Mapping) else dict.fromkeys(run_ids, metrics)
    wanted = {key: derived_metrics.find(key) for own in of_run.values() for key in own}
    # The batches first: see apps.runs.queries.nodes.
    nodes_of = queries_nodes.live(run_ids)
    start = zeros(run_ids, align)
    known = described(wanted, _patterns(wanted.values()))
    rest = [run_id for run_id in dict.fromkeys(run_ids) if run_id not in nodes_of]
    sealed = queries_nodes.sealed(rest, _stored(wanted, known), nodes)
    nodes_of |= sealed.nodes
    problems = start.problems | sealed.problems
    found = []
    for run_id in dict.fromkeys(run_ids):
        window = _Window(points, between[run_id] if isinstance(between, Mapping) else between, raw)
        zero = start.at.get(run_id, 0.0)
        asked = {key: _Asked(run_id, known[key], wanted[key], zero, window) for key in of_run[run_id]}
        if run_id in problems:
            found += [each.absent("", problems[run_id]) for each in asked.values()]
            continue
        chosen = [Inputs(node) for node in nodes_of.get(run_id, []) if nodes is None or node.name in nodes]
        if over_nodes:
            for each in asked.values():
                found += each.over(each.servers(chosen) if nodes is None else chosen, over_nodes)
        else:
            tables = [_on_node(asked, node, zero, window) for node in chosen]
            found += [table[key] for key in asked for table in tables if key in table]
    return found


@dataclass(frozen=True)
class _Window:
    """The requested part and resolution of series."""

    points: int | None
    between: tuple[float, float] | None
    raw: bool

    def line(self, line: TimeSeries, zero: float) -> TimeSeries:
        """What to return of a series."""
        line = line if self.points is None else time_series.with_gaps(line)
        return line.cut(self.places(line.at, line.values, zero))

    def places(self, at: Floats, values: Values, zero: float) -> "NDArray[np.intp] | slice":
        """Indices of the samples of a series to return."""
        part = self._part(at, zero)
        if self.points is None or part.stop - part.start <= self.points:
            return part
        places: NDArray[np.intp] = downsample.thin(values[part], self.points) + part.start
        return places

    def cut(self, steady: SteadyRates, zero: float) -> list[TimeSeries]:
        """The part to return, per row of values, which are observed at all times."""
        if self.points is not None and time_series.spaced(steady.at, np.ones(len(steady.at), np.bool_)) is not None:
            return [self.line(TimeSeries(steady.at, row), zero) for row in steady.values]
        part = self._part(steady.at, zero)
        drawn = downsample.thinned(steady.at[part], steady.values[:, part], self.points or len(steady.at))
        since = steady.since[part] if self.points is None else None
        return [TimeSeries(at, values, since) for at, values in drawn]

    def _part(self, at: Floats, zero: float) -> slice:
        """Index range of the requested times."""
        if self.between is None:
            return slice(0, len(at))
        first, last = self.between[0] + zero, self.between[1] + zero
        return slice(int(np.searchsorted(at, first, "left")), int(np.searchsorted(at, last, "right")))

    def times(self, resets: Iterable[float], zero: float) -> tuple[float, ...]:
        """The `resets` inside the window, s from `zero`."""
        first, last = self.between or (-np.inf, np.inf)
        return tuple(reset - zero for reset in resets if first <= reset - zero <= last)


def _patterns(specs: Iterable[DerivedSpec | None]) -> set[str]:
    return {key for spec in specs if spec for key in spec.formula.inputs if "*" in key}


def _stored(wanted: dict[str, DerivedSpec | None], known: Iterable[str]) -> list[str]:
    """Keys of the stored series needed."""
    found = {key for key, spec in wanted.items() if spec is None}
    for spec in wanted.values():
        for key in spec.formula.inputs if spec else ():
            found |= set(formula.fitting(key, known)) if "*" in key else {key}
    return sorted(found)


def _on_node(asked: "dict[str, _Asked]", inputs: Inputs, zero: float, window: _Window) -> dict[str, SeriesValues]:
    """The requested series that the node has."""
    node = inputs.node
    counters = [
        key for key, each in asked.items() if each.metric.kind == COUNTER and key in node.changing and not window.raw
    ]
    steady = time_series.of_steady(node.clock, node.changing, counters)
    drawn = window.cut(steady, zero)
    found = {key: asked[key].shown(line, node.name) for key, line in zip(steady.keys, drawn, strict=True)}
    return found | {key: series for key, each in asked.items() if key not in found for series in each.on(inputs)}


@dataclass(frozen=True)
class _Asked:
    """A requested metric of a run. `spec`: of a derived metric. `zero`: time of t = 0, s on the run's clock."""

    run_id: int
    metric: MetricSpec
    spec: DerivedSpec | None
    zero: float
    window: _Window

    def on(self, inputs: Inputs) -> list[SeriesValues]:
        """The series on one node, or none."""
        node = inputs.node
        if problem := self._damage(inputs):
            return [self.absent(node.name, problem)]
        if self.spec is not None:
            return self._observed(evaluate(self.spec, [inputs]), node.name)
        column = node.column(self.metric.key)
        if column is None or not column.observed.any():
            return []
        line = time_series.of_column(self.metric, node.clock, column)
        return [self._raw(node, column, line.resets) if self.window.raw else self._shown(line, node.name)]

    def over(self, nodes: Sequence[Inputs], how: str) -> list[SeriesValues]:
        """The series over the nodes, or none."""
        having = [inputs for inputs in nodes if self._is_on(inputs)]
        problem = next(filter(None, map(self._damage, nodes)), "")
        if self.metric.kind == Metric.Kind.DISTRIBUTION and len(having) > 1:
            problem = problem or "a percentile over several nodes does not follow from theirs: ask for each node"
        if problem:
            return [self.absent(how, problem)]
        if self.spec is not None:
            line = evaluate(self.spec, having, how)
        else:
            columns = [(one.node.clock, column) for one in having if (column := one.node.column(self.metric.key))]
            each = [time_series.of_column(self.metric, clock, column) for clock, column in columns]
            line = time_series.over_nodes(each, how) if each else None
        names = tuple(inputs.node.name for inputs in having)
        return [replace(series, nodes=names) for series in self._observed(line, how)]

    def servers(self, nodes: Sequence[Inputs]) -> list[Inputs]:
        """Nodes with the metric, damaged or not; the load generator only if no other node has it."""
        having = [inputs for inputs in nodes if self._is_on(inputs) or self._damage(inputs)]
        return [inputs for inputs in having if inputs.node.name != CLIENT] or having

    def absent(self, node: str, problem: str) -> SeriesValues:
        return replace(self._empty(node), problem=problem)

    def _is_on(self, inputs: Inputs) -> bool:
        if self.spec is None:
            return self.metric.key in inputs.keys
        return formula.has_all(self.spec.formula.inputs, inputs.keys)

    def _damage(self, inputs: Inputs) -> str:
        """Why the stored samples of the metric, or of one of its inputs, cannot be read; empty: they can."""
        damaged = inputs.node.damaged
        if not damaged:
            return ""
        patterns = self.spec.formula.inputs if self.spec else (self.metric.key,)
        return next((damaged[key] for pattern in patterns for key in formula.fitting(pattern, damaged)), "")

    def _observed(self, line: TimeSeries | None, node: str) -> list[SeriesValues]:
        return [] if line is None or np.isnan(line.values).all() else [self._shown(line, node)]

    def _shown(self, line: TimeSeries, node: str) -> SeriesValues:
        return self.shown(self.window.line(line, self.zero), node)

    def shown(self, line: TimeSeries, node: str) -> SeriesValues:
        """The complete `line`."""
        metric = self.metric
        return SeriesValues(
            run_id=self.run_id,
            metric=metric.key,
            name=metric.name,
            unit=unit_of(metric),
            direction=metric.direction,
            kind=kind_of(metric),
            node=node,
            at=line.at - self.zero if self.zero else line.at,
            values=line.values,
            resets=self.window.times(line.resets, self.zero) if line.resets else (),
            zero=self.zero,
            parts=line.parts,
            since=self._starts(line.since),
        )

    def _starts(self, since: Floats | None) -> Floats | None:
        if since is None or self.window.points is not None:
            return None
        return since - self.zero if self.zero else since

    def _raw(self, node: SampledNode, column: Column, resets: Sequence[float]) -> SeriesValues:
        at, places = node.clock, np.arange(len(node.clock))
        if self.window.points is not None:
            at, places = time_series.spaced(at, column.observed) or (at, places)
        chosen = self.window.places(at, np.where(places < 0, np.nan, column.as_float()[places]), self.zero)
        at, places = at[chosen], places[chosen]
        return replace(
            self._empty(node.name),
            unit=self.metric.unit,
            kind=COUNTER if self.metric.kind == COUNTER else GAUGE,
            at=at - self.zero,
            values=column.values[places],
            resets=self.window.times(resets, self.zero),
            observed=column.observed[places] & (places >= 0),
        )

    def _empty(self, node: str) -> SeriesValues:
        return self._shown(TimeSeries(np.zeros(0), np.zeros(0)), node)
