"""Thresholds: the smallest difference that makes a finding; preview, set, delete."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.current_user import writer
from apps.regressions.api import thresholds
from apps.regressions.api import trend_queries as queries
from apps.rest.findings.trends import HistorySerializer
from apps.rest.framework.fields import NumberField
from apps.rest.framework.lists import LARGEST_ID, NoParameters, Parameters, listing, whole
from apps.rest.framework.strict import FiniteField, Strict
from workers import tasks

SMALLEST = "smallest difference, share of the value (0.02 for 2 %), above 0 and below 1"
SIGNIFICANT = "p of the test along history, 1e-30 to 1e-4"


class ThresholdSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    workload = serializers.IntegerField(allow_null=True, help_text="null: of all")
    metric = serializers.CharField(allow_null=True, help_text="null: of all")
    smallest = FiniteField(help_text=SMALLEST)
    significant = FiniteField(help_text=SIGNIFICANT)
    by = serializers.CharField()
    at = serializers.DateTimeField()


class ThresholdDescription(Strict):
    workload = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=1, max_value=LARGEST_ID, help_text="null: of all"
    )
    metric = serializers.CharField(
        required=False, allow_null=True, default=None, max_length=160, help_text="a metric's key; null: of all"
    )
    smallest = FiniteField(help_text=SMALLEST)
    significant = FiniteField(required=False, default=1e-6, help_text=SIGNIFICANT)


class PreviewParameters(Parameters):
    workload = serializers.IntegerField(required=False, min_value=1, max_value=LARGEST_ID, help_text="none: all")
    metric = serializers.CharField(required=False, max_length=160, help_text="a metric's key; none: all")
    smallest = FiniteField(help_text=SMALLEST)
    significant = FiniteField(required=False, default=1e-6, help_text=SIGNIFICANT)


class TriedChangeSerializer(serializers.Serializer[Any]):
    place = serializers.IntegerField(help_text="in the series' points, from 0")
    run = serializers.IntegerField()
    version = serializers.CharField()
    verdict = serializers.CharField(help_text="better or worse")
    ratio = NumberField(help_text="after over before")
    low = NumberField(help_text="of its approximate 95 % interval")
    high = NumberField()
    p = NumberField()
    is_new = serializers.BooleanField(help_text="nobody was told yet")
    stays = serializers.BooleanField(help_text="false: it is told now and would no longer be")
    finding = serializers.IntegerField(allow_null=True)


class TriedSeriesSerializer(serializers.Serializer[Any]):
    history = HistorySerializer(source="row")
    changes = TriedChangeSerializer(many=True)


class TriedReleasesSerializer(serializers.Serializer[Any]):
    checks = serializers.IntegerField(help_text="last comparisons of releases, 200 at most")
    rows = serializers.IntegerField(help_text="of these, that it would count for")
    passed = serializers.IntegerField(help_text="of these, that are worse now and would be unchanged or inconclusive")
    worse = serializers.IntegerField(help_text="of these, that are worse by less than counts now and would be worse")


class TriedSerializer(serializers.Serializer[Any]):
    concerned = serializers.IntegerField(help_text="series that it would count for")
    looked_at = serializers.IntegerField(help_text="of these; 200 at most")
    too_short = serializers.IntegerField(help_text="of these, without ten runs under the same conditions")
    kept_apart = serializers.IntegerField(help_text="series that have a more particular threshold, which goes before")
    raised = serializers.IntegerField(help_text="changes that it tells")
    new = serializers.IntegerField(help_text="of these, that nobody was told yet")
    withdrawn = serializers.IntegerField(help_text="changes that are told now and would go")
    series = TriedSeriesSerializer(many=True)
    releases = TriedReleasesSerializer(help_text="the size counts between releases, too")


class ThresholdList(APIView):
    @extend_schema(
        operation_id="list_thresholds",
        responses=listing(ThresholdSerializer, name="Threshold"),
    )
    def get(self, request: Request) -> Response:
        """List all thresholds; the defaults are 0.005 and 1e-6.

        The most specific one applies, in the order: workload and metric, workload, metric, all.
        """
        NoParameters.read(request)
        return whole(thresholds.kept(), serializer=ThresholdSerializer)

    @extend_schema(operation_id="set_threshold", request=ThresholdDescription, responses=ThresholdSerializer)
    def put(self, request: Request) -> Response:
        """Set the threshold of a workload, a metric, both or all, replacing a previous one.

        Affected series are re-evaluated within a minute; findings below the new threshold are flagged for verification.
        """
        told = ThresholdDescription(data=request.data)
        told.is_valid(raise_exception=True)
        kept = thresholds.keep(**told.validated_data, by=writer(request))
        tasks.enqueue(tasks.follow_rest)
        return Response(ThresholdSerializer(kept).data)


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
    @extend_schema(operation_id="preview_threshold", parameters=[PreviewParameters], responses=TriedSerializer)
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
        return Response(TriedSerializer(tried).data)
