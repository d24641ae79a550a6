"""Fields that format numbers and words uniformly across the API."""

import math
from collections.abc import Sequence
from enum import Enum
from typing import Any

from django.urls import reverse
from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

from apps.core.units import NBSP
from apps.rest.framework.digits import MILLISECONDS, significant


class NumberField(serializers.FloatField):
    """Six significant digits; infinity and NaN become null."""

    def to_representation(self, value: float) -> float | None:  # type: ignore[override]  # DRF: always a number
        return significant(value)


class SecondsField(serializers.FloatField):
    """A time or duration, s, to a millisecond."""

    def to_representation(self, value: float) -> float:  # type: ignore[override]  # DRF: a text
        return round(float(value), MILLISECONDS)


class WordsField(serializers.CharField):
    """A sentence also shown on a page, with ordinary instead of non-breaking spaces."""

    def to_representation(self, value: str) -> str:
        return str(value).replace(NBSP, " ")


class UnboundedField(serializers.FloatField):
    """Infinity becomes null, because JSON has no infinity."""

    def to_representation(self, value: float) -> float | None:  # type: ignore[override]  # DRF: always a number
        return value if math.isfinite(value) else None


class EnumField(serializers.ChoiceField):
    """A member by its value; in the schema a component of the enumeration's name."""

    def __init__(self, kind: type[Enum], **options: Any) -> None:
        self.kind = kind
        super().__init__(choices=[each.value for each in kind], **options)

    def to_representation(self, value: Enum) -> Any:  # type: ignore[override]  # DRF: a text
        return value.value


@extend_schema_field(OpenApiTypes.STR)
class AddressField(serializers.Field[Any, Any, Any, Any]):
    """Of a page or an endpoint. `attributes` of what is described are the arguments of its address."""

    def __init__(self, view: str, *attributes: str, **options: Any) -> None:
        super().__init__(**options | {"source": "*", "read_only": True})
        self.view = view
        self.attributes = attributes

    def to_representation(self, value: Any) -> str:
        request: Request = self.context["request"]
        arguments = [getattr(value, attribute) for attribute in self.attributes]
        return request.build_absolute_uri(reverse(self.view, args=arguments))


class TupleField(serializers.Field[Any, Any, Any, Any]):
    """A list of fixed length, each place with a field of its own."""

    def __init__(self, places: Sequence[serializers.Field[Any, Any, Any, Any]], **options: Any) -> None:
        super().__init__(**options)
        self.places = places

    def to_representation(self, value: Sequence[Any]) -> list[Any]:
        return [
            None if each is None else place.to_representation(each)
            for place, each in zip(self.places, value, strict=True)
        ]


class TupleSchema(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]  # untyped
    target_class = TupleField

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        places = [auto_schema._map_serializer_field(place, direction) for place in self.target.places]
        return {"type": "array", "prefixItems": places, "minItems": len(places), "maxItems": len(places)}


class EnumSchema(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]  # untyped
    target_class = EnumField

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> dict[str, Any]:  # noqa: ARG002
        kind = self.target.kind
        schema = {"type": "string", "enum": [each.value for each in kind]}
        component = ResolvedComponent(  # type: ignore[no-untyped-call]  # untyped
            name=kind.__name__, type=ResolvedComponent.SCHEMA, object=kind, schema=schema
        )
        auto_schema.registry.register_on_missing(component)
        return dict(component.ref)
