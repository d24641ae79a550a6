"""Trends: watched series with their runs, changes and smallest detectable effect."""

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.regressions.api import SIGHTS, TrendDetail, TrendFilter, TrendRow
from apps.regressions.api import trend_queries as queries
from apps.rest.catalog.known import require_known
from apps.rest.framework.derive import serializer_of
from apps.rest.framework.lists import LARGEST_ID, NoParameters, PageParameters, listing, page_of
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


class Trends(APIView):
    @extend_schema(
        operation_id="list_histories",
        parameters=[TrendParameters],
        responses=listing(serializer_of(TrendRow), name="Trend"),
    )
    def get(self, request: Request) -> Response:
        """List watched series, each the primary metric of a workload over releases.

        A series has one load level, platform, hardware class and configuration.
        """
        asked = TrendParameters.read(request)
        require_known(asked)
        chosen = TrendFilter(**{name: value for name, value in asked.items() if name not in ("limit", "cursor")})
        rows = queries.rows_of(chosen)
        return page_of(self, request, rows, key="pk", serializer=serializer_of(TrendRow), load=queries.listed)


class OneTrend(APIView):
    @extend_schema(operation_id="read_history", responses=serializer_of(TrendDetail))
    def get(self, request: Request, history_id: int) -> Response:
        """A watched series: its runs by release, all changes ever reported, and the levels between current changes."""
        NoParameters.read(request)
        found = queries.detail(history_id)
        if found is None:
            raise Http404(f"There is no watched series {history_id}.")
        return Response(serializer_of(TrendDetail)(found).data)
