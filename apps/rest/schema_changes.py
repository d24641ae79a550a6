"""Schema changes under load, as on their page."""

from dataclasses import dataclass
from typing import Annotated

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.comparison.api import ChangeFilter, schema_changes
from apps.comparison.pure import SchemaChanges
from apps.core.answers import Inline, component
from apps.published.queries import list_figures
from apps.published.values import FigureFilter, FigureValue
from apps.rest.framework.derive import serializer_of
from apps.rest.framework.lists import LARGEST_ID, Parameters


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


@component("SchemaChanges")
@dataclass(frozen=True)
class SchemaChangesPage:
    found: Annotated[SchemaChanges, Inline("changes", "campaigns", "has_more")]
    stated: Annotated[list[FigureValue], "what articles state of schema changes, never filtered"]


class ListSchemaChanges(APIView):
    @extend_schema(
        operation_id="list_schema_changes",
        parameters=[SchemaChangeParameters],
        responses=serializer_of(SchemaChangesPage),
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
        page = SchemaChangesPage(found, list_figures(FigureFilter(questions=("ddl",))))
        return Response(serializer_of(SchemaChangesPage)(page).data)
