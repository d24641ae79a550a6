"""Schema changes under load, as on their page."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.comparison.api import ChangeFilter, ComparedCampaign, schema_changes
from apps.comparison.pure import ChangeTrial, LeftOut, Manner, QuantityRange, SchemaChange
from apps.published.queries import list_figures
from apps.published.values import FigureFilter
from apps.rest.framework.derive import Answer, serializer_of
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


class MannerSerializer(Answer):
    of = Manner
    also = ("text",)


class QuantityRangeSerializer(Answer):
    """One quantity, summarized over the runs."""

    of = QuantityRange


class ChangeTrialSerializer(Answer):
    """One run; each quantity is the worst of its statements."""

    of = ChangeTrial


class LeftOutSerializer(Answer):
    of = LeftOut
    names = {"why": "reason"}


class SchemaChangeSerializer(Answer):
    """One operation in one manner on one system under one load."""

    of = SchemaChange
    names = {"hardware": "hardware_name"}


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
