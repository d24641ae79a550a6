"""Schema changes under load, as on their page."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.comparison.api import ChangeFilter, ComparedCampaign, schema_changes
from apps.published.queries import list_figures
from apps.published.values import FigureFilter
from apps.rest.framework.derive import serializer_of
from apps.rest.framework.fields import NumberField, SecondsField
from apps.rest.framework.lists import LARGEST_ID, Parameters
from apps.rest.published import FigureSerializer


class SchemaChangeParameters(Parameters):
    system = serializers.ListField(
        child=serializers.CharField(max_length=100),
        required=False,
        max_length=40,
        help_text="slug of a system, once for each; all where none is named",
    )
    operation = serializers.CharField(required=False, max_length=80, help_text='for example "add column"')
    algorithm = serializers.CharField(
        required=False, max_length=40, help_text='for example "copy"; "default": as the server chooses'
    )
    campaign = serializers.IntegerField(
        required=False, min_value=1, max_value=LARGEST_ID, help_text="only runs of this campaign"
    )


class MannerSerializer(serializers.Serializer[Any]):
    algorithm = serializers.CharField(help_text='"default": as the server chooses')
    lock = serializers.CharField()
    hold = serializers.FloatField(help_text="s for which an open transaction holds the table when a statement comes")
    count = serializers.IntegerField(help_text="statements in a run")
    text = serializers.CharField()


class QuantitySerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    name = serializers.CharField()
    unit = serializers.CharField()
    direction = serializers.CharField(help_text="lower: lower is better")
    meaning = serializers.CharField()


class ToldSerializer(serializers.Serializer[Any]):
    """One quantity, summarized over the runs."""

    quantity = QuantitySerializer()
    count = serializers.IntegerField(help_text="runs that have it")
    median = NumberField(allow_null=True)
    low = NumberField(allow_null=True)
    high = NumberField(allow_null=True)
    missing = serializers.CharField(help_text="why no run has it; empty: some have")


class StatementSerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    sql = serializers.CharField()
    starts_at = SecondsField(help_text="s on the run's clock")
    ends_at = SecondsField(help_text="s on the run's clock")
    values = serializers.DictField(child=NumberField(), help_text="by the key of a quantity")


class TrialSerializer(serializers.Serializer[Any]):
    """One run; each quantity is the worst of its statements."""

    run = serializers.IntegerField()
    repetition = serializers.IntegerField()
    started_at = serializers.DateTimeField()
    provenance = serializers.CharField()
    failed_checks = serializers.ListField(child=serializers.CharField())
    statements = StatementSerializer(many=True)
    values = serializers.DictField(child=NumberField(), help_text="by the key of a quantity")
    silent = serializers.IntegerField(help_text="intervals in which no transaction ended")


class LeftOutRunSerializer(serializers.Serializer[Any]):
    run = serializers.IntegerField()
    reason = serializers.CharField(source="why")


class SchemaChangeSerializer(serializers.Serializer[Any]):
    """One operation in one manner on one system under one load."""

    operation = serializers.CharField()
    setting = serializers.CharField(help_text="data and load")
    manner = MannerSerializer()
    system = serializers.CharField(help_text="slug")
    system_name = serializers.CharField()
    platform = serializers.CharField(help_text="slug")
    platform_name = serializers.CharField()
    release = serializers.CharField()
    hardware_name = serializers.CharField(source="hardware")
    workload = serializers.IntegerField(help_text="id")
    load_level = serializers.IntegerField(help_text="id")
    latency = serializers.CharField(help_text="key of the percentile whose deviation is told; empty: no run has one")
    told = ToldSerializer(many=True)
    trials = TrialSerializer(many=True)
    left_out = LeftOutRunSerializer(many=True)


class SchemaChangesSerializer(serializers.Serializer[Any]):
    changes = SchemaChangeSerializer(many=True)
    campaigns = serializer_of(ComparedCampaign)(many=True, help_text="those that the runs belong to")
    has_more = serializers.BooleanField(help_text="older runs are left out")
    stated = FigureSerializer(many=True, help_text="what articles state of schema changes, never filtered")


class ListSchemaChanges(APIView):
    @extend_schema(
        operation_id="list_schema_changes", parameters=[SchemaChangeParameters], responses=SchemaChangesSerializer
    )
    def get(self, request: Request) -> Response:
        """List the effects of ALTER TABLE on its load: medians and ranges, every run, and published results."""
        asked = SchemaChangeParameters.read(request)
        found = schema_changes(
            ChangeFilter(
                systems=tuple(asked.get("system", ())),
                operation=asked.get("operation", ""),
                algorithm=asked.get("algorithm", ""),
                campaign=asked.get("campaign"),
            )
        )
        answer = {
            "changes": found.changes,
            "campaigns": found.campaigns,
            "has_more": found.has_more,
            "stated": list_figures(FigureFilter(questions=("ddl",))),
        }
        return Response(SchemaChangesSerializer(answer).data)
