"""While a disk is nearly full, what writes is answered 507; what reads, what makes room and what ends work goes on."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from apps.core.server import space
from apps.rest.framework import problems

READS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
# A few bytes each. An agent that may not renew its lease would lose the job whose data it keeps.
ACCEPTED = frozenset(
    {
        *("web:sign-in", "web:sign-in-link", "web:sign-out", "web:examples-remove"),
        *("web:campaign-cancel", "web:job-cancel", "api:cancel-campaign", "api:cancel-job"),
        *("api:agent-hello", "api:agent-renew", "api:agent-sampling"),
    }
)


class ReadOnlyWhileFull:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._get_response(request)

    def process_view(self, request: HttpRequest, _view: Any, _args: Any, _kwargs: Any) -> HttpResponse | None:
        if request.method in READS or request.method == "DELETE":
            return None
        if request.resolver_match and request.resolver_match.view_name in ACCEPTED:
            return None
        shortage = space.gate.shortage()
        if shortage is None:
            return None
        if request.path.startswith("/api/"):
            problem = problems.body(problems.disk_full(shortage))
            response: HttpResponse = JsonResponse(problem, status=507, content_type=problems.MEDIA_TYPE)
        else:
            response = render(request, "507.html", {"shortage": shortage}, status=507)
        response["Retry-After"] = str(space.RETRY_AFTER)
        return response
