"""Indicators of all nodes of all sides at one load level, on one clock: which series are drawn, of which runs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.comparison.pure import Comparison, Level
from apps.core.problems import FieldProblem, Invalid
from apps.core.query import unknown_choice
from apps.runs.pure import CLIENT
from apps.use_method.pure import INDICATORS, RESOURCE_OF, Reading, Typical
from apps.web.compare.charts import ChartSide, chart_sides

# Indicators that are drawn unless the address names others: the worst ones.
USUALLY_DRAWN = 5


@dataclass(frozen=True)
class ClockSeries:
    """A series of one node of a side, of this run."""

    side: int
    run: int
    metric: str
    node: str


@dataclass(frozen=True)
class ClockIndicator:
    """`drawn`: chosen by the address, or one of the worst."""

    key: str
    title: str
    drawn: bool
    series: Sequence[ClockSeries]


@dataclass(frozen=True)
class NodeClock:
    """t = 0 is the start of each run's measured phase."""

    level: str
    sides: Sequence[ChartSide]
    indicators: Sequence[ClockIndicator]


def node_clock(
    comparison: Comparison, level: Level, panels: Mapping[str, Typical], chosen: Sequence[str]
) -> NodeClock | None:
    """`panels` by side; of each side one run is drawn, that of most values of its panel. None: nothing was sampled.

    Raises Invalid for an indicator that no side has.
    """
    positions = {side.slug: side.position for side in comparison.sides}
    found: dict[str, list[tuple[Reading, ClockSeries]]] = {key: [] for key in INDICATORS}
    for side, panel in panels.items():
        if not panel.runs:
            continue
        ((run, _),) = Counter(panel.runs).most_common(1)
        for one in panel.panel.readings:
            if one.indicator in found and one.metric and one.value is not None and one.node != CLIENT:
                series = ClockSeries(positions[side], run, one.metric, one.node)
                found[one.indicator].append((one, series))
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
        [ClockIndicator(key, _title(key), key in drawn, [series for _, series in own]) for key, own in known.items()],
    )


def _title(key: str) -> str:
    resource, indicator = RESOURCE_OF[key].title, INDICATORS[key].title
    return f"{resource[:1].upper()}{resource[1:]}: {indicator}"
