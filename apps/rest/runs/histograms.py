"""Latency histograms of a run, with their grid and provenance."""

from dataclasses import dataclass

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
from apps.runs.api import DistributionDetail, queries


@dataclass(frozen=True)
class RunDistributions:
    run: int
    distributions: list[DistributionDetail]


class Distributions(APIView):
    @extend_schema(
        operation_id="read_distributions",
        parameters=[IF_NONE_MATCH],
        responses={200: serializer_of(RunDistributions), 304: NOT_MODIFIED},
    )
    def get(self, request: Request, run_id: int) -> HttpResponseBase:
        """Latency distributions of a run: the load tool's histograms. Empty when it printed none.

        Percentiles over several runs are computed from their summed bucket counts, never as a mean.
        """
        NoParameters.read(request)
        run = find_run(run_id)
        etag = etag_of([run], "distributions")
        if response := unchanged(request, etag):
            return response
        found = RunDistributions(run.pk, queries.distributions([run.pk], None))
        return Response(serializer_of(RunDistributions)(found).data, headers=caching(etag))
