"""Every error of the REST API as RFC 9457 problem details: what happened, which field, what to do."""

import logging
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.urls import Resolver404, resolve
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions
from rest_framework.permissions import SAFE_METHODS
from rest_framework.response import Response
from rest_framework.views import set_rollback

from apps.core import limits
from apps.core.client_address import HasMeta, client_address, client_network
from apps.core.problems import FieldProblem, Invalid
from apps.core.server import outages, space
from apps.rest.framework import request_counts
from apps.rest.framework.authentication import REMEDY
from apps.runs.api import QuotaExceeded, artifacts

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"


class ApiProblem(exceptions.APIException):
    """Raised in views. `kind` becomes the problem's type, `urn:splashboard:problem:<kind>`; empty: about:blank.

    `wait`: s after which the same request may work.
    """

    def __init__(
        self,
        *,
        status: int,
        detail: str,
        kind: str = "",
        title: str = "",
        errors: Sequence[FieldProblem] = (),
        wait: int = 0,
    ) -> None:
        super().__init__(detail)
        self.wait = wait
        self.status_code = status
        self.kind = kind
        self.title = title
        self.errors = tuple(errors)


def invalid(field: str, message: str, remedy: str = "") -> ApiProblem:
    """422 for one field; an empty field means the body as a whole."""
    return _invalid([FieldProblem(field=field, message=message, remedy=remedy)])


def conflict(*fields: str, message: str, remedy: str = "") -> ApiProblem:
    """409; the message holds for each of the fields."""
    errors = [FieldProblem(field=field, message=message, remedy=remedy) for field in fields]
    detail = FieldProblem(field=", ".join(fields), message=message, remedy=remedy).sentence()
    return ApiProblem(status=409, kind="conflict", title="Contradicts what is stored", detail=detail, errors=errors)


def changed_since(error: Invalid) -> ApiProblem:
    """409: the object was edited by somebody else after it was read."""
    detail = "; ".join(each.sentence() for each in error.errors)
    return ApiProblem(status=409, kind="conflict", title="Changed in the meantime", detail=detail, errors=error.errors)


def _invalid(errors: Sequence[FieldProblem], *, status: int = 422) -> ApiProblem:
    detail = "; ".join(error.sentence() for error in errors)
    return ApiProblem(status=status, kind="invalid", title="Invalid field", detail=detail, errors=errors)


def as_problem(error: Exception, context: dict[str, Any]) -> Response:
    """DRF's EXCEPTION_HANDLER. An unexpected error is logged in full; the response has no details of it."""
    request = context.get("request")
    reading = request is not None and request.method in SAFE_METHODS
    # Invalid query parameters are 400; a body that was parsed but cannot be accepted is 422.
    refused = 400 if reading else 422
    problem = _unknown_format(error, context) or _wrong_media_type(error, context) or _translate(error, refused=refused)
    if problem is not None and problem.status_code == HTTPStatus.UNAUTHORIZED and request is not None:
        problem = _beyond_unknown(request) or problem
    if problem is None:
        problem = _own_fault(error, reading=reading)
        address = f"{request.method} {request.path}" if request else "a request"
        log.error("%s failed", address, exc_info=error)
    set_rollback()
    headers = {}
    if problem.wait:
        headers["Retry-After"] = str(problem.wait)
    if challenge := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    return Response(body(problem), status=problem.status_code, headers=headers, content_type=MEDIA_TYPE)


def _unknown_format(error: Exception, context: dict[str, Any]) -> ApiProblem | None:
    """DRF answers an unknown `format=xml` with a bare 404; name the parameter instead."""
    if not isinstance(error, Http404) or str(error) or "view" not in context:
        return None
    asked = context["request"].query_params.get("format")
    if asked is None:
        return None
    known = ", ".join(str(each.format) for each in context["view"].renderer_classes)
    return _invalid([FieldProblem("format", f"{asked[:40]!r} is not known here", f"use {known}")], status=400)


def _wrong_media_type(error: Exception, context: dict[str, Any]) -> ApiProblem | None:
    """DRF names only what was sent."""
    if not isinstance(error, exceptions.UnsupportedMediaType) or "view" not in context:
        return None
    known = " or ".join(parser.media_type for parser in context["view"].parser_classes)
    return ApiProblem(status=415, detail=f"{error.detail} Send {known} to this address.")


def _own_fault(error: Exception, *, reading: bool) -> ApiProblem:
    if space.is_shortage(error):
        space.gate.note_failure()
        return disk_full(space.Shortage())
    if isinstance(error, artifacts.StoreClosed):
        stored = "" if reading else " Nothing was stored; send the same again afterwards."
        detail = f"Artifacts cannot be read or written: {error}.{stored}"
        return ApiProblem(
            status=503, kind="store-closed", title="Out of service", detail=detail, wait=space.RETRY_AFTER
        )
    # The error may have come after the commit.
    uncertain = (
        " What was stored is uncertain. Sending the same again is safe except for a campaign: first check whether it "
        "exists."
    )
    written = "" if reading else uncertain
    is_store = outages.store_is_away(error)
    if is_store or outages.database_is_away(error):
        what = "object store" if is_store else "database"
        detail = f"The {what} does not answer; try again in a few seconds.{written}"
        wait = outages.RETRY_AFTER
        return ApiProblem(status=503, kind="out-of-service", title="Out of service", detail=detail, wait=wait)
    return ApiProblem(status=500, detail=f"Internal error; details are in the server's log.{written}")


