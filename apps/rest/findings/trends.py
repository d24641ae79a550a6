"""Trends: watched series with their runs, changes and smallest detectable effect."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.regressions.api import SIGHTS, SeriesRun, TrendChange, TrendFilter, TrendLevel, TrendRow
from apps.regressions.api import trend_queries as queries
from apps.regressions.models import Trend
from apps.rest.framework.derive import Answer, serializer_of
from apps.rest.framework.fields import NumberField
from apps.rest.framework.lists import LARGEST_ID, Cursors, NoParameters, PageParameters, listing
from apps.rest.framework.strict import ChoiceField


class TrendParameters(PageParameters):
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


class LimitsSerializer(serializers.Serializer[Any]):
    smallest = NumberField(help_text="share of the value")
    significant = NumberField(help_text="p")
    set_for = serializers.CharField(help_text="for what the threshold was set; “the default”: none was")


class TrendSerializer(Answer):
    of = TrendRow


class TrendDetailSerializer(TrendSerializer):
    threshold = LimitsSerializer()
    points = serializer_of(SeriesRun)(many=True)
    changes_told = serializer_of(TrendChange)(many=True)
    levels = serializer_of(TrendLevel)(many=True)


class Trends(APIView):
    @extend_schema(
        operation_id="list_histories",
        parameters=[TrendParameters],
        responses=listing(TrendSerializer, name="Trend"),
    )
    def get(self, request: Request) -> Response:
        """List watched series, each the primary metric of a workload over releases.

        A series has one load level, platform, hardware class and configuration.
        """
        asked = TrendParameters.read(request)
        chosen = TrendFilter(**{name: value for name, value in asked.items() if name not in ("limit", "cursor")})
        pages = Cursors()
        pages.ordering = "pk"
        page: list[Trend] = pages.paginate_queryset(queries.rows_of(chosen), request, view=self) or []
        return pages.get_paginated_response(TrendSerializer(queries.listed(page), many=True).data)


class OneTrend(APIView):
    @extend_schema(operation_id="read_history", responses=TrendDetailSerializer)
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
        parts = {
            "threshold": LimitsSerializer(threshold).data,
            "points": serializer_of(SeriesRun)(found.points, many=True).data,
            "changes_told": serializer_of(TrendChange)(found.changes, many=True).data,
            "levels": serializer_of(TrendLevel)(found.levels, many=True).data,
        }
        return Response({**TrendSerializer(found.row).data, **parts})
