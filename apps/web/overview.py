"""The page overview."""

from django.http import HttpRequest, HttpResponse

from apps.web.pages import render_page


def show(request: HttpRequest) -> HttpResponse:
    return render_page(request, "web/overview.html", {})
