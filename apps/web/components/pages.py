"""Rendering of pages that htmx updates in part, and of addresses that a page refuses."""

from collections.abc import Callable, Collection
from functools import wraps
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers

from apps.comparison.api import UnknownSide
from apps.core.problems import Invalid
from apps.core.query import Address

View = Callable[..., HttpResponse]


def is_partial(request: HttpRequest) -> bool:
    """True when htmx requests a fragment and is not restoring the whole page from its history."""
    return request.headers.get("HX-Request") == "true" and request.headers.get("HX-History-Restore-Request") != "true"


def render_page(
    request: HttpRequest, template: str, context: dict[str, Any], *, part: str = "", status: int = 200
) -> HttpResponse:
    """Renders `template`, or its `part` (another template) for htmx. Caches keep the two apart."""
    chosen = part if part and is_partial(request) else template
    response = render(request, chosen, context, status=status)
    if part:
        patch_vary_headers(response, ["HX-Request"])
    return response


def takes_only(*known: str, **choices: Collection[str]) -> Callable[[View], View]:
    """Of a list whose address has these parameters alone, some with the values of `choices`: others are refused in
    words. `before` is a number."""

    def wrap(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            address = Address(request.GET, *known, *choices)
            for name, values in choices.items():
                address.choice(name, values)
            if "before" in known:
                address.number("before")
            try:
                address.check()
            except Invalid as error:
                context = {"problems": error.errors, "page": request.path}
                return render_page(request, "web/refused.html", context, status=400)
            return view(request, *args, **kwargs)

        return guarded

    return wrap


def status_of(error: Invalid) -> int:
    return 404 if isinstance(error, UnknownSide) else 400


def refused_file(error: Invalid) -> HttpResponse:
    """In plain text, since programs read it."""
    return HttpResponse(str(error), status=status_of(error), content_type="text/plain; charset=utf-8")


def file_or_text(request: HttpRequest, *, largest: int) -> bytes:
    """Of a form with both: the uploaded file if there is one, else the text. One byte more than `largest` at most."""
    chosen = request.FILES.get("file")
    if isinstance(chosen, UploadedFile):
        return bytes(chosen.read(largest + 1))
    return request.POST.get("text", "").encode(errors="replace")
