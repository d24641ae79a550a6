"""Bodies of requests to the API are read as they are: one that is said to be compressed is refused, not misread."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, JsonResponse

from apps.rest.framework import problems


class RefuseContentEncoding:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        encoding = request.headers.get("Content-Encoding", "").strip()
        if encoding.lower() in ("", "identity") or not request.path.startswith("/api/"):
            return self._get_response(request)
        detail = f"The body has the Content-Encoding {encoding[:40]!r}: send it unpacked, without this header."
        problem = problems.ApiProblem(status=415, detail=detail)
        return JsonResponse(problems.body(problem), status=415, content_type=problems.MEDIA_TYPE)
