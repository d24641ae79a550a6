"""Layout of a run's USE panel: by layer, the worst resource first, and the answer above. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from apps.core.text import counted
from apps.use_method.pure import Aspect, AspectCell, IndicatorReading, Panel, Resource, UseLevel, cells
from apps.web.components.sparklines import Spark
from apps.web.runs.use_method import cells as use_method_cells
from apps.web.runs.use_method.cells import PanelCell

LAYERS = {
    "machine": "Machines",
    "server": "Database servers",
    "replication": "Replication",
    "proxy": "Proxy",
    "client": "Load generator",
}
QUIET = (UseLevel.OK, UseLevel.NOT_OBSERVABLE)
# In the order of the answer: limiting levels first.
ANSWERED = (UseLevel.SATURATED, UseLevel.ERROR, UseLevel.WATCH)
# Queued work is stronger evidence of a limit than a busy resource.
WEIGHT = {Aspect.SATURATION: 0, Aspect.UTILIZATION: 1, Aspect.ERRORS: 2}


@dataclass(frozen=True)
class NodeCells:
    name: str
    role: str
    cells: tuple[PanelCell | None, ...]


@dataclass(frozen=True)
class ResourceRow:
    """`whole`: over all nodes; `nodes`: set if there are several. `quiet`: no problem on any node."""

    resource: Resource
    level: UseLevel
    whole: tuple[PanelCell | None, ...]
    nodes: tuple[NodeCells, ...]

    @property
    def quiet(self) -> bool:
        return self.level in QUIET

    @property
    def only(self) -> str:
        """The node of the row if there is only one, else empty."""
        names = {cell.reading.node for cell in self.whole if cell}
        return names.pop() if not self.nodes and len(names) == 1 else ""


@dataclass(frozen=True)
class Layer:
    title: str
    rows: tuple[ResourceRow, ...]

    @property
    def quiet(self) -> bool:
        return all(row.quiet for row in self.rows)


@dataclass(frozen=True)
class NamedResource:
    """A resource in the answer, with its worst cell."""

    resource: Resource
    shown: PanelCell


@dataclass(frozen=True)
class PanelAnswer:
    """The worst resources. `parts`: resources by level.

    `quiet`: number of resources without problems, `partly` of which were not monitored in every aspect; `unseen`:
    titles of those that were not monitored at all. `client`: the load generator is saturated itself. `monitored`:
    number of monitored resources; `servers`: any of them is not the load generator's.
    """

    parts: tuple[tuple[UseLevel, tuple[NamedResource, ...]], ...]
    quiet: int
    partly: int
    unseen: tuple[str, ...]
    client: bool
    monitored: int
    servers: bool

    @property
    def limits(self) -> bool:
        return any(level is UseLevel.SATURATED for level, _ in self.parts)

    @property
    def reach(self) -> str:
        """How far the quiet resources were monitored; empty: entirely."""
        if not self.partly:
            return ""
        return ", as far as monitored" if self.partly == self.quiet else f" ({self.partly} as far as monitored)"

    @property
    def state(self) -> str:
        """How far the panel excludes a limit; empty if it names one."""
        if self.limits:
            return ""
        if not self.servers:
            return "not-monitored"
        return "partly-monitored" if self.unseen else "unsaturated"

    @property
    def headline(self) -> str:
        """What is known where nothing is saturated; empty if the answer names a limit."""
        if self.state == "not-monitored":
            what = "only the load generator was sampled" if self.monitored else "nothing was sampled"
            return f"Limit not monitored: {what}."
        if self.state == "partly-monitored":
            return f"No limit found: {len(self.unseen)} of {self.monitored + len(self.unseen)} resources not monitored."
        if not self.state:
            return ""
        partly = f", {self.partly} of which were monitored in part" if self.partly else ""
        return f"None of {counted(self.monitored, 'monitored resource')} is saturated{partly}."


@dataclass(frozen=True)
class PanelLayout:
    answer: PanelAnswer
    layers: tuple[Layer, ...]

    @property
    def folds(self) -> bool:
        """Quiet rows are collapsed if there are other rows."""
        return bool(self.answer.parts)


def lay_out(panel: Panel, *, run: str, sparks: Mapping[tuple[str, str], Spark]) -> PanelLayout:
    """`run`: address of the run's page; `sparks`: by metric and node."""
    found = cells.rows(panel)
    roles = dict(panel.nodes)
    by_layer: dict[str, list[ResourceRow]] = {}

    def shown(own: Mapping[Aspect, AspectCell], several: bool) -> tuple[PanelCell | None, ...]:
        return use_method_cells.shown(own, run=run, measured=panel.measured, several=several, sparks=sparks)

    for row in sorted(found, key=lambda each: -each.level.severity):
        several = len(row.nodes) > 1
        whole = shown(row.whole, several)
        nodes = [
            NodeCells(name, roles[name], tuple(map(_unless_above, shown(own, False), whole)))
            for name, own in row.nodes.items()
            if several
        ]
        laid = ResourceRow(row.resource, row.level, whole, tuple(nodes))
        by_layer.setdefault(row.resource.layer, []).append(laid)
    order = [*LAYERS, *(layer for layer in by_layer if layer not in LAYERS)]
    layers = [Layer(LAYERS.get(layer, layer), tuple(by_layer[layer])) for layer in order if layer in by_layer]
    return PanelLayout(answered(found, run, panel), tuple(layers))


