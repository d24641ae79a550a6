"""The OpenAPI schema, and a plain HTML page of it without external resources.

Making one takes seconds, anybody may read it, and it is the same as long as the process lives: each form is made once.
"""

import threading
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.encoding import force_bytes
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

METHODS = ("get", "post", "put", "patch", "delete")
RENDERERS: dict[str, type[BaseRenderer]] = {"yaml": OpenApiYamlRenderer, "json": OpenApiJsonRenderer}
PAGE = "html"
_one_at_a_time = threading.Lock()


class Schema(SpectacularAPIView):
    @extend_schema(
        operation_id="read_schema",
        responses={
            (200, "application/vnd.oai.openapi"): {"type": "object", "additionalProperties": True},
            (200, "application/vnd.oai.openapi+json"): {"type": "object", "additionalProperties": True},
        },
    )
    def get(self, request: Request, *_: Any, **__: Any) -> HttpResponse:
        """This description of the API (OpenAPI 3), as YAML or JSON."""
        chosen = request.accepted_renderer
        charset = f"; charset={chosen.charset}" if chosen.charset else ""
        named = {"Content-Disposition": f'inline; filename="Splashboard.{chosen.format}"'}
        return HttpResponse(_text(chosen.format), content_type=f"{chosen.media_type}{charset}", headers=named)

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        """A problem is JSON, whichever format was requested."""
        found: Response = super().finalize_response(request, response, *args, **kwargs)
        if getattr(found, "exception", False):
            found.accepted_renderer = JSONRenderer()
        return found


def _text(form: str) -> bytes:
    """`form`: one of RENDERERS, or PAGE."""
    with _one_at_a_time:
        return _made(form)


@cache
def _made(form: str) -> bytes:
    schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]  # untyped
    if form == PAGE:
        return render_to_string("rest/docs.html", {"operations": operations(schema), "schema": schema}).encode()
    renderer = RENDERERS[form]()
    return force_bytes(renderer.render(schema, renderer.media_type, {}))


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
def docs(_request: HttpRequest) -> HttpResponse:
    """HTML page: every operation with its parameters and responses."""
    return HttpResponse(_text(PAGE))
