"""The USE method: the panel of a run, and the table of resources and indicators that it is judged by."""

from collections.abc import Iterable
from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.core.units import NBSP
from apps.rest.framework.digits import MILLISECONDS, significant
from apps.rest.framework.lists import NoParameters
from apps.rest.runs.runs import find_run
from apps.runs.models import Run
from apps.use_method.api import panels
from apps.use_method.pure import (
    HOLD,
    INDICATORS,
    RESOURCE_OF,
    RESOURCES,
    SHARE,
    Aspect,
    Indicator,
    Panel,
    Reading,
    Resource,
    UseLevel,
    cells,
    engine,
)

LEVELS = [level.value for level in UseLevel]
STRETCH = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}


@extend_schema_field(STRETCH)
class SpanField(serializers.ListField):
    """From and to, s on the run's clock."""


class ReadingSerializer(serializers.Serializer[Any]):
    """Reading of one indicator on one node."""

    indicator = serializers.CharField(help_text="key in GET use-method/")
    resource = serializers.CharField()
    aspect = serializers.CharField(help_text="utilization, saturation or errors")
    node = serializers.CharField()
    level = serializers.ChoiceField(choices=LEVELS)
    value = serializers.FloatField(allow_null=True, help_text="null: not observable, `words` says why")
    peak = serializers.FloatField(allow_null=True)
    unit = serializers.CharField()
    words = serializers.CharField(help_text="the evidence, or why nothing was observed")
    metric = serializers.CharField(help_text="key of the series to look at; empty where there is none")
    spans = serializers.ListField(child=SpanField(), help_text="when it was beyond its limit, s on the run's clock")


class WholeSerializer(serializers.Serializer[Any]):
    """An aspect of a resource over all nodes: as bad as its worst reading, which is among `readings`."""

    aspect = serializers.CharField(help_text="utilization, saturation or errors")
    level = serializers.ChoiceField(choices=LEVELS)
    indicator = serializers.CharField(help_text="of the worst reading")
    node = serializers.CharField(help_text="of the worst reading")
    nodes = serializers.ListField(child=serializers.CharField(), help_text="all that have that level")


class ResourceLevelSerializer(serializers.Serializer[Any]):
    resource = serializers.CharField()
    title = serializers.CharField()
    layer = serializers.CharField()
    level = serializers.ChoiceField(
        choices=LEVELS, help_text="the worst of all nodes and aspects; error before saturated"
    )
    whole = WholeSerializer(many=True, help_text="no entry: no indicator looks at the aspect")


class PanelNodeSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    role = serializers.CharField()


class RunUseSerializer(serializers.Serializer[Any]):
    run = serializers.IntegerField()
    live = serializers.BooleanField(help_text="judged by what has arrived so far")
    rules = serializers.IntegerField(help_text="version of the rules; it rises when a rule or a limit changes")
    measured = SpanField(allow_null=True, help_text="the measured phase, s on the run's clock")
    nodes = PanelNodeSerializer(many=True)
    resources = ResourceLevelSerializer(many=True, help_text="in the order of GET use-method/")
    readings = ReadingSerializer(many=True)


class RunUse(APIView):
    @extend_schema(operation_id="read_run_use", responses=RunUseSerializer)
    def get(self, request: Request, run_id: int) -> Response:
        """What limits a run, by the USE method: utilization, saturation and errors of every resource on every node.

        The load generator is a node too, so that a slow client is not blamed on the server.
        """
        NoParameters.read(request)
        run = find_run(run_id)
        panel = panels.panel_of(run.pk)
        return Response(RunUseSerializer(_shown(run, panel)).data)


def _shown(run: Run, panel: Panel) -> dict[str, Any]:
    return {
        "run": run.pk,
        "live": run.state != Run.State.SEALED,
        "rules": engine.VERSION,
        "measured": _times(panel.measured) if panel.measured else None,
        "nodes": [{"name": name, "role": role} for name, role in panel.nodes],
        "resources": [_level(row) for row in cells.rows(panel)],
        "readings": list(readings(panel.readings)),
    }


