"""The schema of which `make types` generates the front end's types: the REST API's, and that of embedded data."""

from typing import Any

from drf_spectacular.generators import SchemaGenerator
from rest_framework import serializers
from rest_framework.views import APIView

from apps.rest.api import field_of
from apps.web.page_data import PAGE_DATA


class PageDataSerializer(serializers.Serializer[Any]):
    def get_fields(self) -> dict[str, Any]:
        return {element_id: field_of(kind) for element_id, kind in PAGE_DATA.items()}


class FrontEndSchemaGenerator(SchemaGenerator):
    def parse(self, input_request: Any, public: bool) -> Any:
        paths = super().parse(input_request, public)  # type: ignore[no-untyped-call]  # untyped
        # A schema is drawn by a view's inspector: any view has one.
        view = self.create_view(APIView.as_view(), "OPTIONS")  # type: ignore[no-untyped-call]  # untyped
        schema = view.schema
        schema.registry = self.registry
        schema.resolve_serializer(PageDataSerializer, "response")
        return paths
