"""The USE part of the Compare page: what limits each side, all resources over the loads, and panels side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.urls import reverse

from apps.comparison.pure import Comparison, Level, Side
from apps.runs.api import metric_descriptions
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
from apps.web.compare.node_clock import NodeClock, metrics_of, node_clock
from apps.web.compare.view import CompareView
from apps.web.runs.use_method import sparklines
from apps.web.runs.use_method.cells import ASPECTS, PanelCell, of_cell
from apps.web.runs.use_method.sparklines import Sparks

NO_RESOURCE = "no such resource"
SIGNS = (
    (UseLevel.OK, "ok"),
    (UseLevel.WATCH, "watch"),
    (UseLevel.SATURATED, "saturated"),
    (UseLevel.ERROR, "errors"),
    (UseLevel.NOT_OBSERVABLE, "not observable"),
)
NONE_OF_IT, NOT_JUDGED = "this side has no such resource", "no run of this side has been assessed at this level"
# Levels without a known problem.
QUIET = (UseLevel.OK, UseLevel.NOT_OBSERVABLE)


@dataclass(frozen=True)
class StripCell:
    """An aspect of a resource at a load level. `address`: of the series, where there is a problem; empty: nothing to
    see."""

    aspect: Aspect
    level: UseLevel
    title: str
    address: str


@dataclass(frozen=True)
class SideStrip:
    """A resource of a side over the load levels: at each its aspects, None: no indicator, or not judged. `why`: none
    at any level."""

    side: Side
    levels: tuple[tuple[Level, tuple[StripCell | None, ...]], ...]
    why: str


@dataclass(frozen=True)
class StripRow:
    """A resource of all sides over the load levels. `quiet`: no problem at any."""

    resource: Resource
    quiet: bool
    sides: tuple[SideStrip, ...]


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
    strip, beside = _strip(comparison, found), _beside(comparison, laid)
    return {
        "limits": [(sides[each.side], each) for each in found.sides],
        "stated": found.stated,
        "pending": found.pending,
        "judged": (judged := sum(each.judged for each in levels)),
        "total": judged + found.pending,
        "again_url": seen.address.part_url("use") if found.pending and seen.kept is None else "",
        "strip": strip,
        "layers": [(layer, list(rows)) for layer, rows in groupby(strip, key=lambda row: row.resource.layer)],
        "legend": SIGNS,
        "columns": len(comparison.sides) * len(comparison.levels) + 1,
        "clock": _clock(seen, level, {slug: panel.typical for slug, panel in laid.items()}),
        "form_action": seen.address.url().partition("?")[0],
        "form_pairs": [pair for pair in seen.address.fields() if pair[0] != "see"],
        "beside": beside,
        "node_tables": [
            (side, lines) for side in comparison.sides if side.slug in laid and (lines := _node_lines(laid[side.slug]))
        ],
        "any_quiet": any(each.quiet for each in strip) or any(each.quiet for each in beside),
        "aspects": [aspect.value for aspect in ASPECTS],
        "shown_level": level,
    }


def _clock(seen: CompareView, level: Level, panels: Mapping[str, Typical]) -> NodeClock | None:
    metrics = metric_descriptions.described(metrics_of(panels.values()))
    return node_clock(seen.comparison, level, panels, metrics, seen.address.see)


def _strip(comparison: Comparison, found: ComparedUse) -> list[StripRow]:
    """The resources of any side, layer by layer."""
    sides = {side.slug: side for side in comparison.sides}
    panels = {
        (side.side, each.level): SidePanel(
            each.typical, {row.resource.key: row for row in cells.rows(each.typical.panel)}, {}
        )
        for side in found.sides
        for each in side.levels
        if each.typical
    }
    return [
        _strip_row(resource, [(sides[each.side], each) for each in found.sides], comparison.levels, panels)
        for resource in RESOURCES
        if any(resource.key in panel.rows for panel in panels.values())
    ]


def _strip_row(
    resource: Resource,
    sides: Sequence[tuple[Side, SideUse]],
    levels: Sequence[Level],
    panels: Mapping[tuple[str, int], SidePanel],
) -> StripRow:
    strips = []
    for side, use in sides:
        own = {level.id: panels[side.slug, level.id] for level in levels if (side.slug, level.id) in panels}
        has_it = any(resource.key in panel.rows for panel in own.values())
        strips.append(
            SideStrip(
                side,
                tuple(
                    (level, _strip_cells(resource, own.get(level.id), _step(use, level, resource))) for level in levels
                ),
                "" if has_it else NO_RESOURCE if own else NOT_JUDGED,
            )
        )
    shown = [cell for strip in strips for _, found in strip.levels for cell in found if cell]
    return StripRow(resource, all(cell.level in QUIET for cell in shown), tuple(strips))


def _strip_cells(
    resource: Resource, panel: SidePanel | None, step: ResourceAtLevel | None
) -> tuple[StripCell | None, ...]:
    row = panel.rows.get(resource.key) if panel else None
    if panel is None or row is None:
        return (None,) * len(ASPECTS)
    shown = panel.cells(row.whole, several=len(row.nodes) > 1)
    pairs = zip(ASPECTS, shown, strict=True)
    return tuple(_strip_cell(aspect, cell, step) if cell else None for aspect, cell in pairs)


def _strip_cell(aspect: Aspect, cell: PanelCell, step: ResourceAtLevel | None) -> StripCell:
    parts = [f"{aspect.value.capitalize()} {cell.level.word}: {cell.indicator.title} {cell.text}".rstrip(), cell.where]
    parts.append(cell.reading.words)
    if step and step.share.saturated and aspect is not Aspect.ERRORS:
        # By any of its aspects: this one may be saturated in fewer.
        parts.append(f"the resource is saturated in {step.share.saturated} of {step.share.judged} repetitions")
    return StripCell(aspect, cell.level, "; ".join(filter(None, parts)), "" if cell.level in QUIET else cell.address)


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