def _level(row: cells.ResourceCells) -> dict[str, Any]:
    resource = row.resource
    return {
        "resource": resource.key,
        "title": resource.title,
        "layer": resource.layer,
        "level": row.level,
        "whole": [_whole(aspect, cell) for aspect, cell in row.whole.items()],
    }


def _whole(aspect: Aspect, cell: cells.AspectCell) -> dict[str, Any]:
    worst = cell.shown.reading
    return {
        "aspect": aspect,
        "level": cell.level,
        "indicator": worst.indicator,
        "node": worst.node,
        "nodes": list(dict.fromkeys(cell.nodes)),
    }


def readings(found: Iterable[Reading]) -> Iterable[dict[str, Any]]:
    """As ReadingSerializer writes them; readings of indicators no longer in the table are left out."""
    for one in found:
        indicator = INDICATORS.get(one.indicator)
        if indicator is not None:
            yield {
                "indicator": one.indicator,
                "resource": RESOURCE_OF[one.indicator].key,
                "aspect": indicator.aspect,
                "node": one.node,
                "level": one.level,
                "value": significant(one.value),
                "peak": significant(one.peak),
                "unit": indicator.unit,
                "words": one.words.replace(NBSP, " "),
                "metric": one.metric,
                "spans": [_times(span) for span in one.spans],
            }


def _times(span: tuple[float, float]) -> list[float]:
    return [round(moment, MILLISECONDS) for moment in span]


class IndicatorSerializer(serializers.Serializer[Any]):
    """One indicator of an aspect of a resource."""

    key = serializers.CharField()
    aspect = serializers.CharField(help_text="utilization, saturation or errors")
    title = serializers.CharField()
    unit = serializers.CharField()
    metrics = serializers.ListField(
        child=serializers.CharField(), help_text="series that it reads; a * stands for the name of a disk and the like"
    )
    formula = serializers.CharField()
    limits = serializers.CharField(help_text="from when it is watch, saturated or error")
    reason = serializers.CharField(help_text="why the limits are there")
    literature = serializers.CharField()
    sources = serializers.DictField(
        child=serializers.CharField(), help_text="by platform, where the counters come from, or why they cannot be had"
    )


class ResourceSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    title = serializers.CharField()
    layer = serializers.CharField(help_text="machine, server, replication, proxy or client")
    question = serializers.CharField()
    indicators = IndicatorSerializer(many=True)


class UseMethodSerializer(serializers.Serializer[Any]):
    rules = serializers.IntegerField(help_text="version of the rules")
    hold = serializers.FloatField(help_text="s in a row beyond a limit that make a level")
    share = serializers.FloatField(help_text="or this share of the observed time")
    resources = ResourceSerializer(many=True)


class UseMethod(APIView):
    @extend_schema(operation_id="read_use_method", responses=UseMethodSerializer)
    def get(self, request: Request) -> Response:
        """The resources with their indicators: formula, unit, series, limits with their reason and literature."""
        NoParameters.read(request)
        table = {"rules": engine.VERSION, "hold": HOLD, "share": SHARE, "resources": map(_resource, RESOURCES)}
        return Response(UseMethodSerializer(table).data)


def _resource(resource: Resource) -> dict[str, Any]:
    return {
        "key": resource.key,
        "title": resource.title,
        "layer": resource.layer,
        "question": resource.question,
        "indicators": [_indicator(one) for one in resource.indicators],
    }


def _indicator(one: Indicator) -> dict[str, Any]:
    return {
        "key": one.key,
        "aspect": one.aspect,
        "title": one.title,
        "unit": one.unit,
        "metrics": list(one.metrics),
        "formula": one.formula,
        "limits": one.limits.replace(NBSP, " "),
        "reason": one.reason,
        "literature": one.literature,
        "sources": dict(one.sources),
    }
