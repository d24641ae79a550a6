"""Shared by all lists of the API: strict query parameters, and paging by `next`."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from django.db.models import Model, QuerySet
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.core.problems import NAMELESS
from apps.core.query import NOT_A_NUMBER, unknown_parameter

M = TypeVar("M", bound=Model)

LARGEST_ID = 2**63 - 1


class Parameters(serializers.Serializer[Any]):
    """Query parameters of an endpoint. Unknown ones are refused: a misspelt filter must not widen a list."""

    def get_fields(self) -> "dict[str, serializers.Field[Any, Any, Any, Any]]":
        fields = super().get_fields()
        for field in fields.values():
            one = field.child if isinstance(field, serializers.ListField) else field
            if isinstance(one, serializers.IntegerField):
                one.error_messages["invalid"] = NOT_A_NUMBER
        return fields

    def to_internal_value(self, data: Any) -> Any:
        unknown = sorted(set(data) - set(self.fields))
        if unknown:
            raise ValidationError({name or NAMELESS: [unknown_parameter(self.fields)] for name in unknown})
        if twice := [name for name in data if len(data.getlist(name)) > 1 and not _takes_many(self.fields[name])]:
            raise ValidationError({name: ["is given more than once: give it once"] for name in twice})
        try:
            return super().to_internal_value(data)
        except ValidationError as error:
            problems: Any = error.detail  # by field
            raise ValidationError(
                {name: _of_values(data.getlist(name), found) for name, found in problems.items()}
            ) from error

    @classmethod
    def read(cls, request: Request) -> dict[str, Any]:
        """Raises ValidationError with every invalid parameter."""
        parameters = cls(data=request.query_params)
        parameters.is_valid(raise_exception=True)
        return dict(parameters.validated_data)


def _of_values(values: Sequence[str], found: Any) -> Any:
    """Problems of a parameter that is given several times: each names the value instead of its place."""
    if not isinstance(found, dict):
        return found
    return [f"{values[place]!r:.60}: {problem}" for place, problems in found.items() for problem in problems]


def _takes_many(field: "serializers.Field[Any, Any, Any, Any]") -> bool:
    return isinstance(field, serializers.ListField | serializers.MultipleChoiceField)


class NoParameters(Parameters):
    """For endpoints without parameters."""


class PageParameters(Parameters):
    limit = serializers.IntegerField(required=False, min_value=1, max_value=500, help_text="entries a page; 100")
    cursor = serializers.CharField(required=False, max_length=400, help_text="where the page begins: taken from `next`")


class Cursors(CursorPagination):
    """Pages by a unique, immutable key, so that a page costs the same anywhere in the list."""

    page_size = 100
    max_page_size = 500
    page_size_query_param = "limit"

    def decode_cursor(self, request: Request) -> Any:
        cursor = super().decode_cursor(request)
        if cursor is not None and "\0" in str(cursor.position or ""):
            raise NotFound(self.invalid_cursor_message)
        return cursor

    def get_paginated_response(self, data: Any) -> Response:
        return Response({"next": self.get_next_link(), "results": data})


def page_of(
    view: APIView,
    request: Request,
    rows: QuerySet[M],
    *,
    key: str,
    serializer: type[serializers.BaseSerializer[Any]],
    load: Callable[[Sequence[M]], Sequence[Any]] = list,
) -> Response:
    """One page of `rows`, ordered by `key`, which must be unique and not null. `load`: what is written of the page."""
    pages = Cursors()
    pages.ordering = key
    try:
        page = pages.paginate_queryset(rows, request, view=view) or []
    except (NotFound, ValueError) as error:
        raise ValidationError({"cursor": ["not a cursor of this list: use `next` of the page before"]}) from error
    return pages.get_paginated_response(serializer(load(page), many=True).data)


def whole(rows: Sequence[Any] | QuerySet[M], *, serializer: type[serializers.BaseSerializer[Any]]) -> Response:
    """A list that is always short, in the shape of a last page."""
    return Response({"next": None, "results": serializer(rows, many=True).data})


def next_page(request: Request, *, cursor: int | str | None) -> str | None:
    """Address of the page after `cursor`; None: there is none."""
    if cursor is None:
        return None
    parts = urlsplit(request.build_absolute_uri())
    kept = [(name, value) for name, value in parse_qsl(parts.query, keep_blank_values=True) if name != "cursor"]
    return urlunsplit(parts._replace(query=urlencode([*kept, ("cursor", str(cursor))])))


def listing(entry: type[serializers.BaseSerializer[Any]], *, name: str) -> type[serializers.Serializer[Any]]:
    """The schema of a page of `entry`."""
    return type(
        f"{name}List",
        (serializers.Serializer,),
        {
            "next": serializers.URLField(allow_null=True, help_text="the next page; null: this is the last"),
            "results": entry(many=True),
        },
    )
