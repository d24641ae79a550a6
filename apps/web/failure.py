"""The page for what failed: 503 while the database is away, else 500."""

import sys

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from apps.core import outages


def show(_request: HttpRequest) -> HttpResponse:
    """Django's handler500, called while the error is handled. It needs neither database nor front end."""
    if not outages.database_is_away(sys.exc_info()[1]):
        return HttpResponse(render_to_string("500.html"), status=500)
    headers = {"Retry-After": str(outages.RETRY_AFTER)}
    return HttpResponse(render_to_string("503.html"), status=503, headers=headers)