def _unless_above(cell: PanelCell | None, above: PanelCell | None) -> PanelCell | None:
    """A node's cell; marked as repeated if the row of all nodes shows the same indicator."""
    if cell is None or above is None or cell.indicator.key != above.indicator.key:
        return cell
    return replace(cell, repeats=bool(cell.text) or cell.reading.words == above.reading.words)


def answered(found: Sequence[cells.ResourceCells], run: str, panel: Panel) -> PanelAnswer:
    parts = []
    for level in ANSWERED:
        # A resource that is saturated and has errors is listed under both; `watch` only if nothing is worse.
        rows = [row for row in found if (row.level is level if level is UseLevel.WATCH else _has(row, level))]
        named = [NamedResource(row.resource, _worst(row, level, run, panel)) for row in rows]
        parts.append((level, tuple(sorted(named, key=_weight))))
    monitored = [row for row in found if row.level is not UseLevel.NOT_OBSERVABLE]
    quiet = [row for row in found if row.level is UseLevel.OK]
    return PanelAnswer(
        parts=tuple(part for part in parts if part[1]),
        quiet=len(quiet),
        partly=sum(any(cell.level is not UseLevel.OK for cell in row.whole.values()) for row in quiet),
        unseen=tuple(row.resource.title for row in found if row not in monitored),
        client=any(row.resource.layer == "client" and _has(row, UseLevel.SATURATED) for row in found),
        monitored=len(monitored),
        servers=any(row.resource.layer != "client" for row in monitored),
    )


def _weight(named: NamedResource) -> int:
    return WEIGHT[named.shown.indicator.aspect]


def _has(row: cells.ResourceCells, level: UseLevel) -> bool:
    return any(cell.level is level for cell in row.whole.values())


def _worst(row: cells.ResourceCells, level: UseLevel, run: str, panel: Panel) -> PanelCell:
    [aspect, *_] = sorted((one for one, cell in row.whole.items() if cell.level is level), key=WEIGHT.__getitem__)
    cell = row.whole[aspect]
    where = use_method_cells.where(cell) if len(row.nodes) > 1 else cell.shown.reading.node
    return use_method_cells.reading_cell(cell.shown, run=run, measured=panel.measured, where=where)


def reading_of(panel: Panel, key: str) -> IndicatorReading | None:
    """The reading that `key` identifies; None: not in the panel."""
    return next((one for one in _all(panel) if use_method_cells.opening(one.reading) == key), None)


def beside(panel: Panel, opened: IndicatorReading, *, run: str) -> list[PanelCell]:
    """All readings of the same aspect of the same resource, in cell order, including the opened one."""
    rows = [row for row in cells.rows(panel) if opened.indicator in row.resource.indicators]
    return [
        use_method_cells.reading_cell(one, run=run, measured=panel.measured, where=one.reading.node)
        for row in rows
        for one in row.whole[opened.indicator.aspect].readings
    ]


def _all(panel: Panel) -> Iterable[IndicatorReading]:
    return (one for row in cells.rows(panel) for cell in row.whole.values() for one in cell.readings)
