"""The matrix: several sides against one baseline under every workload that they share, as on its page."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.comparison.api import FEWEST_MATRIX_SIDES as FEWEST_SIDES
from apps.comparison.api import LATENCY, PRIMARY, Matrix, compare_systems
from apps.comparison.api import MOST_MATRIX_SIDES as MOST_SIDES
from apps.published.matrix import StatedMatrix, load_matrix
from apps.rest.framework.derive import serializer_of
from apps.rest.framework.lists import LARGEST_ID, NoParameters, Parameters


class MatrixParameters(Parameters):
    side = serializers.ListField(
        child=serializers.CharField(max_length=100),
        min_length=FEWEST_SIDES,
        max_length=MOST_SIDES,
        help_text="slug of a system, once a side; the first is the baseline",
    )
    metric = serializers.ListField(
        child=serializers.CharField(max_length=200),
        required=False,
        max_length=20,
        help_text=f'keys of metrics, "{PRIMARY}" (each workload\'s headline) or "{LATENCY}" (the percentile that most '
        f'runs have); "{PRIMARY}" alone where none is named',
    )
    workload = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=LARGEST_ID),
        required=False,
        max_length=40,
        help_text="ids of workloads; all that the baseline and another side ran where none is named",
    )
    tool = serializers.CharField(required=False, max_length=80, help_text="only workloads of this tool")
    campaign = serializers.IntegerField(
        required=False, min_value=1, max_value=LARGEST_ID, help_text="only runs of this campaign count"
    )


class SystemsMatrix(APIView):
    @extend_schema(operation_id="compare_many", parameters=[MatrixParameters], responses=serializer_of(Matrix))
    def get(self, request: Request) -> Response:
        """Compare two to eight sides under all shared workloads and load levels: ratios to the first side, verdicts."""
        parameters = MatrixParameters.read(request)
        found = compare_systems(
            sides=parameters["side"],
            metrics=parameters.get("metric") or [PRIMARY],
            workloads=parameters.get("workload") or None,
            tool=parameters.get("tool", ""),
            campaign=parameters.get("campaign"),
        )
        return Response(serializer_of(Matrix)(found).data)


class PublishedMatrix(APIView):
    @extend_schema(operation_id="read_published_matrix", responses=serializer_of(StatedMatrix))
    def get(self, request: Request, slug: str) -> Response:
        """The published ratios of an article, by test and load."""
        NoParameters.read(request)
        found = load_matrix(slug)
        if found is None:
            raise NotFound(f"No published article {slug!r} states ratios; /api/v1/published/ lists all figures.")
        return Response(serializer_of(StatedMatrix)(found).data)
