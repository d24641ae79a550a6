"""Trends: watched series with their runs, changes and smallest detectable effect."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.regressions.api import SIGHTS, HistoryFilter
from apps.regressions.api import trend_queries as queries
from apps.regressions.models import History
from apps.rest.framework.fields import NumberField
from apps.rest.framework.lists import LARGEST_ID, Cursors, NoParameters, PageParameters, listing
from apps.rest.framework.strict import ChoiceField


class HistoryParameters(PageParameters):
    platform = serializers.CharField(required=False, max_length=40, help_text="slug")
    hardware = serializers.CharField(required=False, max_length=80, help_text="slug of a hardware class")
    tool = serializers.CharField(required=False, max_length=40, help_text="a load tool")
    workload = serializers.IntegerField(required=False, min_value=1, max_value=LARGEST_ID)
    text = serializers.CharField(required=False, max_length=120, help_text="in the workload's name")
    sight = ChoiceField(
        choices=list(SIGHTS),
        required=False,
        help_text="fit: could show a change; short, noisy: could not; changed: has changes that hold",
    )


class HistorySerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    platform = serializers.CharField()
    hardware = serializers.CharField()
    settings = serializers.CharField(help_text="those of its systems, in words")
    tool = serializers.CharField()
    workload = serializers.IntegerField()
    workload_name = serializers.CharField()
    level = serializers.CharField()
    metric = serializers.CharField()
    metric_name = serializers.CharField()
    unit = serializers.CharField()
    direction = serializers.CharField()
    runs = serializers.IntegerField(help_text="that count: since the last reset, 500 at most")
    analysed = serializers.IntegerField(help_text="runs of all of it that were looked at")
    resets = serializers.IntegerField(help_text="how often conditions became others")
    variation = NumberField(allow_null=True, help_text="from run to run, share of the value")
    effect = NumberField(
        allow_null=True,
        help_text="smallest change, share of the value, that is found within ten runs with 80 % power; null: too short",
    )
    reason = serializers.CharField(help_text="why it is not fit to be watched; empty: it is")
    changes = serializers.IntegerField(help_text="that hold now")
    analysed_at = serializers.DateTimeField(allow_null=True)


class HistoryPointSerializer(serializers.Serializer[Any]):
    run = serializers.IntegerField()
    version = serializers.CharField()
    started_at = serializers.DateTimeField()
    value = NumberField(help_text="in the metric's unit")
    reset = serializers.CharField(help_text="what was another in how it was made than before; empty: nothing known")


class HistoryChangeSerializer(serializers.Serializer[Any]):
    place = serializers.IntegerField(help_text="in `points`, from 0")
    run = serializers.IntegerField(help_text="where it was first told")
    version = serializers.CharField()
    verdict = serializers.CharField(help_text="better or worse")
    ratio = NumberField(allow_null=True, help_text="after over before")
    low = NumberField(allow_null=True, help_text="of its approximate 95 % interval")
    high = NumberField(allow_null=True)
    p = NumberField(allow_null=True)
    before = NumberField(allow_null=True, help_text="in the metric's unit")
    after = NumberField(allow_null=True)
    finding = serializers.IntegerField()
    state = serializers.CharField(help_text="of the finding")
    gone_at = serializers.DateTimeField(allow_null=True, help_text="since then newer runs do not bear it out")


class HistoryLevelSerializer(serializers.Serializer[Any]):
    start = serializers.IntegerField()
    end = serializers.IntegerField(help_text="the first run that is no longer of it")
    value = NumberField(help_text="median, in the metric's unit")


class LimitsSerializer(serializers.Serializer[Any]):
    smallest = NumberField(help_text="share of the value")
    significant = NumberField(help_text="p")
    set_for = serializers.CharField(help_text="for what the threshold was set; “the default”: none was")


class HistoryDetailSerializer(HistorySerializer):
    threshold = LimitsSerializer()
    points = HistoryPointSerializer(many=True)
    changes_told = HistoryChangeSerializer(many=True)
    levels = HistoryLevelSerializer(many=True)


class Histories(APIView):
    @extend_schema(
        operation_id="list_histories",
        parameters=[HistoryParameters],
        responses=listing(HistorySerializer, name="History"),
    )
    def get(self, request: Request) -> Response:
        """List watched series, each the primary metric of a workload over releases.

        A series has one load level, platform, hardware class and configuration.
        """
        asked = HistoryParameters.read(request)
        chosen = HistoryFilter(**{name: value for name, value in asked.items() if name not in ("limit", "cursor")})
        pages = Cursors()
        pages.ordering = "pk"
        page: list[History] = pages.paginate_queryset(queries.rows_of(chosen), request, view=self) or []
        return pages.get_paginated_response(HistorySerializer(queries.listed(page), many=True).data)


class OneHistory(APIView):
    @extend_schema(operation_id="read_history", responses=HistoryDetailSerializer)
    def get(self, request: Request, history_id: int) -> Response:
        """A watched series: its runs by release, all changes ever reported, and the levels between current changes."""
        NoParameters.read(request)
        found = queries.detail(history_id)
        if found is None:
            raise Http404(f"There is no watched series {history_id}.")
        threshold = {
            "smallest": found.limits.smallest,
            "significant": found.limits.significant,
            "set_for": found.source,
        }
        told = {
            "threshold": LimitsSerializer(threshold).data,
            "points": HistoryPointSerializer(found.points, many=True).data,
            "changes_told": HistoryChangeSerializer(found.changes, many=True).data,
            "levels": HistoryLevelSerializer(found.levels, many=True).data,
        }
        return Response({**HistorySerializer(found.row).data, **told})
