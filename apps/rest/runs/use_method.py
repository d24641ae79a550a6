"""The USE method: the panel of a run, and the table of resources and indicators that it is judged by."""

from dataclasses import dataclass
from typing import Annotated

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.core.answers import Inline, Seconds, component
from apps.rest.framework.derive import serializer_of
from apps.rest.framework.lists import NoParameters
from apps.rest.runs.runs import find_run
from apps.runs.models import Run
from apps.use_method.api import panels
from apps.use_method.pure import (
    HOLD,
    RESOURCES,
    SHARE,
    Aspect,
    IndicatorReading,
    Reading,
    Resource,
    UseLevel,
    cells,
    engine,
)


@component("Whole", "An aspect of a resource over all nodes: as bad as its worst reading, which is among `readings`.")
@dataclass(frozen=True)
class AspectLevel:
    aspect: Aspect
    level: UseLevel
    worst: Annotated[Reading, Inline("indicator", "node")]
    nodes: Annotated[list[str], "all that have that level"]


@dataclass(frozen=True)
class ResourceLevel:
    resource: str
    title: str
    layer: str
    level: Annotated[UseLevel, "the worst of all nodes and aspects; error before saturated"]
    whole: Annotated[list[AspectLevel], "no entry: no indicator looks at the aspect"]


@dataclass(frozen=True)
class PanelNode:
    name: str
    role: str


@component("RunUse")
@dataclass(frozen=True)
class RunPanel:
    run: int
    live: Annotated[bool, "judged by what has arrived so far"]
    measured: Annotated[tuple[Seconds, Seconds] | None, "the measured phase, s on the run's clock"]
    nodes: list[PanelNode]
    resources: Annotated[list[ResourceLevel], "in the order of GET use-method/"]
    readings: list[IndicatorReading]
    rules: Annotated[int, "version of the rules; it rises when a rule or a limit changes"] = engine.VERSION


class RunUse(APIView):
    @extend_schema(operation_id="read_run_use", responses=serializer_of(RunPanel))
    def get(self, request: Request, run_id: int) -> Response:
        """What limits a run, by the USE method: utilization, saturation and errors of every resource on every node.

        The load generator is a node too, so that a slow client is not blamed on the server.
        """
        NoParameters.read(request)
        run = find_run(run_id)
        panel = panels.panel_of(run.pk)
        found = RunPanel(
            run=run.pk,
            live=run.state != Run.State.SEALED,
            measured=panel.measured,
            nodes=[PanelNode(name, role) for name, role in panel.nodes],
            resources=[_level(row) for row in cells.rows(panel)],
            readings=cells.readings(panel),
        )
        return Response(serializer_of(RunPanel)(found).data)


def _level(row: cells.ResourceCells) -> ResourceLevel:
    return ResourceLevel(
        resource=row.resource.key,
        title=row.resource.title,
        layer=row.resource.layer,
        level=row.level,
        whole=[
            AspectLevel(aspect, cell.level, cell.shown.reading, list(dict.fromkeys(cell.nodes)))
            for aspect, cell in row.whole.items()
        ],
    )


@component("UseMethod")
@dataclass(frozen=True)
class UseMethodTable:
    rules: Annotated[int, "version of the rules"] = engine.VERSION
    hold: Annotated[float, "s in a row beyond a limit that make a level"] = HOLD
    share: Annotated[float, "or this share of the observed time"] = SHARE
    resources: tuple[Resource, ...] = RESOURCES


class UseMethod(APIView):
    @extend_schema(operation_id="read_use_method", responses=serializer_of(UseMethodTable))
    def get(self, request: Request) -> Response:
        """The resources with their indicators: formula, unit, series, limits with their reason and literature."""
        NoParameters.read(request)
        return Response(serializer_of(UseMethodTable)(UseMethodTable()).data)