def disk_full(shortage: space.Shortage) -> ApiProblem:
    """507; the same request works once there is room."""
    detail = f"Read-only: {shortage.sentence()}, then send the same again."
    return ApiProblem(status=507, kind="disk-full", detail=detail, wait=space.RETRY_AFTER)


def too_many(what: str, *, wait: int) -> ApiProblem:
    """429. `what`: limit and sender; `wait`: s."""
    detail = f"More than {what}. Nothing was done; send the same again in {wait} s."
    return ApiProblem(status=429, kind="too-many-requests", detail=detail, wait=wait)


def count_unknown(request: HasMeta) -> None:
    """Raises ApiProblem (429) beyond the limit of requests from an address without valid credentials."""
    if problem := _beyond_unknown(request):
        raise problem


def _beyond_unknown(request: HasMeta) -> ApiProblem | None:
    limit, address = limits.UNKNOWN_REQUESTS, client_address(request)
    wait = request_counts.counter.wait(f"address:{client_network(request)}", limit=limit)
    what = f"{limit:,} requests a minute from {address} without signing in or a valid token"
    return too_many(what, wait=wait) if wait else None


def body(problem: ApiProblem) -> dict[str, Any]:
    document: dict[str, Any] = {
        "type": f"urn:splashboard:problem:{problem.kind}" if problem.kind else "about:blank",
        "title": problem.title or HTTPStatus(problem.status_code).phrase,
        "status": problem.status_code,
        "detail": str(problem.detail),
    }
    if problem.errors:
        document["errors"] = [
            {"field": error.field, "message": error.message} | ({"remedy": error.remedy} if error.remedy else {})
            for error in problem.errors
        ]
    return document


def _translate(error: Exception, *, refused: int) -> ApiProblem | None:
    translated: ApiProblem | None = None
    match error:
        case ApiProblem():
            translated = error
        case QuotaExceeded():
            translated = too_many(error.what, wait=error.wait)
        case Invalid():
            translated = _invalid(error.errors, status=refused)
        case exceptions.ValidationError():
            translated = _invalid(list(_fields(error.detail)), status=refused)
        case exceptions.NotAuthenticated():
            translated = ApiProblem(
                status=error.status_code, detail=_credentials(getattr(error, "auth_header", "Token"))
            )
        case exceptions.APIException():
            wait = int(getattr(error, "wait", None) or 0)  # of Throttled
            translated = ApiProblem(status=error.status_code, detail=str(error.detail), wait=wait)
        case Http404():
            translated = ApiProblem(status=404, detail=str(error) or "There is nothing at this address.")
        case PermissionDenied():
            translated = ApiProblem(status=403, detail=str(error) or "You may not do this.")
        case RequestDataTooBig() | TooManyFieldsSent() | TooManyFilesSent():
            translated = ApiProblem(status=413, detail=f"{error} Send less at once.")
    return translated


def _credentials(scheme: str) -> str:
    """`scheme`: the one that the address takes."""
    header = f"'Authorization: {scheme} <secret>'"
    return f"No credentials of a known form were sent: send the header {header}. {REMEDY[scheme]}"


def _fields(detail: Any, path: str = "") -> Iterator[FieldProblem]:
    """Flatten DRF's nested errors to paths such as `runs.0.threads`."""
    if isinstance(detail, dict):
        for key, inner in detail.items():
            own = "" if key == "non_field_errors" else str(key)
            yield from _fields(inner, ".".join(part for part in (path, own) if part))
    elif isinstance(detail, list):
        for number, inner in enumerate(detail):
            nested = isinstance(inner, dict | list)
            yield from _fields(inner, ".".join(part for part in (path, str(number)) if part) if nested else path)
    else:
        yield FieldProblem(field=path, message=str(detail))


@csrf_exempt  # it only returns 404
def unknown_address(request: HttpRequest, **_: Any) -> HttpResponse:
    """Any address below /api/ without a view."""
    detail = f"There is nothing at {request.path}. The addresses are listed at /api/v1/schema/."
    other = request.path[:-1] if request.path.endswith("/") else f"{request.path}/"
    if _is_known(other):
        detail = f"There is nothing at {request.path}: use {other}."
    return JsonResponse(body(ApiProblem(status=404, detail=detail)), status=404, content_type=MEDIA_TYPE)


unknown_address.login_required = False  # type: ignore[attr-defined]  # read by LoginRequiredMiddleware


def _is_known(path: str) -> bool:
    try:
        return resolve(path).func is not unknown_address
    except Resolver404:
        return False
