"""API: agreement across tools on the claims about the sides of a comparison."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.comparison.api import FEWEST_MATRIX_SIDES as FEWEST_SIDES
from apps.comparison.api import MOST_MATRIX_SIDES as MOST_SIDES
from apps.comparison.api import corroborate
from apps.core.problems import FieldProblem, Invalid
from apps.rest.comparisons.values import (
    CellSerializer,
    ComparedMetricSerializer,
    ComparedWorkloadSerializer,
    LevelSerializer,
)
from apps.rest.framework.lists import LARGEST_ID, Parameters


class TestimonySerializer(serializers.Serializer[Any]):
    level = LevelSerializer()
    cell = CellSerializer(help_text="as of the matrix of all shared workloads")


class WitnessSerializer(serializers.Serializer[Any]):
    workload = ComparedWorkloadSerializer()
    program = serializers.CharField(help_text="that makes the load; witnesses of one program are one tool")
    metric = ComparedMetricSerializer()
    testimony = TestimonySerializer(many=True)
    says = serializers.CharField(help_text='better, worse, equivalent, "depends on the load", "cannot tell"')


class StatedWitnessSerializer(serializers.Serializer[Any]):
    says = serializers.CharField(help_text='better, worse, "cannot tell"')
    sentence = serializers.CharField(help_text="in the article's words; no interval is stated")
    workload = serializers.CharField()
    conditions = serializers.CharField()
    hardware = serializers.CharField()
    note = serializers.CharField()
    article = serializers.CharField(help_text="slug")
    by = serializers.CharField()
    published = serializers.CharField(help_text="YYYY, YYYY-MM or YYYY-MM-DD")


class ClaimSerializer(serializers.Serializer[Any]):
    side = serializers.CharField(help_text="slug of a system")
    kind = serializers.CharField(help_text="of load: reads, writes, mixed, ingest, tpcc, …")
    says = serializers.CharField(help_text='of the side: as a witness, or "contested"')
    alone = serializers.BooleanField(help_text="only one tool supports it")
    programs = serializers.ListField(child=serializers.CharField(), help_text="that support it")
    agree = WitnessSerializer(many=True)
    contradict = WitnessSerializer(many=True)
    cannot_tell = WitnessSerializer(many=True)
    stated = StatedWitnessSerializer(many=True, help_text="by articles: never counted")


class CorroborationSerializer(serializers.Serializer[Any]):
    claims = ClaimSerializer(many=True, help_text="about each side but the baseline")
    tests = serializers.IntegerField(help_text="comparisons for whose number the verdicts are corrected together")
    notes = serializers.ListField(child=serializers.CharField())


class ClaimsParameters(Parameters):
    side = serializers.ListField(
        child=serializers.CharField(max_length=80),
        min_length=FEWEST_SIDES,
        max_length=MOST_SIDES,
        help_text="slug of a system; once a system, the first is the baseline",
    )
    campaign = serializers.IntegerField(
        required=False, min_value=1, max_value=LARGEST_ID, help_text="only runs of this campaign count"
    )


class Claims(APIView):
    @extend_schema(operation_id="list_claims", parameters=[ClaimsParameters], responses=CorroborationSerializer)
    def get(self, request: Request) -> Response:
        """Claims about two to eight systems by kind of load, with the tools that support or contradict them."""
        parameters = ClaimsParameters.read(request)
        found = corroborate(parameters["side"], campaign=parameters.get("campaign"))
        if found is None:
            raise Invalid([FieldProblem("side", "names one system twice", "choose two or more")])
        return Response(CorroborationSerializer(found).data)
