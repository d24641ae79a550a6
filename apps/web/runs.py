"""The page runs."""

from django.http import HttpRequest, HttpResponse

from apps.web.pages import render_page


def show(request: HttpRequest) -> HttpResponse:
    return render_page(request, "web/runs.html", {})
