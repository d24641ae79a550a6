"""The OpenAPI schema, and a plain HTML page of it without external resources."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

METHODS = ("get", "post", "put", "patch", "delete")


class Schema(SpectacularAPIView):
    @extend_schema(
        operation_id="read_schema",
        responses={
            (200, "application/vnd.oai.openapi"): {"type": "object", "additionalProperties": True},
            (200, "application/vnd.oai.openapi+json"): {"type": "object", "additionalProperties": True},
        },
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """This description of the API (OpenAPI 3), as YAML or JSON."""
        answer: Response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]  # untyped
        return answer

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        """A problem is JSON, whichever format was requested."""
        found: Response = super().finalize_response(request, response, *args, **kwargs)
        if found.exception:
            found.accepted_renderer = JSONRenderer()
        return found


def operations(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Every operation of `schema`, ordered by address, for the page."""
    return [
        {
            "method": method.upper(),
            "address": address,
            "name": entry["operationId"],
            "text": entry.get("description", ""),
            "parameters": entry.get("parameters", []),
            "bodies": sorted(entry.get("requestBody", {}).get("content", {})),
            "answers": [
                {"status": status, "text": answer["description"]} for status, answer in entry["responses"].items()
            ],
        }
        for address, entries in sorted(schema["paths"].items())
        for method, entry in entries.items()
        if method in METHODS
    ]


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """HTML page: every operation with its parameters and responses."""
    schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]  # untyped
    return render(request, "rest/docs.html", {"operations": operations(schema), "schema": schema})
