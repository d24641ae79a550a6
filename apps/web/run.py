"""The page of one run."""

from django.http import HttpRequest, HttpResponse

from apps.web.pages import render_page


def show(request: HttpRequest, run_id: int) -> HttpResponse:
    return render_page(request, "web/run.html", {"run_id": run_id})
