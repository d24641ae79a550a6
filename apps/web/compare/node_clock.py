"""Indicators of all nodes of all sides at one load level, on one clock: which series are drawn, of which runs.

A rule may read different metrics on different platforms, and compute its value from them. What is drawn are the
metrics themselves: series of one indicator share a row where they share a unit.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from apps.catalog.pure import MetricSpec
from apps.comparison.pure import Comparison, Level
from apps.core.problems import FieldProblem, Invalid
from apps.core.query import unknown_choice
from apps.runs.api import metric_descriptions
from apps.runs.pure import CLIENT
from apps.use_method.pure import INDICATORS, RESOURCE_OF, Reading, Typical
from apps.web.compare.charts import ChartSide, chart_sides

# Indicators that are drawn unless the address names others: the worst ones.
USUALLY_DRAWN = 5
# Units of time, s: a series in one is drawn in that of its indicator.
TIMES = {"s": 1.0, "ms": 1e-3, "µs": 1e-6}


@dataclass(frozen=True)
class ClockSeries:
    """A series of one node of a side, of this run. `factor`: from its unit to that of its row."""

    side: int
    run: int
    metric: str
    node: str
    factor: float


@dataclass(frozen=True)
class ClockRow:
    """Series of one indicator in one unit. `title`: the indicator's, or the metrics' where their unit is another."""

    title: str
    unit: str
    series: Sequence[ClockSeries]


@dataclass(frozen=True)
class ClockIndicator:
    """`drawn`: chosen by the address, or one of the worst."""

    key: str
    title: str
    drawn: bool
    rows: Sequence[ClockRow]


@dataclass(frozen=True)
class NodeClock:
    """t = 0 is the start of each run's measured phase."""

    level: str
    sides: Sequence[ChartSide]
    indicators: Sequence[ClockIndicator]


def metrics_of(panels: Iterable[Typical]) -> set[str]:
    """The series behind the readings."""
    return {one.metric for panel in panels for one in panel.panel.readings if _is_drawn(one)}


def _is_drawn(one: Reading) -> bool:
    return bool(one.indicator in INDICATORS and one.metric and one.value is not None and one.node != CLIENT)


def node_clock(
    comparison: Comparison,
    level: Level,
    panels: Mapping[str, Typical],
    metrics: Mapping[str, MetricSpec],
    chosen: Sequence[str],
) -> NodeClock | None:
    """`panels` by side; of each side one run is drawn, that of most values of its panel. `metrics`: those of
    `metrics_of` by key. None: nothing was sampled.

    Raises Invalid for an indicator that no side has.
    """
    positions = {side.slug: side.position for side in comparison.sides}
    found: dict[str, list[tuple[Reading, ClockSeries]]] = {key: [] for key in INDICATORS}
    for side, panel in panels.items():
        if not panel.runs:
            continue
        ((run, _),) = Counter(panel.runs).most_common(1)
        for one in filter(_is_drawn, panel.panel.readings):
            factor = _factor(_unit(metrics[one.metric]), INDICATORS[one.indicator].unit)
            found[one.indicator].append((one, ClockSeries(positions[side], run, one.metric, one.node, factor)))
    known = {key: own for key, own in found.items() if own}
    if unknown := [key for key in chosen if key not in known]:
        raise Invalid([FieldProblem("see", unknown_choice(unknown[0], known))])
    worst = sorted(known, key=lambda key: -max(one.level.severity for one, _ in known[key]))
    drawn = set(chosen or worst[:USUALLY_DRAWN])
    if not known:
        return None
    return NodeClock(
        level.key,
        chart_sides(comparison),
        [
            ClockIndicator(key, _title(key), key in drawn, _rows(key, [series for _, series in own], metrics))
            for key, own in known.items()
        ],
    )


def _unit(metric: MetricSpec) -> str:
    return metric_descriptions.unit_of(metric)


def _factor(unit: str, wanted: str) -> float:
    """Between units of time; 1 for all others, which are drawn in their own."""
    return TIMES[unit] / TIMES[wanted] if unit in TIMES and wanted in TIMES else 1.0


def _rows(key: str, series: Iterable[ClockSeries], metrics: Mapping[str, MetricSpec]) -> list[ClockRow]:
    wanted = INDICATORS[key].unit
    by_unit: dict[str, list[ClockSeries]] = {}
    for one in series:
        unit = _unit(metrics[one.metric])
        by_unit.setdefault(wanted if one.factor != 1.0 else unit, []).append(one)
    return [
        ClockRow(_title(key) if unit == wanted else _names(metrics[one.metric] for one in own), unit, own)
        for unit, own in by_unit.items()
    ]


def _names(metrics: Iterable[MetricSpec]) -> str:
    names = ", ".join(dict.fromkeys(metric.name for metric in metrics))
    return f"{names[:1].upper()}{names[1:]}"


def _title(key: str) -> str:
    resource, indicator = RESOURCE_OF[key].title, INDICATORS[key].title
    return f"{resource[:1].upper()}{resource[1:]}: {indicator}"
