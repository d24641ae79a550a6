"""API: agreement across tools on the claims about the sides of a comparison."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.comparison.api import FEWEST_MATRIX_SIDES as FEWEST_SIDES
from apps.comparison.api import MOST_MATRIX_SIDES as MOST_SIDES
from apps.comparison.api import ToolAgreement, tool_agreement
from apps.core.problems import FieldProblem, Invalid
from apps.rest.framework.derive import serializer_of
from apps.rest.framework.lists import LARGEST_ID, Parameters


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
    @extend_schema(operation_id="list_claims", parameters=[ClaimsParameters], responses=serializer_of(ToolAgreement))
    def get(self, request: Request) -> Response:
        """Claims about two to eight systems by kind of load, with the tools that support or contradict them."""
        parameters = ClaimsParameters.read(request)
        found = tool_agreement(parameters["side"], campaign=parameters.get("campaign"))
        if found is None:
            raise Invalid([FieldProblem("side", "names one system twice", "choose two or more")])
        return Response(serializer_of(ToolAgreement)(found).data)
