"""Messages of workers.protocol.wire as request bodies: decoded strictly, described in the OpenAPI schema."""

import re
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from django.http import HttpResponse
from drf_spectacular.utils import OpenApiResponse
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from apps.core import limits
from apps.rest.framework import problems
from apps.runs.pure import printable_value
from workers.protocol import enrolment, wire

T = TypeVar("T")

MESSAGES = (
    enrolment.EnrolAnswer,
    wire.HelloMessage,
    wire.HelloAnswer,
    wire.JobMessage,
    wire.RenewMessage,
    wire.RenewAnswer,
    wire.RunMessage,
    wire.RunEndMessage,
    wire.JobEndMessage,
    wire.FailoverMessage,
    wire.FailoverAnswer,
    wire.ClockMessage,
    wire.SamplingMessage,
    wire.SamplingAnswer,
    wire.StreamEndMessage,
)
TOO_DEEP = f"The body is nested deeper than {limits.JSON_DEPTH} levels."
NUL = rb"\u0000"  # JSON has it in no other form
# More digits than any real length, few enough to parse fast.
LONGEST_LENGTH = 18


def announced_length(meta: Mapping[str, Any]) -> int:
    """Content-Length in bytes; 0: not given. Raises ParseError if it is not a number."""
    text = meta.get("CONTENT_LENGTH") or "0"
    if not (text.isascii() and text.isdigit() and len(text) <= LONGEST_LENGTH):
        raise ParseError(f"Content-Length is {text[:40]!r}: it must be the number of the body's bytes.")
    return int(text)


def length_within(meta: Mapping[str, Any], *, limit: int) -> int:
    """Content-Length. Raises ApiProblem (413) if it is over `limit`, or ParseError."""
    length = announced_length(meta)
    if length > limit:
        raise problems.ApiProblem(
            status=413, detail=f"The body has {length:,} bytes; at most {limit:,} are taken. Send it in smaller parts."
        )
    return length


class AsItIs(BaseParser):
    """For views that read the raw body themselves."""

    media_type = "*/*"


def read_body(request: Request, *, limit: int) -> bytes:
    """Raises ApiProblem (413) before reading anything over `limit` bytes, or ParseError."""
    length_within(request.META, limit=limit)
    return bytes(request.body)


def read_message(request: Request, kind: type[T]) -> T:
    """Raises ApiProblem with the field, or ParseError when the body is not JSON or nested too deep."""
    body = read_body(request, limit=limits.MESSAGE)
    try:
        found = wire.from_json(kind, body)
        plain = msgspec.to_builtins(found)
        if limits.is_nested_too_deep(plain):
            raise ParseError(TOO_DEEP)
        # PostgreSQL stores no NUL, and one text with it is no reason to refuse an agent's word.
        return msgspec.convert(printable_value(plain), kind) if NUL in body else found
    except msgspec.ValidationError as error:
        field, message = _place(str(error))
        raise problems.invalid(field, message) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ParseError(f"The body is not JSON: {error}") from error
    except RecursionError as error:
        raise ParseError(TOO_DEEP) from error


def _place(text: str) -> tuple[str, str]:
    """Field and message: "Object missing required field `x` - at `$.runs[0]`" of msgspec becomes field runs[0].x."""
    message, _, path = text.partition(" - at ")
    path = path.strip("`").removeprefix("$").removeprefix(".")
    if missing := re.search(r"missing required field `(.+?)`", message):
        path = ".".join(part for part in (path, missing[1]) if part)
    return path, message


def answer(message: msgspec.Struct, *, status: int = 200) -> HttpResponse:
    return HttpResponse(wire.to_json(message), status=status, content_type="application/json")


def described(kind: type[msgspec.Struct]) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{kind.__name__}"}


def body_of(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """For extend_schema(request=…)."""
    return {"application/json": described(kind)}


def answer_of(kind: type[msgspec.Struct], description: str) -> OpenApiResponse:
    return OpenApiResponse(response=described(kind), description=description)


def add_components(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A drf-spectacular post-processing hook: adds the messages that `described` refers to."""
    components = msgspec.json.schema_components(MESSAGES, ref_template="#/components/schemas/{name}")[1]
    schemas = result.setdefault("components", {}).setdefault("schemas", {})
    schemas |= {name: _described(schema) for name, schema in components.items()}
    return result


def _described(schema: dict[str, Any]) -> dict[str, Any]:
    """Drop the description of a struct without a docstring: msgspec fills in the class's signature."""
    if str(schema.get("description", "")).startswith(f"{schema.get('title')}("):
        return {key: value for key, value in schema.items() if key != "description"}
    return schema
