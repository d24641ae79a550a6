"""The page for what failed: 503 while the database is away, 507 for want of space, else 500."""

import sys

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from apps.core.server import outages, space
from apps.runs.api import artifacts


def show(request: HttpRequest) -> HttpResponse:
    """Django's handler500, called while the error is handled. Two of its pages need neither database nor front end."""
    error = sys.exc_info()[1]
    if error is not None and space.is_shortage(error):
        space.gate.note_failure()
        return render(request, "507.html", {"shortage": space.Shortage()}, status=507)
    if isinstance(error, artifacts.StoreClosed):
        context = {"why": "the server may not write its artifacts", "remedy": str(error)}
        answer = render(request, "507.html", context, status=503)
        answer["Retry-After"] = str(space.RETRY_AFTER)
        return answer
    is_store = outages.store_is_away(error)
    if not (is_store or outages.database_is_away(error)):
        return HttpResponse(render_to_string("500.html"), status=500)
    away = {"what": "object store", "log": "web.log"} if is_store else {"what": "database", "log": "postgres.log"}
    headers = {"Retry-After": str(outages.RETRY_AFTER)}
    return HttpResponse(render_to_string("503.html", away), status=503, headers=headers)
