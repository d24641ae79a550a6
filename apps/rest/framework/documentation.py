"""Descriptions of operations in the OpenAPI schema. DRF loads this module for every view, so it imports none."""

from typing import Any

from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers

PROBLEM = "application/problem+json"


class FieldErrorSerializer(serializers.Serializer[Any]):
    field = serializers.CharField(help_text="dotted name of the field or parameter at fault")
    message = serializers.CharField(help_text="what is wrong with it, or what it must be")
    remedy = serializers.CharField(required=False, help_text="what to do about it")


class ProblemSerializer(serializers.Serializer[Any]):
    """Problem details (RFC 9457)."""

    type = serializers.CharField(help_text="urn:splashboard:problem:<kind>, or about:blank")
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField(help_text="what happened, in one sentence or more")
    errors = FieldErrorSerializer(many=True, required=False)  # type: ignore[assignment]  # DRF's metaclass removes it


class DocumentedSchema(AutoSchema):
    """Adds the possible error responses to every operation, so that no endpoint omits them. `further_problems` of a
    view, status -> text, are its own."""

    def _get_response_bodies(self, direction: Any = "response") -> Any:
        bodies = super()._get_response_bodies(direction)
        for status, description in self._possible_problems().items():
            documented = bodies.get(status, {})
            if PROBLEM not in documented.get("content", {}):
                problem = self._get_response_for_code(  # type: ignore[no-untyped-call]  # untyped
                    ProblemSerializer, status, [PROBLEM]
                )
                bodies[status] = {
                    **problem,
                    **documented,
                    "description": documented.get("description") or description,
                    "content": documented.get("content", {}) | problem["content"],
                }
        return dict(sorted(bodies.items()))

    def _possible_problems(self) -> dict[str, str]:
        possible = {
            "400": "The body cannot be read, or a parameter is wrong; `errors` names it",
            "401": "The secret is missing or not known",
            "403": "This account or program may not do this",
            "429": "Too many requests a minute; send the same again after `Retry-After`",
        }
        if "{" in self.path:
            possible["404"] = "There is no such thing"
        if len(self.view.renderer_classes) > 1:
            possible["406"] = "None of the accepted formats is available"
        if self.method not in ("GET", "HEAD"):
            possible |= {
                "409": "It contradicts what is stored",
                "413": "The body is too large",
                "415": "The body's media type is not one of those listed",
                "422": "The body is invalid; `errors` names each field",
                "507": "The server has no space left; send the same again once space is free",
            }
        return possible | getattr(self.view, "further_problems", {})
