"""Timeline of a run."""

from typing import Any

from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.rest.framework.fields import SecondsField
from apps.rest.framework.formats import caching, unchanged
from apps.rest.framework.lists import NoParameters
from apps.rest.runs.runs import find_run
from apps.rest.series.read import etag_of
from apps.rest.series.series import IF_NONE_MATCH, NOT_MODIFIED
from apps.runs.api import queries
from apps.runs.pure import LANES


class HappeningSerializer(serializers.Serializer[Any]):
    lane = serializers.ChoiceField(choices=list(LANES), help_text="what sort of thing it is")
    kind = serializers.CharField()
    label = serializers.CharField(help_text="what happened, in words")  # type: ignore[assignment]  # DRF's own name
    starts_at = SecondsField(help_text="s on the run's clock")
    ends_at = SecondsField(allow_null=True, help_text="null: a moment")
    node = serializers.CharField()
    count = serializers.IntegerField(help_text="of a burst of errors: how many there were")


class TimelineSerializer(serializers.Serializer[Any]):
    run = serializers.IntegerField(source="run_id")
    live = serializers.BooleanField(source="is_live", help_text="more of it may come")
    measured = serializers.ListField(
        child=SecondsField(), allow_null=True, help_text="[from, to), s; null: not known yet"
    )
    whole = serializers.ListField(
        child=SecondsField(), allow_null=True, help_text="from 0 to the last sample, s; null: none yet"
    )
    happenings = HappeningSerializer(many=True)
    problem = serializers.CharField(help_text="why stolen CPU time could not be looked for; empty: it was")


class RunTimelineView(APIView):
    @extend_schema(
        operation_id="read_timeline",
        parameters=[IF_NONE_MATCH],
        responses={200: TimelineSerializer, 304: NOT_MODIFIED},
    )
    def get(self, request: Request, run_id: int) -> HttpResponseBase:
        """Timeline of a run, also of a live one.

        Contains phases, faults, statements, node states, error bursts (merged), sampling gaps and stolen CPU time.
        """
        NoParameters.read(request)
        run = find_run(run_id)
        etag = etag_of([run], "timeline")
        if response := unchanged(request, etag):
            return response
        found = queries.timelines([run.pk])
        return Response(TimelineSerializer(found[run.pk]).data, headers=caching(etag))
