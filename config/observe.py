"""Counts and names every request: the outermost WSGI application, and the middleware that names the address to it."""

import re
import time
from collections.abc import Callable, Iterable
from typing import Any
from uuid import uuid4

from django.http import HttpRequest, HttpResponse

from apps.core.server import log_context, measures

UNKNOWN = "unknown"
# Of a proxy in front, which may have named the request already.
GIVEN = re.compile(r"[A-Za-z0-9._-]{8,64}")
METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
KINDS = (("/api/v1/agent/", "agent"), ("/api/", "api"), ("/static/", "file"))


class CountRequests:
    def __init__(self, app: Callable[..., Iterable[bytes]]) -> None:
        self._app = app

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        given = environ.get("HTTP_X_REQUEST_ID", "")
        name = given if GIVEN.fullmatch(given) else uuid4().hex
        began, status = time.perf_counter(), "none"

        def start(line: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            nonlocal status
            status = line[:3]
            return start_response(line, [*headers, ("X-Request-ID", name)], *rest)

        try:
            with log_context.about(request=name):
                return self._app(environ, start)
        finally:
            method = environ["REQUEST_METHOD"]
            measures.REQUESTS.labels(
                method if method in METHODS else UNKNOWN, environ.get(measures.ROUTE, UNKNOWN), status
            ).inc()
            measures.REQUEST_SECONDS.labels(_kind(environ["PATH_INFO"])).observe(time.perf_counter() - began)


def _kind(path: str) -> str:
    return next((kind for start, kind in KINDS if path.startswith(start)), "page")


class NameRoute:
    """Leaves the address's name where the outermost application sees it, and its ids for log lines."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._get_response(request)

    def process_view(self, request: HttpRequest, _view: Any, _args: Any, kwargs: dict[str, Any]) -> None:
        if request.resolver_match:
            request.META[measures.ROUTE] = request.resolver_match.view_name or UNKNOWN
        log_context.add(**{key.removesuffix("_id"): value for key, value in kwargs.items() if key.endswith("_id")})
