"""Failovers side by side, trial by trial, as on their page."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.comparison.api import FAULTS, FailoverFilter, FailoverResults, load_failovers
from apps.rest.framework.derive import serializer_of
from apps.rest.framework.lists import LARGEST_ID, Parameters
from apps.rest.framework.strict import MultipleChoiceField


class FailoverParameters(Parameters):
    system = serializers.ListField(
        child=serializers.CharField(max_length=80), required=False, max_length=50, help_text="slugs of systems"
    )
    fault = MultipleChoiceField(choices=list(FAULTS), required=False, help_text="any of these")
    campaign = serializers.IntegerField(required=False, min_value=1, max_value=LARGEST_ID, help_text="of this campaign")
    rate = serializers.FloatField(required=False, min_value=0.001, max_value=1e6, help_text="load, inserts/s")


class Failovers(APIView):
    @extend_schema(
        operation_id="list_failovers", parameters=[FailoverParameters], responses=serializer_of(FailoverResults)
    )
    def get(self, request: Request) -> Response:
        """List every failover trial with its phases and counts, by system, fault and load; and published results."""
        parameters = FailoverParameters.read(request)
        chosen = FailoverFilter(
            systems=tuple(parameters.get("system", ())),
            faults=tuple(sorted(parameters.get("fault", ()))),
            campaign=parameters.get("campaign"),
            rate=parameters.get("rate"),
        )
        return Response(serializer_of(FailoverResults)(load_failovers(chosen)).data)
