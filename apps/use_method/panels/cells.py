"""Layout of a panel: rows are resources, columns aspects; a cell for each node and one for the whole. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from apps.core.answers import Inline, Rounded, Seconds, Shown, component
from apps.use_method.indicators import Indicator, Resource
from apps.use_method.resource_table import INDICATORS, RESOURCE_OF, RESOURCES
from apps.use_method.values import Aspect, Panel, Reading, UseLevel


@component("Reading", "Reading of one indicator on one node.")
@dataclass(frozen=True)
class IndicatorReading:
    """A reading with its indicator."""

    indicator: Annotated[Indicator, Inline("aspect", "unit")]
    reading: Annotated[Reading, Inline("indicator", "node", "level", "value", "words", "metric")]

    @property
    def resource(self) -> Shown[str]:
        return RESOURCE_OF[self.indicator.key].key

    @property
    def peak(self) -> Shown[Rounded | None]:
        return self.reading.peak

    @property
    def spans(
        self,
    ) -> Annotated[Shown[tuple[tuple[Seconds, Seconds], ...]], "when it was beyond its limit, s on the run's clock"]:
        return self.reading.spans


@dataclass(frozen=True)
class AspectCell:
    """All readings of an aspect of a resource, the worst first, which is shown. For the whole, over all nodes."""

    readings: tuple[IndicatorReading, ...]

    @property
    def level(self) -> UseLevel:
        return self.readings[0].reading.level

    @property
    def shown(self) -> IndicatorReading:
        return self.readings[0]

    @property
    def nodes(self) -> Sequence[str]:
        """Nodes at the level shown."""
        return [found.reading.node for found in self.readings if found.reading.level is self.level]


@dataclass(frozen=True)
class ResourceCells:
    """`whole` and each of `nodes` (by name, in the panel's order) by aspect; no entry: no indicator for it."""

    resource: Resource
    whole: dict[Aspect, AspectCell]
    nodes: dict[str, dict[Aspect, AspectCell]]

    @property
    def level(self) -> UseLevel:
        return max((cell.level for cell in self.whole.values()), key=lambda level: level.severity)


def readings(panel: Panel) -> list[IndicatorReading]:
    """Without those of indicators removed from the table."""
    return [IndicatorReading(INDICATORS[one.indicator], one) for one in panel.readings if one.indicator in INDICATORS]


def rows(panel: Panel) -> list[ResourceCells]:
    """Resources with readings, in the order of the table."""
    known = readings(panel)
    found = []
    for resource in RESOURCES:
        own = [values for values in known if RESOURCE_OF[values.indicator.key] is resource]
        names = [name for name, _ in panel.nodes if any(values.reading.node == name for values in own)]
        if own:
            nodes = {name: cells(values for values in own if values.reading.node == name) for name in names}
            found.append(ResourceCells(resource, cells(own), nodes))
    return found


def cells(readings: Iterable[IndicatorReading]) -> dict[Aspect, AspectCell]:
    """Of equally bad readings the first in the table is shown, and of its nodes the one with the highest value."""
    order = {key: place for place, key in enumerate(INDICATORS)}
    by_aspect: dict[Aspect, list[IndicatorReading]] = {}
    for one in readings:
        by_aspect.setdefault(one.indicator.aspect, []).append(one)

    def worst_first(one: IndicatorReading) -> tuple[int, int, float]:
        value = one.reading.value
        return -one.reading.level.severity, order[one.indicator.key], -(value if value is not None else 0.0)

    return {
        aspect: AspectCell(tuple(sorted(own, key=worst_first))) for aspect in Aspect if (own := by_aspect.get(aspect))
    }
