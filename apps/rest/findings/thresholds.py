"""Thresholds: the smallest difference that makes a finding; preview, set, delete."""

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.current_user import writer
from apps.regressions.api import StoredThreshold, Tried, thresholds
from apps.regressions.api import trend_queries as queries
from apps.rest.framework.derive import serializer_of
from apps.rest.framework.lists import LARGEST_ID, NoParameters, Parameters, listing, whole
from apps.rest.framework.strict import FiniteField, Strict
from workers import tasks


class ThresholdDescription(Strict):
    workload = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=1, max_value=LARGEST_ID, help_text="null: of all"
    )
    metric = serializers.CharField(
        required=False, allow_null=True, default=None, max_length=160, help_text="a metric's key; null: of all"
    )
    smallest = FiniteField(help_text=thresholds.SMALLEST)
    significant = FiniteField(required=False, default=1e-5, help_text=thresholds.SIGNIFICANT)


class PreviewParameters(Parameters):
    workload = serializers.IntegerField(required=False, min_value=1, max_value=LARGEST_ID, help_text="none: all")
    metric = serializers.CharField(required=False, max_length=160, help_text="a metric's key; none: all")
    smallest = FiniteField(help_text=thresholds.SMALLEST)
    significant = FiniteField(required=False, default=1e-5, help_text=thresholds.SIGNIFICANT)


class ThresholdList(APIView):
    @extend_schema(
        operation_id="list_thresholds",
        responses=listing(serializer_of(StoredThreshold), name="Threshold"),
    )
    def get(self, request: Request) -> Response:
        """List all thresholds; the defaults are 0.005 and 1e-5.

        The most specific one applies, in the order: workload and metric, workload, metric, all.
        """
        NoParameters.read(request)
        return whole(thresholds.stored(), serializer=serializer_of(StoredThreshold))

    @extend_schema(operation_id="set_threshold", request=ThresholdDescription, responses=serializer_of(StoredThreshold))
    def put(self, request: Request) -> Response:
        """Set the threshold of a workload, a metric, both or all, replacing a previous one.

        Affected series are re-evaluated within a minute; findings below the new threshold are flagged for verification.
        """
        sent = ThresholdDescription(data=request.data)
        sent.is_valid(raise_exception=True)
        kept = thresholds.keep(**sent.validated_data, by=writer(request))
        tasks.enqueue(tasks.follow_rest)
        return Response(serializer_of(StoredThreshold)(kept).data)


class OneThreshold(APIView):
    @extend_schema(operation_id="drop_threshold", responses={204: None})
    def delete(self, request: Request, threshold_id: int) -> Response:
        """Delete the threshold: the next more general one applies again."""
        NoParameters.read(request)
        if not thresholds.drop(threshold_id):
            raise Http404(f"There is no threshold {threshold_id}.")
        tasks.enqueue(tasks.follow_rest)
        return Response(status=204)


class ThresholdPreview(APIView):
    @extend_schema(operation_id="preview_threshold", parameters=[PreviewParameters], responses=serializer_of(Tried))
    def get(self, request: Request) -> Response:
        """Preview a threshold on existing trends; nothing is stored.

        Returns the changes that it would report, which of them are new, and the reported ones that it would withdraw.
        """
        asked = PreviewParameters.read(request)
        tried = queries.preview(
            workload=asked.get("workload"),
            metric=asked.get("metric"),
            smallest=asked["smallest"],
            significant=asked["significant"],
        )
        return Response(serializer_of(Tried)(tried).data)
