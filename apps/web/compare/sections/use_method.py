"""The USE part of the Compare page: what limits each side, and USE panels side by side."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from apps.comparison.pure import Comparison, Level, Side
from apps.use_method.api import LIMITS_SECTION, ComparedUse, ResourceAtLevel, SideUse
from apps.use_method.pure import (
    RESOURCES,
    Aspect,
    AspectCell,
    Reading,
    Resource,
    ResourceCells,
    Typical,
    UseLevel,
    cells,
)
from apps.web.compare.view import CompareView
from apps.web.runs.use_method import sparklines
from apps.web.runs.use_method.cells import ASPECTS, PanelCell, of_cell
from apps.web.runs.use_method.sparklines import Sparks

NONE_OF_IT, NOT_JUDGED = "this side has no such resource", "no run of this side has been assessed at this level"
# Levels without a known problem.
QUIET = (UseLevel.OK, UseLevel.NOT_OBSERVABLE)


@dataclass(frozen=True)
class ResourceOverLevels:
    """A resource over the comparison's load levels, one line per judged side; None: unknown at that level.

    `quiet`: no problem at any level.
    """

    resource: Resource
    quiet: bool
    lines: tuple[tuple[Side, tuple[ResourceAtLevel | None, ...]], ...]


@dataclass(frozen=True)
class ResourceBySide:
    """A resource of all sides at one level: each side's cells, or why there are none."""

    resource: Resource
    quiet: bool
    sides: tuple[tuple[Side, tuple[PanelCell | None, ...], str], ...]


@dataclass(frozen=True)
class NodeLines:
    """A resource of one side at one level, by node."""

    resource: Resource
    quiet: bool
    nodes: tuple[tuple[str, tuple[PanelCell | None, ...]], ...]


@dataclass(frozen=True)
class SidePanel:
    """The typical panel of a side at a level, laid out. `sparks` by run."""

    typical: Typical
    rows: dict[str, ResourceCells]
    sparks: Mapping[int, Sparks]

    def cells(self, found: Mapping[Aspect, AspectCell], *, several: bool = False) -> tuple[PanelCell | None, ...]:
        """Each cell links to the run of its value."""

        def shown(cell: AspectCell) -> PanelCell:
            run = self.typical.run_of(cell.shown.reading)
            return of_cell(cell, reverse("web:run", args=[run]), None, several, self.sparks.get(run, {}))

        return tuple(shown(cell) if (cell := found.get(aspect)) else None for aspect in ASPECTS)


def context(seen: CompareView) -> dict[str, Any] | None:
    """None: no side has a run with a panel, and none is pending."""
    found = seen.read(LIMITS_SECTION)
    levels = [level for side in found.sides for level in side.levels]
    if not found.pending and not any(level.typical and level.typical.panel.readings for level in levels):
        return None
    comparison = seen.comparison
    level = seen.level or comparison.levels[0]
    sides = {side.slug: side for side in comparison.sides}
    laid = _laid(found, level, drawn=seen.kept is None)
    over_levels, beside = _over_levels(comparison, found), _beside(comparison, laid)
    return {
        "limits": [(sides[each.side], each) for each in found.sides],
        "stated": found.stated,
        "pending": found.pending,
        "judged": (judged := sum(each.judged for each in levels)),
        "total": judged + found.pending,
        "again_url": seen.address.part_url("use") if found.pending and seen.kept is None else "",
        "over_levels": over_levels,
        "beside": beside,
        "node_tables": [
            (side, lines) for side in comparison.sides if side.slug in laid and (lines := _node_lines(laid[side.slug]))
        ],
        "any_quiet": any(each.quiet for each in over_levels) or any(each.quiet for each in beside),
        "aspects": [aspect.value for aspect in ASPECTS],
        "shown_level": level,
    }


def _over_levels(comparison: Comparison, found: ComparedUse) -> list[ResourceOverLevels]:
    """The resources judged on any side, those with problems first."""
    sides = {side.slug: side for side in comparison.sides}
    rows = []
    for resource in RESOURCES:
        lines = [
            (sides[side.side], tuple(_step(side, level, resource) for level in comparison.levels))
            for side in found.sides
        ]
        entries = [step for _, steps in lines for step in steps if step]
        quiet = all(step.level in QUIET and not step.share.saturated for step in entries)
        if entries:
            rows.append(ResourceOverLevels(resource, quiet, tuple(line for line in lines if any(line[1]))))
    return sorted(rows, key=lambda row: row.quiet)


def _step(side: SideUse, level: Level, resource: Resource) -> ResourceAtLevel | None:
    own = next((each for each in side.levels if each.level == level.id), None)
    return next((step for step in own.steps if step.resource == resource.key), None) if own else None


def _laid(found: ComparedUse, level: Level, *, drawn: bool) -> dict[str, SidePanel]:
    """Panels by side. `drawn`: with sparklines of the values' runs."""
    values = {
        side.side: each.typical
        for side in found.sides
        for each in side.levels
        if each.level == level.id and each.typical
    }
    readings: dict[int, list[Reading]] = {}
    for typical in values.values():
        for run, reading in zip(typical.runs, typical.panel.readings, strict=True):
            readings.setdefault(run, []).append(reading)
    nodes = {name for typical in values.values() for name, _ in typical.panel.nodes}
    sparks = sparklines.of_runs(readings, nodes) if drawn else {}
    return {
        side: SidePanel(typical, {row.resource.key: row for row in cells.rows(typical.panel)}, sparks)
        for side, typical in values.items()
    }


def _beside(comparison: Comparison, laid: Mapping[str, SidePanel]) -> list[ResourceBySide]:
    rows = []
    for resource in RESOURCES:
        have = {slug: each.rows[resource.key] for slug, each in laid.items() if resource.key in each.rows}
        shown = tuple(
            (side, laid[side.slug].cells(row.whole, several=len(row.nodes) > 1), "")
            if (row := have.get(side.slug))
            else (side, (), NONE_OF_IT if side.slug in laid else NOT_JUDGED)
            for side in comparison.sides
        )
        if have:
            rows.append(ResourceBySide(resource, all(row.level in QUIET for row in have.values()), shown))
    return sorted(rows, key=lambda row: row.quiet)


def _node_lines(laid: SidePanel) -> list[NodeLines]:
    """Resources that more than one node has."""
    rows = [
        NodeLines(row.resource, row.level in QUIET, tuple((name, laid.cells(own)) for name, own in row.nodes.items()))
        for row in laid.rows.values()
        if len(row.nodes) > 1
    ]
    return sorted(rows, key=lambda row: row.quiet)
