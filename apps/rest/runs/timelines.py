"""Timeline of a run."""

from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.rest.framework.derive import serializer_of
from apps.rest.framework.formats import caching, unchanged
from apps.rest.framework.lists import NoParameters
from apps.rest.runs.runs import find_run
from apps.rest.series.read import etag_of
from apps.rest.series.series import IF_NONE_MATCH, NOT_MODIFIED
from apps.runs.api import Timeline, queries


class RunTimelineView(APIView):
    @extend_schema(
        operation_id="read_timeline",
        parameters=[IF_NONE_MATCH],
        responses={200: serializer_of(Timeline), 304: NOT_MODIFIED},
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
        return Response(serializer_of(Timeline)(found[run.pk]).data, headers=caching(etag))
