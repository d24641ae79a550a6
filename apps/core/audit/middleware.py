"""Makes the request known to services, so that the audit log names who acted and from where."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from apps.core.audit.actors import current_request


class KnowWhoActs:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        before = current_request.set(request)
        try:
            return self._get_response(request)
        finally:
            current_request.reset(before)
